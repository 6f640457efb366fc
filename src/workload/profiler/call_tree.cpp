#include "workload/profiler/call_tree.h"

#include <algorithm>
#include <unordered_map>

namespace profline::workload {

std::string shapes_text(const std::vector<std::vector<std::int64_t>>& shapes) {
  std::string text = "[";
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    text += i == 0 ? "[" : ", [";
    for (std::size_t j = 0; j < shapes[i].size(); ++j) {
      if (j > 0) text += ", ";
      text += std::to_string(shapes[i][j]);
    }
    text += ']';
  }
  return text + ']';
}

namespace {

using OperatorById = std::unordered_map<std::uint64_t, std::size_t>;

OperatorById operators_by_id(const std::vector<TraceEvent>& events) {
  OperatorById by_id;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const TraceEvent& event = events[i];
    if (event.id != 0 && event.kind != TraceEvent::Kind::Runtime && event.is_on_host()) {
      by_id.emplace(event.id, i);
    }
  }
  return by_id;
}

/// The calls in the order in which they began, enclosing ones first.
std::vector<Call> sorted_calls(const std::vector<TraceEvent>& events, const OperatorById& by_id) {
  std::vector<Call> calls;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const TraceEvent& event = events[i];
    if (!event.is_on_host()) continue;
    Call call{.event = i,
              .thread = event.thread,
              .begin_ns = event.start_ns,
              .end_ns = event.start_ns + event.duration_ns};
    // CUPTI numbers threads in its own way: a runtime call runs where its operator does.
    const auto caller = by_id.find(event.caller);
    if (event.kind == TraceEvent::Kind::Runtime && caller != by_id.end()) {
      call.thread = events[caller->second].thread;
    }
    calls.push_back(call);
  }
  std::stable_sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) {
    if (a.thread != b.thread) return a.thread < b.thread;
    if (a.begin_ns != b.begin_ns) return a.begin_ns < b.begin_ns;
    return a.end_ns > b.end_ns;
  });
  return calls;
}

void add_device_times(const std::vector<TraceEvent>& events, CallTree& tree) {
  std::unordered_map<std::uint64_t, std::size_t> call_of;
  for (std::size_t i = 0; i < tree.calls.size(); ++i) {
    const TraceEvent& event = events[tree.calls[i].event];
    if (event.id != 0 && event.kind != TraceEvent::Kind::Runtime) call_of.emplace(event.id, i);
  }
  for (const TraceEvent& event : events) {
    if (!event.is_on_device()) continue;
    const auto call = call_of.find(event.caller);
    if (call != call_of.end()) tree.calls[call->second].self_device_ns += event.duration_ns;
  }
  // Children come after their parents, so going backwards each total is complete when it is added.
  for (std::size_t i = tree.calls.size(); i-- > 0;) {
    Call& call = tree.calls[i];
    call.total_device_ns += call.self_device_ns;
    if (call.parent) tree.calls[*call.parent].total_device_ns += call.total_device_ns;
  }
}

}  // namespace

CallTree build_call_tree(const Recording& recording) {
  CallTree tree{sorted_calls(recording.events, operators_by_id(recording.events))};
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < tree.calls.size(); ++i) {
    Call& call = tree.calls[i];
    while (!open.empty() && (tree.calls[open.back()].thread != call.thread ||
                             tree.calls[open.back()].end_ns <= call.begin_ns)) {
      open.pop_back();
    }
    if (!open.empty()) {
      Call& parent = tree.calls[open.back()];
      call.parent = open.back();
      call.end_ns = std::min(call.end_ns, parent.end_ns);
      parent.self_ns -= call.end_ns - call.begin_ns;
    }
    call.self_ns += call.end_ns - call.begin_ns;
    open.push_back(i);
  }
  add_device_times(recording.events, tree);
  return tree;
}

std::optional<std::size_t> CallTree::innermost(std::uint64_t thread, std::int64_t at_ns) const {
  // The last call of the thread that began before; then outwards until one is still open.
  const auto after = std::upper_bound(calls.begin(), calls.end(), std::pair(thread, at_ns),
                                      [](const auto& point, const Call& call) {
                                        return point < std::pair(call.thread, call.begin_ns);
                                      });
  if (after == calls.begin() || std::prev(after)->thread != thread) return std::nullopt;
  std::optional<std::size_t> found = static_cast<std::size_t>(after - calls.begin()) - 1;
  while (found && calls[*found].end_ns < at_ns) found = calls[*found].parent;
  return found;
}

}  // namespace profline::workload
