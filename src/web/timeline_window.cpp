#include "web/internal/timeline_window.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "analysis/kernels/canonical_name.h"
#include "base/figures.h"

namespace profline::web {
namespace {

struct Span {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::string what;

  std::int64_t duration_ns() const { return end_ns - begin_ns; }
};

template <typename Row>
bool overlaps(const Row& row, const Span& span) {
  return row.start_ns < span.end_ns && row.end_ns > span.begin_ns;
}

/// Rows are sorted by start, and only the last ones before `end_ns` can matter.
template <typename Rows, typename Visit>
void each_in(const Rows& rows, const Span& span, const Visit& visit) {
  const auto end = std::partition_point(
      rows.begin(), rows.end(), [&](const auto& row) { return row.start_ns < span.end_ns; });
  for (auto row = rows.begin(); row != end; ++row) {
    if (overlaps(*row, span)) visit(*row);
  }
}

std::size_t events_in(const Timeline& timeline, const Span& span) {
  std::size_t count = 0;
  const auto add = [&](const auto&) { ++count; };
  each_in(timeline.ranges, span, add);
  each_in(timeline.operators, span, add);
  each_in(timeline.calls, span, add);
  each_in(timeline.work, span, add);
  return count;
}

std::vector<const Range*> ranges_named(const Timeline& timeline, std::string_view name) {
  std::vector<const Range*> found;
  const auto id = timeline.names.find(name);
  for (const Range& range : timeline.ranges) {
    if (id && range.name == *id) found.push_back(&range);
  }
  return found;
}

std::optional<Span> whole_steps(const Timeline& timeline, const ShownPhase& phase,
                                std::size_t wanted) {
  const auto steps = ranges_named(timeline, phase.name + "_step");
  if (steps.empty()) return std::nullopt;
  const std::size_t count = std::min(wanted, steps.size());
  const std::size_t first = (steps.size() - count) / 2;
  const std::string which = count == 1 ? fmt::format("step {}", first + 1)
                                       : fmt::format("steps {} to {}", first + 1, first + count);
  return Span{steps[first]->start_ns, steps[first + count - 1]->end_ns,
              fmt::format("{} {} of {}", phase.name, which, steps.size())};
}

Span middle(std::int64_t begin_ns, std::int64_t end_ns, std::int64_t length_ns, std::string what) {
  const std::int64_t length =
      std::clamp<std::int64_t>(length_ns, 1, std::max<std::int64_t>(end_ns - begin_ns, 1));
  const std::int64_t from = begin_ns + (end_ns - begin_ns - length) / 2;
  return {from, from + length, std::move(what)};
}

std::optional<Span> part_of_phase(const Timeline& timeline, const ShownPhase& phase,
                                  std::size_t wanted) {
  const auto instances = ranges_named(timeline, phase.name);
  if (instances.empty()) return std::nullopt;
  const Range& first = *instances.front();
  if (phase.steps <= wanted) return Span{first.start_ns, first.end_ns, "all of " + phase.name};
  const auto length =
      static_cast<std::int64_t>(static_cast<double>(first.duration_ns()) *
                                static_cast<double>(wanted) / static_cast<double>(phase.steps));
  return middle(first.start_ns, first.end_ns, length,
                fmt::format("the time of {} of {}, from the middle of {}", wanted,
                            counted(phase.steps, "step"), phase.name));
}

Span part_of_longest(const Timeline& timeline) {
  const auto longest = std::max_element(
      timeline.ranges.begin(), timeline.ranges.end(),
      [](const Range& a, const Range& b) { return a.duration_ns() < b.duration_ns(); });
  if (longest == timeline.ranges.end()) return {timeline.begin_ns, timeline.end_ns, "the capture"};
  return {longest->start_ns, longest->end_ns,
          "range " + std::string(timeline.names.text(longest->name))};
}

/// Halves the window around its middle until it has few enough events.
Span fitting(const Timeline& timeline, Span span, std::size_t most) {
  const std::string whole = span.what;
  const std::int64_t begin_ns = span.begin_ns;
  const std::int64_t length = std::max<std::int64_t>(span.duration_ns(), 1);
  while (span.duration_ns() > 1 && events_in(timeline, span) > most) {
    span = middle(span.begin_ns, span.end_ns, span.duration_ns() / 2, "");
  }
  const auto share = static_cast<double>(span.duration_ns()) / static_cast<double>(length);
  span.what = whole;
  if (share < 0.99) {
    span.what += fmt::format(" ({} of that time, {} into it)", percent(share),
                             percent_of(span.begin_ns - begin_ns, length));
  }
  return span;
}

EventKind kind_of(CallKind kind) {
  switch (kind) {
    case CallKind::Launch:
    case CallKind::GraphLaunch:
      return EventKind::Launch;
    case CallKind::Synchronize:
      return EventKind::Synchronize;
    default:
      return EventKind::OtherCall;
  }
}

EventKind kind_of(WorkKind kind) {
  switch (kind) {
    case WorkKind::Kernel:
      return EventKind::Kernel;
    case WorkKind::Copy:
      return EventKind::Copy;
    default:
      return EventKind::OtherWork;
  }
}

class Builder {
 public:
  Builder(const Timeline& timeline, const Span& span, const WindowLimits& limits)
      : timeline_(timeline), span_(span), limits_(limits) {}

