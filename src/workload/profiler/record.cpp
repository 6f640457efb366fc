#include "workload/profiler/record.h"

#include <algorithm>
#include <array>
#include <exception>
#include <set>
#include <string_view>
#include <system_error>
#include <unordered_set>

#include <ATen/record_function.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include "records/call_kind.h"
#include "workload/profiler/profiler_compat.h"

namespace profline::workload {
namespace {

namespace torch_profiler = torch::autograd::profiler;
using torch::profiler::impl::ActivityType;
using torch::profiler::impl::ProfilerConfig;
using torch::profiler::impl::ProfilerState;
using torch_profiler::KinetoEvent;

TraceEvent::Kind kind_of(const KinetoEvent& event) {
  const std::string name = event.name();
  if (name == "[memory]") return TraceEvent::Kind::Memory;
  if (event.deviceType() != c10::DeviceType::CPU) {
    const bool copies = name.starts_with("Memcpy") || name.starts_with("Memset");
    return copies ? TraceEvent::Kind::Copy : TraceEvent::Kind::Kernel;
  }
  // Calls outside of every operator have no link.
  if (event.linkedCorrelationId() != 0 || is_call_name(name)) return TraceEvent::Kind::Runtime;
  const bool is_scope = event.scope() == static_cast<std::uint8_t>(at::RecordScope::USER_SCOPE);
  return is_scope ? TraceEvent::Kind::Range : TraceEvent::Kind::Operator;
}

TraceEvent converted(const KinetoEvent& event) {
  TraceEvent ours;
  ours.kind = kind_of(event);
  ours.name = event.name();
  ours.start_ns = compat::start_ns(event);
  ours.duration_ns = compat::duration_ns(event);
  if (event.deviceType() != c10::DeviceType::CPU)
    ours.device = static_cast<int>(event.deviceIndex());
  ours.thread = ours.is_on_device() ? static_cast<std::uint64_t>(event.deviceResourceId())
                                    : event.startThreadId();
  if (ours.is_on_device() || ours.kind == TraceEvent::Kind::Runtime) {
    ours.caller = event.linkedCorrelationId();
  } else {
    ours.id = event.correlationId();
  }
  ours.has_shapes = event.hasShapes();
  if (ours.has_shapes) ours.shapes.assign(event.shapes().begin(), event.shapes().end());
  if (event.hasStack()) ours.stack.assign(event.stack().begin(), event.stack().end());
  ours.bytes = event.nBytes();
  return ours;
}

/// What the profiler itself takes, which Kineto shows among the operators.
bool is_overhead(const std::string& name) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"Activity Buffer Request", "Buffer Flush", "Command Buffer Full", "Driver Compiler",
       "Instrumentation", "Lazy Function Loading", "Resource", "Runtime Triggered Module Loading",
       "UVM Activity Init"});
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

/// Kineto repeats ranges on the GPU's time line; they are no kernels.
void drop_ranges_on_devices(std::vector<TraceEvent>& events) {
  std::unordered_set<std::string> ranges;
  for (const TraceEvent& event : events) {
    if (event.kind == TraceEvent::Kind::Range) ranges.insert(event.name);
  }
  std::erase_if(events, [&](const TraceEvent& event) {
    return event.kind == TraceEvent::Kind::Kernel && ranges.contains(event.name);
  });
}

Recorded converted(const torch_profiler::ProfilerResult& result) {
  Recorded recorded;
  Recording& recording = recorded.recording;
  recording.resolution_ns = compat::tells_nanoseconds<KinetoEvent>() ? 1 : 1000;
  for (const KinetoEvent& event : result.events()) {
    if (compat::is_hidden(event) || is_overhead(event.name())) continue;
    recording.events.push_back(converted(event));
    recorded.has_stacks = recorded.has_stacks || event.hasStack();
  }
  drop_ranges_on_devices(recording.events);
  for (const TraceEvent& event : recording.events) {
    const std::int64_t end_ns = event.start_ns + event.duration_ns;
    const bool is_first = &event == recording.events.data();
    if (is_first || event.start_ns < recording.begin_ns) recording.begin_ns = event.start_ns;
    if (is_first || end_ns > recording.end_ns) recording.end_ns = end_ns;
  }
  return recorded;
}

/// What the work returns; what it throws, told as an Error: the profiler must be switched off
/// again.
Result<void> guarded(const std::function<Result<void>()>& work) {
  try {
    return work();
  } catch (const std::exception& thrown) {
    return Error(ErrorKind::Tool, std::string("libtorch failed: ") + thrown.what());
  }
}

/// False where this libtorch was built without Kineto: save() then throws.
bool save_trace(torch_profiler::ProfilerResult& result, const std::filesystem::path& path) {
  const std::filesystem::path partial = path.string() + ".partial";
  std::error_code problem;
  try {
    result.save(partial.string());
  } catch (const std::exception&) {
    std::filesystem::remove(partial, problem);
    return false;
  }
  std::filesystem::rename(partial, path, problem);
  return !problem;
}

}  // namespace

Result<Recorded> record(const RecordOptions& options, const std::filesystem::path& trace,
                        const std::function<Result<void>()>& work) {
  const ProfilerConfig config(ProfilerState::KINETO, options.shapes, options.memory, options.stacks,
                              /*with_flops=*/false, /*with_modules=*/false);
  std::set<ActivityType> activities{ActivityType::CPU};
  if (options.cuda) activities.insert(ActivityType::CUDA);
  try {
    torch_profiler::prepareProfiler(config, activities);
    torch_profiler::enableProfiler(config, activities,
                                   {at::RecordScope::FUNCTION, at::RecordScope::USER_SCOPE});
    const Result<void> done = guarded(work);
    const auto result = torch_profiler::disableProfiler();
    if (!done) return done.error();
    Recorded recorded = converted(*result);
    recorded.has_trace = save_trace(*result, trace);
    return recorded;
  } catch (const std::exception& thrown) {
    return Error(ErrorKind::Tool, std::string("libtorch's profiler failed: ") + thrown.what());
  }
}

}  // namespace profline::workload
