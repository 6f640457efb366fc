#include <unistd.h>

#include <map>
#include <set>

#include <fmt/core.h>

#include "base/atomic_file.h"
#include "formats/json.h"
#include "workload/profiler/call_tree.h"

namespace profline::workload {
namespace {

std::string json_text(std::string_view text) {
  return write_json(Node::string(std::string(text)), {.indent = 0}).value();
}

/// The file being written: one event per line.
class Trace {
 public:
  Trace(AtomicFile& file, std::int64_t begin_ns) : file_(file), begin_ns_(begin_ns) {}

  Result<void> event(const std::string& json) {
    PL_TRY(file_.append(first_ ? "\n" : ",\n"));
    first_ = false;
    return file_.append(json);
  }
  /// Microseconds since the start, to the nanosecond: no digits are lost, however long the computer
  /// has been on.
  std::string at(std::int64_t ns) const { return span(ns - begin_ns_); }
  static std::string span(std::int64_t ns) {
    const std::int64_t size = ns < 0 ? -ns : ns;
    return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000);
  }

 private:
  AtomicFile& file_;
  std::int64_t begin_ns_;
  bool first_ = true;
};

/// Process ids in Chrome's format: ours for the host, one more for each GPU.
int process_of(int device) {
  constexpr int kFirstGpu = 1'000'000'000;
  return device == TraceEvent::kHost ? getpid() : kFirstGpu + device;
}

Result<void> name_tracks(Trace& trace, const Recording& recording, const CallTree& tree) {
  std::map<int, std::set<std::uint64_t>> tracks;
  for (const Call& call : tree.calls) tracks[TraceEvent::kHost].insert(call.thread);
  for (const TraceEvent& event : recording.events) {
    if (event.is_on_device()) tracks[event.device].insert(event.thread);
  }
  for (const auto& [device, threads] : tracks) {
    const bool is_host = device == TraceEvent::kHost;
    const int pid = process_of(device);
    PL_TRY(trace.event(fmt::format(
        R"({{"ph":"M","name":"process_name","pid":{},"tid":0,"args":{{"name":{}}}}})", pid,
        json_text(is_host ? "profline-workload" : fmt::format("GPU {}", device)))));
    for (const std::uint64_t thread : threads) {
      PL_TRY(trace.event(fmt::format(
          R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", pid,
          thread, json_text(fmt::format("{} {}", is_host ? "thread" : "stream", thread)))));
    }
  }
  return {};
}

std::string_view category(TraceEvent::Kind kind) {
  switch (kind) {
    case TraceEvent::Kind::Operator:
      return "cpu_op";
    case TraceEvent::Kind::Range:
      return "user_annotation";
    case TraceEvent::Kind::Runtime:
      return "cuda_runtime";
    case TraceEvent::Kind::Kernel:
      return "kernel";
    case TraceEvent::Kind::Copy:
      return "gpu_memcpy";
    case TraceEvent::Kind::Memory:
      return "memory";
  }
  return "other";
}

std::string arguments(const TraceEvent& event) {
  std::string text;
  if (event.id != 0) text += fmt::format(R"("External id":{})", event.id);
  if (event.has_shapes) {
    text += fmt::format(R"({}"Input Dims":{})", text.empty() ? "" : ",",
                        json_text(shapes_text(event.shapes)));
  }
  return text;
}

Result<void> write_calls(Trace& trace, const Recording& recording, const CallTree& tree) {
  for (const Call& call : tree.calls) {
    const TraceEvent& event = recording.events[call.event];
    PL_TRY(trace.event(fmt::format(
        R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
        category(event.kind), json_text(event.name), process_of(TraceEvent::kHost), call.thread,
        trace.at(call.begin_ns), Trace::span(call.end_ns - call.begin_ns), arguments(event))));
  }
  return {};
}

/// Kernels, with an arrow to each from the operator that launched it.
Result<void> write_kernels(Trace& trace, const Recording& recording, const CallTree& tree) {
  std::map<std::uint64_t, const Call*> callers;
  for (const Call& call : tree.calls) {
    const TraceEvent& event = recording.events[call.event];
    if (event.id != 0 && event.kind != TraceEvent::Kind::Runtime) callers.emplace(event.id, &call);
  }
  std::uint64_t arrow = 0;
  for (const TraceEvent& event : recording.events) {
    if (!event.is_on_device()) continue;
    const int pid = process_of(event.device);
    PL_TRY(trace.event(fmt::format(
        R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{}}}})",
        category(event.kind), json_text(event.name), pid, event.thread, trace.at(event.start_ns),
        Trace::span(event.duration_ns))));
    const auto caller = callers.find(event.caller);
    if (caller == callers.end()) continue;
    ++arrow;
    PL_TRY(trace.event(
        fmt::format(R"({{"ph":"s","cat":"ac2g","name":"ac2g","id":{},"pid":{},"tid":{},"ts":{}}})",
                    arrow, process_of(TraceEvent::kHost), caller->second->thread,
                    trace.at(caller->second->begin_ns))));
    PL_TRY(trace.event(fmt::format(
        R"({{"ph":"f","bp":"e","cat":"ac2g","name":"ac2g","id":{},"pid":{},"tid":{},"ts":{}}})",
        arrow, pid, event.thread, trace.at(event.start_ns))));
  }
  return {};
}

Result<void> write_memory(Trace& trace, const Recording& recording) {
  std::map<int, std::int64_t> held;
  for (const TraceEvent& event : recording.events) {
    if (event.kind != TraceEvent::Kind::Memory) continue;
    held[event.device] += event.bytes;
    PL_TRY(trace.event(
        fmt::format(R"({{"ph":"C","name":"held bytes","pid":{},"ts":{},"args":{{"bytes":{}}}}})",
                    process_of(event.device), trace.at(event.start_ns), held[event.device])));
  }
  return {};
}

}  // namespace

Result<void> write_chrome_trace(const std::filesystem::path& path, const Recording& recording,
                                const CallTree& tree) {
  AtomicFile file = PL_TRY(AtomicFile::create(path));
  PL_TRY(
      file.append("{\"schema\": \"profline.chrome_trace/1\",\n\"displayTimeUnit\": \"ns\",\n"
                  "\"traceEvents\": ["));
  Trace trace(file, recording.begin_ns);
  PL_TRY(name_tracks(trace, recording, tree));
  PL_TRY(write_calls(trace, recording, tree));
  PL_TRY(write_kernels(trace, recording, tree));
  PL_TRY(write_memory(trace, recording));
  PL_TRY(file.append("\n]}\n"));
  return file.commit();
}

}  // namespace profline::workload
