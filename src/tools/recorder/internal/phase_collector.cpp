#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "tools/recorder/internal/recorded_events.h"

namespace profline::recorder::internal {
namespace {

std::uint64_t pair(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint64_t>(a) << 32 | b;
}

/// Ranges nested deeper than this are not phases of their own; their time is in the phases around
/// them.
constexpr std::uint32_t kDeepest = 32;
constexpr std::int32_t kNone = -1;
constexpr std::int32_t kTooDeep = -2;

/// A name as a part of a path.
std::string path_part(std::string name) {
  if (name.empty()) return "(unnamed)";
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

}  // namespace

Windows::Windows(const ProcessRanges& process, std::vector<Window> windows)
    : process_(process), windows_(std::move(windows)) {
  std::stable_sort(windows_.begin(), windows_.end(),
                   [](const Window& a, const Window& b) { return a.start_ns < b.start_ns; });
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (const Window& window : windows_) {
    last = std::max(last, window.end_ns);
    last_end_.push_back(last);
  }
}

bool Windows::may_hold(const Window& window, const RecordedRange& range, bool same_thread) const {
  if (window.end_ns < range.end_ns) return false;
  if (window.range < 0) return same_thread;
  // A request with push and pop contains the ranges of its thread by nesting, not by time.
  return window.across_threads || range.across_threads;
}

std::int32_t Windows::around(const RecordedRange& range) {
  const auto after = std::upper_bound(
      windows_.begin(), windows_.end(), range.start_ns,
      [](std::int64_t start, const Window& window) { return start < window.start_ns; });
  std::int32_t found[2] = {-1, -1};  // elsewhere, on the same thread
  std::uint32_t count[2] = {0, 0};
  for (auto i = static_cast<std::size_t>(after - windows_.begin()); i-- > 0;) {
    if (last_end_[i] < range.end_ns) break;
    const Window& window = windows_[i];
    const bool same_thread = window.thread == process_.threads[range.thread];
    if (!may_hold(window, range, same_thread)) continue;
    found[same_thread ? 1 : 0] = static_cast<std::int32_t>(i);
    ++count[same_thread ? 1 : 0];
  }
  const std::size_t which = count[1] > 0 ? 1 : 0;
  if (count[which] == 1) return found[which];
  if (count[which] > 1) ++ambiguous_;
  return -1;
}

std::vector<Window> request_windows(const ProcessRanges& process, std::string_view request_range,
                                    std::uint64_t& cut_off) {
  // Each name once: a process may have 10^7 ranges.
  std::vector<bool> is_request_name;
  for (const std::string& name : process.names) is_request_name.push_back(name == request_range);
  const bool has_domain = request_range.find(':') != std::string_view::npos;
  std::vector<bool> is_inside(process.ranges.size());
  std::vector<Window> windows;
  for (std::size_t i = 0; i < process.ranges.size(); ++i) {
    const RecordedRange& range = process.ranges[i];
    if (range.parent >= 0 && is_inside[static_cast<std::size_t>(range.parent)]) {
      is_inside[i] = true;
      continue;
    }
    if (!range.request && !is_request_name[range.name] &&
        !(has_domain && range.domain != 0 && process.label(range) == request_range)) {
      continue;
    }
    if (!range.complete) {
      ++cut_off;
      continue;
    }
    is_inside[i] = true;
    windows.push_back({.start_ns = range.start_ns,
                       .end_ns = range.end_ns,
                       .range = static_cast<std::int32_t>(i),
                       .thread = process.threads[range.thread],
                       .across_threads = range.across_threads});
  }
  return windows;
}

PhaseCollector::PhaseCollector(const ProcessRanges& process, Windows& windows)
    : process_(process),
      windows_(windows),
      owners_(process.ranges.size(), kNone),
      node_of_(process.ranges.size(), kRoot),
      nodes_(1),
      totals_(windows.all().size()) {
  assign_all();
  for (const RecordedStep& step : process_.steps) {
    if (owners_[step.range] >= 0) nodes_[node_of_[step.range]].has_marked_steps = true;
  }
  find_step_children();
}

std::uint32_t PhaseCollector::child(std::uint32_t parent, std::uint32_t name) {
  const auto [place, is_new] =
      children_.emplace(pair(parent, name), static_cast<std::uint32_t>(nodes_.size()));
  if (is_new) {
    nodes_.emplace_back();
    nodes_.back().parent = parent;
    nodes_.back().name = name;
    nodes_.back().depth = nodes_[parent].depth + 1;
    nodes_[parent].has_children = true;
  }
  return place->second;
}

void PhaseCollector::assign_all() {
  const std::vector<Window>& windows = windows_.all();
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (windows[i].range >= 0) {
      owners_[static_cast<std::size_t>(windows[i].range)] = static_cast<std::int32_t>(i);
    }
  }
  for (std::size_t i = 0; i < process_.ranges.size(); ++i) {
    if (owners_[i] < 0 && process_.ranges[i].complete) assign(i);
  }
}

void PhaseCollector::assign(std::size_t index) {
  const RecordedRange& range = process_.ranges[index];
  const std::int32_t outer =
      range.parent >= 0 ? owners_[static_cast<std::size_t>(range.parent)] : kNone;
  const bool is_inside = outer >= 0;
  const std::uint32_t around = is_inside ? node_of_[static_cast<std::size_t>(range.parent)] : kRoot;
  std::int32_t& owner = owners_[index];
  if (outer == kTooDeep || nodes_[around].depth == kDeepest) {
    owner = kTooDeep;
    return;
  }
  owner = is_inside ? outer : windows_.around(range);
  if (owner < 0) return;
  // Ranges in the domain of a library, such as CUB, are not phases of the program.
  const std::int32_t request = windows_.all()[static_cast<std::size_t>(owner)].range;
  const std::uint32_t own =
      request < 0 ? 0 : process_.ranges[static_cast<std::size_t>(request)].domain;
  if (range.domain != 0 && range.domain != own) {
    owner = kNone;
    return;
  }
  node_of_[index] = child(around, range.name);
  Node& node = nodes_[node_of_[index]];
  // A range without a range around it repeats within its window.
  const std::int32_t repeats_in = is_inside ? range.parent : -2 - owner;
  node.repeats |= node.last_parent == repeats_in;
  node.last_parent = repeats_in;
}

void PhaseCollector::find_step_children() {
  for (std::uint32_t i = 1; i < nodes_.size(); ++i) {
    if (!nodes_[i].repeats || nodes_[i].parent == kRoot) continue;
    Node& parent = nodes_[nodes_[i].parent];
    ++parent.repeating_children;
    parent.step_child = parent.repeating_children == 1 ? i : kRoot;
  }
}

bool PhaseCollector::is_step(std::uint32_t node) const {
  const Node& parent = nodes_[nodes_[node].parent];
  return node != kRoot && parent.step_child == node && !parent.has_marked_steps;
}

bool PhaseCollector::repeats_in_request(std::uint32_t node) const {
  return nodes_[node].parent == kRoot && nodes_[node].repeats && !nodes_[node].has_marked_steps &&
         nodes_[node].step_child == kRoot;
}

PhaseCollector::Total& PhaseCollector::total(std::int32_t window, std::uint32_t node,
                                             std::int64_t start_ns) {
  std::vector<Total>& totals = totals_[static_cast<std::size_t>(window)];
  const auto [place, is_new] = places_.emplace(pair(static_cast<std::uint32_t>(window), node),
                                               static_cast<std::uint32_t>(totals.size()));
  if (is_new) totals.push_back({.node = node, .start_ns = start_ns, .ns = 0, .steps_ns = {}});
  return totals[place->second];
}

void PhaseCollector::add_instances() {
  for (std::size_t i = 0; i < process_.ranges.size(); ++i) {
    const std::uint32_t node = node_of_[i];
    if (owners_[i] < 0 || node == kRoot) continue;
    const RecordedRange& range = process_.ranges[i];
    Total& all = total(owners_[i], node, range.start_ns);
    all.start_ns = std::min(all.start_ns, range.start_ns);
    all.ns += range.ns();
    if (repeats_in_request(node)) all.steps_ns.push_back(range.ns());
    if (!is_step(node)) continue;
    const RecordedRange& around = process_.ranges[static_cast<std::size_t>(range.parent)];
    total(owners_[i], nodes_[node].parent, around.start_ns).steps_ns.push_back(range.ns());
  }
}

void PhaseCollector::add_marked_steps() {
  // By range: the body of a step may contain ranges with steps of their own.
  std::unordered_map<std::uint32_t, std::int64_t> last_ends;
  for (const RecordedStep& step : process_.steps) {
    if (owners_[step.range] < 0 || node_of_[step.range] == kRoot) {
      ++stray_steps_;
      continue;
    }
    const RecordedRange& range = process_.ranges[step.range];
    std::int64_t& last_ns = last_ends.try_emplace(step.range, range.start_ns).first->second;
    total(owners_[step.range], node_of_[step.range], range.start_ns)
        .steps_ns.push_back(std::max<std::int64_t>(0, step.end_ns - last_ns));
    last_ns = step.end_ns;
  }
}

std::string PhaseCollector::path_of(std::uint32_t node) const {
  const std::string part = path_part(process_.names[nodes_[node].name]);
  return nodes_[node].parent == kRoot ? part : path_of(nodes_[node].parent) + "/" + part;
}

Phase PhaseCollector::phase_of(const Total& total, const Window& window) const {
  const Node& node = nodes_[total.node];
  Phase phase;
  phase.path = path_of(total.node);
  phase.start_ns = total.start_ns - window.start_ns;
  phase.ns = total.ns;
  if (node.has_marked_steps || node.step_child != kRoot || repeats_in_request(total.node)) {
    phase.steps_ns = total.steps_ns;
  }
  return phase;
}

std::vector<std::vector<Phase>> PhaseCollector::phases() {
  add_instances();
  add_marked_steps();
  std::vector<std::vector<Phase>> all(totals_.size());
  for (std::size_t i = 0; i < totals_.size(); ++i) {
    // Nodes are numbered from the outside in, so a parent comes first even if its part began at
    // the same time.
    std::sort(totals_[i].begin(), totals_[i].end(), [](const Total& a, const Total& b) {
      return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.node < b.node;
    });
    for (const Total& total : totals_[i]) {
      if (is_step(total.node) && !nodes_[total.node].has_children) continue;
      all[i].push_back(phase_of(total, windows_.all()[i]));
    }
  }
  return all;
}

}  // namespace profline::recorder::internal
