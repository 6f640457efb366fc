#include <algorithm>

#include "base/files.h"
#include "formats/json_write.h"
#include "workload/profiler/chrome_trace.h"
#include "workload/profiler/record.h"
#include "workload/profiler/tables.h"

namespace profline::workload {
namespace {

Result<void> write_document(const std::filesystem::path& path, const Node& document) {
  return write_file_atomic(path, PL_TRY(write_json(document)));
}

bool asks_for(const settings::TorchProfiler& settings, settings::Activity activity) {
  return std::count(settings.activities.begin(), settings.activities.end(), activity) > 0;
}

/// What of the settings had no effect, and why.
std::vector<std::string> remarks_on(const settings::TorchProfiler& settings, bool on_gpu,
                                    const Recorded& recorded) {
  std::vector<std::string> remarks;
  if (asks_for(settings, settings::Activity::Cuda) && !on_gpu) {
    remarks.emplace_back("activities: cuda is left out, the model runs on the CPU");
  }
  if (!asks_for(settings, settings::Activity::Cpu)) {
    remarks.emplace_back(
        "activities: cpu is recorded although it was not asked for; kernels belong to operators");
  }
  if (settings.with_stack && !recorded.has_stacks) {
    remarks.emplace_back("with_stack: libtorch gives no stacks of a program without Python");
  }
  if (!recorded.has_trace) {
    remarks.emplace_back(
        "trace.json: this libtorch was built without Kineto, profline wrote the trace");
  }
  if (recorded.recording.resolution_ns > 1) {
    remarks.emplace_back("operators: this libtorch tells times in whole microseconds");
  }
  return remarks;
}

}  // namespace

Result<std::vector<std::string>> write_torch_profile(const settings::TorchProfiler& settings,
                                                     bool on_gpu,
                                                     const std::filesystem::path& folder,
                                                     const std::function<Result<void>()>& work) {
  const bool cuda = on_gpu && asks_for(settings, settings::Activity::Cuda);
  const RecordOptions options{.cuda = cuda,
                              .shapes = settings.record_shapes,
                              .memory = settings.profile_memory,
                              .stacks = settings.with_stack};
  const Recorded recorded = PL_TRY(record(options, folder / "trace.json", work));
  const Recording& recording = recorded.recording;
  if (recording.events.empty()) {
    return Error(ErrorKind::Tool, "libtorch's profiler recorded nothing");
  }
  const CallTree tree = build_call_tree(recording);
  if (!recorded.has_trace) PL_TRY(write_chrome_trace(folder / "trace.json", recording, tree));

  const OperatorTable table = operator_table(recording, tree, settings.group_by_input_shape);
  PL_TRY(write_document(folder / "operators.json", operators_document(table, recording)));
  PL_TRY(write_file_atomic(folder / "operators.md", operators_markdown(table, recording)));

  const std::vector<KernelRow> kernels = kernel_table(recording);
  const std::string why_none = cuda     ? "the profiler saw no work on the GPU"
                               : on_gpu ? "pipeline.torch_profiler.activities does not name cuda"
                                        : "the model ran on the CPU";
  PL_TRY(write_document(folder / "kernels.json", kernels_document(kernels, why_none)));
  PL_TRY(write_file_atomic(folder / "kernels.md", kernels_markdown(kernels, why_none)));
  if (settings.profile_memory) {
    PL_TRY(write_document(folder / "memory.json", memory_document(recording, tree)));
  }
  std::vector<std::string> remarks = remarks_on(settings, on_gpu, recorded);
  if (cuda && kernels.empty()) remarks.push_back("kernels: none, " + why_none);
  return remarks;
}

}  // namespace profline::workload
