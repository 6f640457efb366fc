#include <algorithm>
#include <limits>
#include <utility>

#include "base/figures.h"
#include "tools/recorder/internal/recorded_events.h"
#include "tools/recorder/recording.h"

namespace profline::recorder {
namespace {

using internal::PhaseCollector;
using internal::Window;
using internal::Windows;

struct Counts {
  std::uint64_t cut_off = 0;
  std::uint64_t ambiguous = 0;
  std::uint64_t stray_steps = 0;
};

void set_number(Request& request, const std::string& name, std::uint64_t value) {
  if (name == "prompt_tokens") {
    request.prompt_tokens = value;
  } else if (name == "new_tokens") {
    request.new_tokens = value;
  } else if (name == "batch") {
    request.batch = value;
  } else if (!name.empty()) {
    request.attributes[name] = Node::integer(static_cast<std::int64_t>(
        std::min<std::uint64_t>(value, std::numeric_limits<std::int64_t>::max())));
  }
}

void add_requests(const ProcessRanges& process, std::string_view request_range,
                  std::vector<Request>& requests, Counts& counts) {
  Windows windows(process, internal::request_windows(process, request_range, counts.cut_off));
  if (windows.all().empty()) return;
  PhaseCollector collector(process, windows);
  std::vector<std::vector<Phase>> phases = collector.phases();
  const std::size_t first = requests.size();
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const Window& window = windows.all()[i];
    Request request;
    request.source = RequestSource::Nvtx;
    request.start_ns = window.start_ns;
    request.ns = window.end_ns - window.start_ns;
    request.phases = std::move(phases[i]);
    request.attributes["pid"] = Node::integer(process.pid);
    request.attributes["thread"] = Node::integer(window.thread);
    requests.push_back(std::move(request));
  }
  for (const RecordedNumber& number : process.numbers) {
    const std::int32_t window = collector.window_of(number.range);
    if (window < 0) continue;
    set_number(requests[first + static_cast<std::size_t>(window)], process.names[number.name],
               number.value);
  }
  counts.ambiguous += windows.ambiguous();
  counts.stray_steps += collector.stray_steps();
}

std::vector<std::string> notes_of(const Counts& counts) {
  std::vector<std::string> notes;
  if (counts.cut_off > 0) {
    notes.push_back(counted(counts.cut_off, "request did", "requests did") +
                    " not end before the program did, and " + (counts.cut_off == 1 ? "is" : "are") +
                    " left out");
  }
  if (counts.ambiguous > 0) {
    notes.push_back(counted(counts.ambiguous, "range lies", "ranges lie") +
                    " inside more than one request, and " + (counts.ambiguous == 1 ? "is" : "are") +
                    " not a phase of any");
  }
  if (counts.stray_steps > 0) {
    notes.push_back(counted(counts.stray_steps, "step was", "steps were") +
                    " marked outside the phases of a request, and " +
                    (counts.stray_steps == 1 ? "is" : "are") + " left out");
  }
  return notes;
}

}  // namespace

RecordedRequests requests_of(std::span<const ProcessRanges> processes,
                             std::string_view request_range) {
  RecordedRequests recorded;
  Counts counts;
  for (const ProcessRanges& process : processes) {
    add_requests(process, request_range, recorded.requests, counts);
  }
  std::stable_sort(recorded.requests.begin(), recorded.requests.end(),
                   [](const Request& a, const Request& b) { return a.start_ns < b.start_ns; });
  for (std::size_t i = 0; i < recorded.requests.size(); ++i) recorded.requests[i].id = i;
  recorded.notes = notes_of(counts);
  return recorded;
}

std::vector<Phase> phases_inside(const ProcessRanges& process, std::uint32_t thread,
                                 std::int64_t start_ns, std::int64_t end_ns) {
  Windows windows(process, {{.start_ns = start_ns,
                             .end_ns = end_ns,
                             .range = -1,
                             .thread = thread,
                             .across_threads = false}});
  PhaseCollector collector(process, windows);
  return collector.phases().front();
}

}  // namespace profline::recorder
