#include "workloads/program/recording.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "analysis/requests/steady.h"
#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "records/range_use.h"
#include "run/names/artifact_names.h"
#include "tools/recorder/recording.h"

namespace profline::program {
namespace {

/// The Python adapter's mark for a garbage collection.
constexpr std::string_view kGarbageMark = "gc";

namespace fs = std::filesystem;

constexpr std::string_view kPythonPrefix = "python-";
constexpr std::string_view kPythonSuffix = ".jsonl";
constexpr std::size_t kReportedLines = 3;

/// The files of Python processes, by name.
std::vector<fs::path> python_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failure;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with(kPythonPrefix) && name.ends_with(kPythonSuffix)) {
      files.push_back(at->path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

template <typename T>
void append(std::vector<T>&& from, std::vector<T>& to) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

/// Reports the lines of a file that were skipped, the first ones in full.
void report_skipped(const std::vector<std::string>& skipped, const std::string& file,
                    std::vector<std::string>& problems) {
  for (std::size_t i = 0; i < std::min(skipped.size(), kReportedLines); ++i) {
    problems.push_back("a line was skipped: " + skipped[i]);
  }
  if (skipped.size() > kReportedLines) {
    problems.push_back(counted(skipped.size() - kReportedLines, "more line") + " of " + file +
                       " could not be read");
  }
}

/// The names of the ranges that the Python adapter itself opens for a request.
std::set<std::string_view> own_names(const std::vector<Phase>& phases,
                                     const std::string& request_range) {
  std::set<std::string_view> names = {request_range, kTokenRange};
  for (const Phase& phase : phases) names.insert(last_name(phase.path));
  return names;
}

/// The innermost phase around a moment of the request; empty: it is in no phase.
std::string phase_around(const std::vector<Phase>& phases, std::int64_t start_ns) {
  const Phase* found = nullptr;
  for (const Phase& phase : phases) {
    if (!phase.start_ns || start_ns < *phase.start_ns) continue;
    if (start_ns >= *phase.start_ns + phase.ns) continue;
    if (found == nullptr || phase.ns <= found->ns) found = &phase;
  }
  return found == nullptr ? std::string() : found->path;
}

/// Where a range belongs in a request that has phases of its own: below the phase that it is in.
/// Empty: the request has it already.
std::string place_of(const Phase& range, const std::vector<Phase>& phases,
                     const std::set<std::string_view>& own) {
  std::vector<std::string> names;
  for (const std::string_view name : split(range.path, '/')) {
    if (!own.contains(name)) names.emplace_back(name);
  }
  const bool is_own = own.contains(last_name(range.path));
  if (is_own || names.empty()) return {};
  const std::string around = phase_around(phases, range.start_ns.value_or(0));
  return (around.empty() ? "" : around + "/") + join(names, "/");
}

/// Adds a phase after those of its parent.
void add_phase(Phase phase, std::vector<Phase>& phases) {
  const auto same = std::find_if(phases.begin(), phases.end(),
                                 [&](const Phase& other) { return other.path == phase.path; });
  if (same != phases.end()) {
    same->ns += phase.ns;
    return;
  }
  const std::size_t slash = phase.path.rfind('/');
  const std::string parent = slash == std::string::npos ? "" : phase.path.substr(0, slash);
  const auto last = std::find_if(phases.rbegin(), phases.rend(), [&](const Phase& other) {
    return parent.empty() || other.path == parent || other.path.starts_with(parent + "/");
  });
  phases.insert(last.base(), std::move(phase));
}

/// Adds the ranges inside a request that the adapter recorded, except those that it opened itself.
void add_ranges(const recorder::RecordedFolder& recorded, const std::string& request_range,
                PlacedRequest& placed) {
  Request& request = placed.request;
  if (!request.start_ns) return;
  const std::vector<Phase> known = request.phases;
  const std::set<std::string_view> own = own_names(known, request_range);
  for (const recorder::ProcessRanges& process : recorded.processes) {
    if (process.pid != placed.pid) continue;
    const auto thread = static_cast<std::uint32_t>(placed.thread);
    const std::int64_t end_ns = *request.start_ns + request.ns;
    for (Phase& range : phases_inside(process, thread, *request.start_ns, end_ns)) {
      range.path = place_of(range, known, own);
      if (range.path.empty()) continue;
      range.steps_ns.reset();  // its instances are not tokens
      add_phase(std::move(range), request.phases);
    }
  }
}

/// The requests in order, numbered, with the attributes that tell them apart.
std::vector<Request> numbered(std::vector<PlacedRequest> placed) {
  std::stable_sort(placed.begin(), placed.end(),
                   [](const PlacedRequest& a, const PlacedRequest& b) {
                     return a.request.start_ns.value_or(0) < b.request.start_ns.value_or(0);
                   });
  std::set<std::int64_t> processes;
  for (const PlacedRequest& one : placed) processes.insert(one.pid);
  std::vector<Request> requests;
  for (PlacedRequest& one : placed) {
    one.request.id = requests.size();
    std::map<std::string, Node>& attributes = one.request.attributes;
    if (processes.size() > 1) attributes.emplace("pid", Node::integer(one.pid));
    if (one.model) {
      attributes.emplace("model", Node::integer(static_cast<std::int64_t>(*one.model)));
    }
    requests.push_back(std::move(one.request));
  }
  return requests;
}

/// Adds up the ranges that Python opened outside requests, and sorts all by time.
void add_loose_ranges(const std::vector<LooseRange>& loose, std::vector<NamedRanges>& ranges) {
  if (loose.empty()) return;
  std::map<std::string, NamedRanges> by_name;
  for (const LooseRange& range : loose) {
    NamedRanges& named = by_name[range.path];
    named.name = range.path;
    named.total_ns += range.ns;
    named.min_ns = named.instances == 0 ? range.ns : std::min(named.min_ns, range.ns);
    named.max_ns = std::max(named.max_ns, range.ns);
    ++named.instances;
  }
  for (auto& [name, named] : by_name) ranges.push_back(std::move(named));
  std::stable_sort(ranges.begin(), ranges.end(), [](const NamedRanges& a, const NamedRanges& b) {
    return a.total_ns > b.total_ns;
  });
}

/// Lists the one-time events that happened in a request's process during it as an attribute of it.
/// Garbage collections recur, so they are left out.
void add_marks(const std::vector<Mark>& marks, PlacedRequest& placed) {
  Request& request = placed.request;
  Node names = Node::list();
  const std::int64_t start = request.start_ns.value_or(0);
  for (const Mark& mark : marks) {
    const bool is_inside = mark.at_ns >= start && mark.at_ns < start + request.ns;
    if (is_inside && mark.pid == placed.pid && mark.name != kGarbageMark) {
      names.as_list().push_back(Node::string(mark.name));
    }
  }
  if (!names.as_list().empty()) request.attributes[kOneTimeAttribute] = std::move(names);
}

/// The requests among which the steady ones are counted. The adapter counts those of its own
/// process, so these are the requests of the process that made most of them; of several, the one
/// that made the first.
std::vector<Request> counted_together(const std::vector<Request>& requests) {
  std::vector<std::pair<std::int64_t, std::vector<Request>>> processes;
  for (const Request& request : requests) {
    const auto pid = request.integer("pid");
    if (request.source != RequestSource::Python || !pid) return requests;
    auto process = std::find_if(processes.begin(), processes.end(),
                                [&](const auto& other) { return other.first == *pid; });
    if (process == processes.end()) process = processes.insert(process, {*pid, {}});
    process->second.push_back(request);
  }
  const auto most = std::max_element(
      processes.begin(), processes.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  return most == processes.end() ? requests : most->second;
}

}  // namespace

Result<Recording> read_recording(const fs::path& folder, const RecordingOptions& options) {
  Recording recording;
  std::vector<PlacedRequest> requests;
  std::vector<LooseRange> loose;
  for (const fs::path& file : python_files(folder)) {
    const std::string name = file.filename().string();
    const auto text = read_file(file);
    if (!text) {
      recording.problems.push_back(text.error().to_string());
      continue;
    }
    PythonRecord record = parse_python_record(*text, name);
    ++recording.python_processes;
    append(std::move(record.requests), requests);
    append(std::move(record.models), recording.models);
    append(std::move(record.marks), recording.marks);
    for (Gate& gate : record.gates) gate.pid = record.pid;
    append(std::move(record.gates), recording.gates);
    append(std::move(record.ranges), loose);
    append(std::move(record.problems), recording.problems);
    report_skipped(record.skipped, name, recording.problems);
  }
  std::error_code failure;
  if (!fs::is_directory(folder, failure)) return recording;
  recording.adapter_started =
      recording.python_processes > 0 || fs::exists(folder / run::files::kPythonStarted, failure);
  recorder::RecordedFolder recorded = PL_TRY(recorder::read_recordings(folder));
  append(std::move(recorded.problems), recording.problems);
  recording.range_processes = recorded.processes.size();
  for (const recorder::ProcessRanges& process : recorded.processes) {
    recording.lost += process.reading.lost;
  }
  recording.ranges = recorder::ranges_by_name(recorded.processes);
  add_loose_ranges(loose, recording.ranges);
  if (requests.empty()) {
    recorder::RecordedRequests named =
        recorder::requests_of(recorded.processes, options.request_range);
    append(std::move(named.notes), recording.problems);
    recording.requests = std::move(named.requests);
    return recording;
  }
  for (PlacedRequest& placed : requests) {
    add_ranges(recorded, options.request_range, placed);
    add_marks(recording.marks, placed);
  }
  recording.requests = numbered(std::move(requests));
  return recording;
}

SteadyWindow steady_window(const Recording& recording) {
  // Captures grow with every request, and so does the time that a profiler takes to write them.
  constexpr std::size_t kEnoughToCapture = 3;
  constexpr std::int64_t kLongEnoughNs = 1'000'000'000;
  const std::vector<Request> counted = counted_together(recording.requests);
  const requests::SteadyWindow found = requests::steady_window(counted);
  SteadyWindow window;
  window.first = found.first;
  std::int64_t captured_ns = 0;
  while (window.count < std::min(found.count, kEnoughToCapture) && captured_ns < kLongEnoughNs) {
    captured_ns += counted[found.first + window.count].ns;
    ++window.count;
  }
  window.requests = recording.requests.size();
  if (found.total < window.requests) window.in_process = found.total;
  window.reason = found.reason;
  return window;
}

}  // namespace profline::program
