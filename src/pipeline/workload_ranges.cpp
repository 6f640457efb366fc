#include "pipeline/workload_ranges.h"

namespace profline::pipeline {

std::vector<std::string> workload_ranges(const settings::Root& settings) {
  const settings::Workload& workload = settings.pipeline.workload;
  if (workload.user_command()) return {};
  if (workload.kind == settings::WorkloadKind::DummyShallowResnet) {
    return {"warmup", "stem", "residual", "block.conv1", "block.conv2", "head"};
  }
  std::vector<std::string> ranges = {"warmup",    "prefill", "sam",   "clip",
                                     "projector", "lm",      "decode"};
  if (workload.nvtx_steps) ranges.emplace_back("decode_step");
  return ranges;
}

}  // namespace profline::pipeline
