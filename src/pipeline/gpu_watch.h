#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"
#include "pipeline/stage.h"
#include "tools/gpu/driver.h"

namespace profline::pipeline {

/// Whether the workload runs on a GPU.
bool is_on_gpu(const StageContext& context);

/// Samples clocks, power and energy of the GPU that the run uses until it is stopped. Absent
/// without a GPU or NVML; that there is no NVML is reported.
std::unique_ptr<gpu::GpuSampler> watch_gpu(const StageContext& context, StageRun& run,
                                           const std::string& nvml = "libnvidia-ml.so.1");

/// Ends the sampler, if there is one, and writes its gpu.jsonl into the folder.
Result<void> write_readings(gpu::GpuSampler* sampler, const std::filesystem::path& folder);

}  // namespace profline::pipeline
