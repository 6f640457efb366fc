#pragma once

#include "settings/baseline.h"
#include "settings/direct_inference.h"
#include "settings/ncu.h"
#include "settings/nsys.h"
#include "settings/static_analysis.h"
#include "settings/torch_profiler.h"
#include "settings/workload.h"

namespace profline::settings {

/// The stages in the order in which they run, and what holds for all of them.
struct Pipeline {
  StaticAnalysis static_analysis;
  Baseline baseline;
  TorchProfiler torch_profiler;
  Nsys nsys;
  Ncu ncu;
  DirectInference direct_inference;
  Workload workload;
  bool keep_going = true;

  bool operator==(const Pipeline&) const = default;
};
constexpr auto fields(std::type_identity<Pipeline>) {
  return field_list(
      field("static_analysis", &Pipeline::static_analysis, "what the model costs by its shapes"),
      field("baseline", &Pipeline::baseline, "the run without a profiler that timings come from"),
      field("torch_profiler", &Pipeline::torch_profiler, "one image under libtorch's profiler"),
      field("nsys", &Pipeline::nsys, "the workload under Nsight Systems"),
      field("ncu", &Pipeline::ncu, "the workload under Nsight Compute"),
      field("direct_inference", &Pipeline::direct_inference,
            "the model over the dataset for its answers, no profiler"),
      field("workload", &Pipeline::workload, "the program that is profiled"),
      field("keep_going", &Pipeline::keep_going,
            "a failed stage does not stop the others; the exit code still tells"));
}

}  // namespace profline::settings