  Window build();

 private:
  void choose_threads();
  void add_host();
  void add_device();
  template <typename Rows>
  void add_nested(const Rows& rows, RowIndex thread, const char* what, EventKind kind);
  void add_calls(RowIndex thread);
  std::uint32_t add_lane(std::string name, bool is_device);
  std::uint32_t name_of(Names::Id name, bool is_kernel);
  template <typename Row>
  WindowEvent event(const Row& row, std::uint32_t lane, EventKind kind);
  std::string thread_name(RowIndex thread) const;

  const Timeline& timeline_;
  const Span& span_;
  const WindowLimits& limits_;
  Window window_;
  std::vector<RowIndex> threads_;
  std::unordered_map<Names::Id, std::uint32_t> names_;
};

std::string Builder::thread_name(RowIndex thread) const {
  const std::string name(timeline_.names.text(timeline_.threads[thread].name));
  if (threads_.size() == 1) return "host";
  return name.empty() ? fmt::format("thread {}", timeline_.threads[thread].thread) : name;
}

std::uint32_t Builder::add_lane(std::string name, bool is_device) {
  window_.lanes.push_back({std::move(name), is_device});
  return static_cast<std::uint32_t>(window_.lanes.size() - 1);
}

std::uint32_t Builder::name_of(Names::Id name, bool is_kernel) {
  const auto [found, is_new] = names_.try_emplace(name, window_.names.size());
  if (is_new) {
    const std::string printed(timeline_.names.text(name));
    window_.names.push_back(is_kernel ? kernels::canonical_name(printed).short_name : printed);
  }
  return found->second;
}

template <typename Row>
WindowEvent Builder::event(const Row& row, std::uint32_t lane, EventKind kind) {
  WindowEvent made;
  made.lane = lane;
  made.start_ns = row.start_ns - span_.begin_ns;
  made.duration_ns = row.end_ns - row.start_ns;
  made.name = name_of(row.name, kind == EventKind::Kernel);
  made.kind = kind;
  return made;
}

/// The threads with the most events in the window.
void Builder::choose_threads() {
  std::map<RowIndex, std::size_t> counts;
  const auto count = [&](const auto& row) {
    if (row.thread != kNoRow) ++counts[row.thread];
  };
  each_in(timeline_.ranges, span_, count);
  each_in(timeline_.operators, span_, count);
  each_in(timeline_.calls, span_, count);
  std::vector<std::pair<RowIndex, std::size_t>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i < limits_.threads) {
      threads_.push_back(order[i].first);
    } else {
      window_.left_out += order[i].second;
    }
  }
}

