#include "workload/profiler/record.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <set>
#include <string_view>
#include <system_error>
#include <unordered_set>

#include <ATen/record_function.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include "base/files.h"
#include "formats/json.h"
#include "records/timeline.h"
#include "run/names/artifact_names.h"
#include "workload/profiler/call_tree.h"

namespace profline::workload::compat {
namespace {

// Differences between versions of libtorch's profiler: 1.13 (whole microseconds) and 2.x.

template <typename Event>
constexpr bool has_nanoseconds() {
  return requires(const Event& event) {
    event.startNs();
  };
}

template <typename Event>
std::int64_t start_ns(const Event& event) {
  if constexpr (has_nanoseconds<Event>()) {
    return static_cast<std::int64_t>(event.startNs());
  } else {
    return static_cast<std::int64_t>(event.startUs()) * 1000;
  }
}

template <typename Event>
std::int64_t duration_ns(const Event& event) {
  if constexpr (has_nanoseconds<Event>()) {
    return static_cast<std::int64_t>(event.durationNs());
  } else {
    return static_cast<std::int64_t>(event.durationUs()) * 1000;
  }
}

/// Events that newer versions mark as internal.
template <typename Event>
bool is_hidden(const Event& event) {
  if constexpr (requires { event.isHiddenEvent(); }) {
    return event.isHiddenEvent();
  } else {
    return false;
  }
}

}  // namespace
}  // namespace profline::workload::compat

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
  // Calls outside every operator have no link.
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

/// The profiler's own overhead, which Kineto shows among the operators.
bool is_overhead(const std::string& name) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"Activity Buffer Request", "Buffer Flush", "Command Buffer Full", "Driver Compiler",
       "Instrumentation", "Lazy Function Loading", "Resource", "Runtime Triggered Module Loading",
       "UVM Activity Init"});
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

/// Kineto repeats ranges on the GPU's timeline; they are not kernels.
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
  recording.resolution_ns = compat::has_nanoseconds<KinetoEvent>() ? 1 : 1000;
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

/// What the work returns, with exceptions turned into Errors: the profiler must be switched off
/// again.
Result<void> guarded(const std::function<Result<void>()>& work) {
  try {
    return work();
  } catch (const std::exception& thrown) {
    return Error(ErrorKind::Tool, std::string("libtorch failed: ") + thrown.what());
  }
}

/// False if this libtorch was built without Kineto: save() then throws.
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

Result<void> write_document(const std::filesystem::path& path, const Node& document) {
  return write_file_atomic(path, PL_TRY(write_json(document)));
}

bool asks_for(const settings::TorchProfiler& settings, settings::Activity activity) {
  return std::count(settings.activities.begin(), settings.activities.end(), activity) > 0;
}

/// The settings that had no effect, and why.
std::vector<std::string> remarks_on(const settings::TorchProfiler& settings, bool on_gpu,
                                    const Recorded& recorded) {
  std::vector<std::string> remarks;
  if (asks_for(settings, settings::Activity::Cuda) && !on_gpu) {
    remarks.emplace_back("activities: cuda is left out, the model runs on the CPU");
  }
  if (!asks_for(settings, settings::Activity::Cpu)) {
    remarks.emplace_back(
        "activities: cpu is recorded although it was not requested, because kernels belong to "
        "operators");
  }
  if (settings.with_stack && !recorded.has_stacks) {
    remarks.emplace_back("with_stack: libtorch provides no stacks for a program without Python");
  }
  if (!recorded.has_trace) {
    remarks.emplace_back(
        "trace.json: this libtorch was built without Kineto, profline wrote the trace");
  }
  if (recorded.recording.resolution_ns > 1) {
    remarks.emplace_back("operators: this libtorch reports times in whole microseconds");
  }
  return remarks;
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

Result<std::vector<std::string>> write_torch_profile(const settings::TorchProfiler& settings,
                                                     bool on_gpu,
                                                     const std::filesystem::path& folder,
                                                     const std::function<Result<void>()>& work) {
  const bool cuda = on_gpu && asks_for(settings, settings::Activity::Cuda);
  const RecordOptions options{.cuda = cuda,
                              .shapes = settings.record_shapes,
                              .memory = settings.profile_memory,
                              .stacks = settings.with_stack};
  const Recorded recorded = PL_TRY(record(options, folder / run::files::kTrace, work));
  const Recording& recording = recorded.recording;
  if (recording.events.empty()) {
    return Error(ErrorKind::Tool, "libtorch's profiler recorded nothing");
  }
  const CallTree tree = build_call_tree(recording);
  if (!recorded.has_trace) PL_TRY(write_chrome_trace(folder / run::files::kTrace, recording, tree));

  const TorchOperators table = operator_table(recording, tree, settings.group_by_input_shape);
  PL_TRY(write_document(folder / run::files::kOperators, operators_document(table)));
  PL_TRY(write_file_atomic(folder / run::files::kOperatorsPage, operators_markdown(table)));

  const std::vector<TorchKernel> kernels = kernel_table(recording);
  const std::string why_none = cuda     ? "the profiler recorded no work on the GPU"
                               : on_gpu ? "pipeline.torch_profiler.activities does not name cuda"
                                        : "the model ran on the CPU";
  PL_TRY(write_document(folder / run::files::kKernels, kernels_document(kernels, why_none)));
  PL_TRY(write_file_atomic(folder / run::files::kKernelsPage, kernels_markdown(kernels, why_none)));
  if (settings.profile_memory) {
    PL_TRY(write_document(folder / run::files::kMemory, memory_document(recording, tree)));
  }
  std::vector<std::string> remarks = remarks_on(settings, on_gpu, recorded);
  if (cuda && kernels.empty()) remarks.push_back("kernels: none, " + why_none);
  return remarks;
}

}  // namespace profline::workload