template <typename Rows>
void Builder::add_nested(const Rows& rows, RowIndex thread, const char* what, EventKind kind) {
  std::vector<std::int64_t> open;  // ends of the enclosing events, outermost first
  std::vector<std::uint32_t> lanes;
  each_in(rows, span_, [&](const auto& row) {
    if (row.thread != thread) return;
    while (!open.empty() && open.back() <= row.start_ns) open.pop_back();
    const std::size_t depth = open.size();
    open.push_back(row.end_ns);
    if (depth >= limits_.depth) {
      ++window_.left_out;
      return;
    }
    if (depth == lanes.size()) {
      const std::string inside = depth == 0 ? "" : fmt::format(" +{}", depth);
      lanes.push_back(add_lane(thread_name(thread) + ": " + what + inside, false));
    }
    window_.events.push_back(event(row, lanes[depth], kind));
  });
}

void Builder::add_calls(RowIndex thread) {
  std::optional<std::uint32_t> lane;
  each_in(timeline_.calls, span_, [&](const HostCall& call) {
    if (call.thread != thread) return;
    if (!lane) lane = add_lane(thread_name(thread) + ": CUDA calls", false);
    window_.events.push_back(event(call, *lane, kind_of(call.kind)));
  });
}

void Builder::add_host() {
  choose_threads();
  for (const RowIndex thread : threads_) {
    add_nested(timeline_.ranges, thread, "ranges", EventKind::Range);
    add_nested(timeline_.operators, thread, "operators", EventKind::Operator);
    add_calls(thread);
  }
}

void Builder::add_device() {
  // By device, then stream, in numerical order.
  std::map<std::tuple<std::int32_t, std::int64_t, RowIndex>, std::vector<const DeviceWork*>>
      streams;
  each_in(timeline_.work, span_, [&](const DeviceWork& work) {
    if (work.stream == kNoRow) {
      ++window_.left_out;
      return;
    }
    const Stream& stream = timeline_.streams[work.stream];
    streams[{stream.device, stream.stream, work.stream}].push_back(&work);
  });
  for (const auto& [key, all] : streams) {
    const std::uint32_t lane =
        add_lane(fmt::format("GPU {}, stream {}", std::get<0>(key), std::get<1>(key)), true);
    for (const DeviceWork* work : all) {
      WindowEvent made = event(*work, lane, kind_of(work->kind));
      if (work->launch != kNoRow) {
        made.since_launch_ns =
            std::max<std::int64_t>(work->start_ns - timeline_.calls[work->launch].start_ns, 0);
      }
      window_.events.push_back(made);
    }
  }
}

Window Builder::build() {
  window_.begin_ns = span_.begin_ns;
  window_.end_ns = span_.end_ns;
  window_.what = span_.what;
  window_.all_events = timeline_.ranges.size() + timeline_.operators.size() +
                       timeline_.calls.size() + timeline_.work.size();
  add_host();
  add_device();
  return std::move(window_);
}

}  // namespace

std::optional<Window> window_of(const Timeline& timeline, const ShownPhase& phase,
                                const WindowLimits& limits) {
  std::optional<Span> span = whole_steps(timeline, phase, limits.steps);
  if (!span) span = part_of_phase(timeline, phase, limits.steps);
  if (!span) span = part_of_longest(timeline);
  const Span fits = fitting(timeline, *span, limits.events);
  Window window = Builder(timeline, fits, limits).build();
  if (window.events.empty()) return std::nullopt;
  return window;
}

LaneAccount account_of(const Window& window, std::size_t lane) {
  std::vector<const WindowEvent*> events;
  for (const WindowEvent& event : window.events) {
    if (event.lane == lane) events.push_back(&event);
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const auto* a, const auto* b) { return a->start_ns < b->start_ns; });
  const std::int64_t length = window.end_ns - window.begin_ns;
  LaneAccount account;
  account.events = events.size();
  std::int64_t covered = 0;
  for (const WindowEvent* event : events) {
    if (account.longest == nullptr || event->duration_ns > account.longest->duration_ns) {
      account.longest = event;
    }
    const std::int64_t start = std::clamp<std::int64_t>(event->start_ns, covered, length);
    const std::int64_t end =
        std::clamp<std::int64_t>(event->start_ns + event->duration_ns, start, length);
    account.longest_gap_ns = std::max(account.longest_gap_ns, start - covered);
    account.busy_ns += end - start;
    covered = std::max(covered, end);
  }
  account.longest_gap_ns = std::max(account.longest_gap_ns, length - covered);
  return account;
}

}  // namespace profline::web
