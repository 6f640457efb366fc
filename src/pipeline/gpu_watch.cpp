#include "pipeline/gpu_watch.h"

#include <optional>
#include <utility>

#include "base/files.h"
#include "run/names/artifact_names.h"

namespace profline::pipeline {
namespace {

/// Nothing if the run uses no GPU or the driver does not know it.
std::optional<gpu::Device> gpu_of(const StageContext& context) {
  const auto& driver = context.tools.driver;
  if (!is_on_gpu(context) || !driver || !*driver) return std::nullopt;
  const auto index = context.setup.settings.device.index.value_or(0);
  for (const gpu::Device& device : driver->value().devices) {
    if (device.index == static_cast<int>(index)) return device;
  }
  return std::nullopt;
}

}  // namespace

bool is_on_gpu(const StageContext& context) {
  return context.setup.settings.device.kind == settings::Device::Kind::Cuda;
}

std::unique_ptr<gpu::GpuSampler> watch_gpu(const StageContext& context, StageRun& run,
                                           const std::string& nvml) {
  const auto device = gpu_of(context);
  if (!device) return nullptr;
  auto opened = gpu::Nvml::open(device->uuid, nvml);
  if (opened) return std::make_unique<gpu::GpuSampler>(std::move(*opened));
  run.report({Severity::Warning, "gpu_not_sampled",
              "clocks, power and temperature are not sampled: " + opened.error().to_string()});
  return nullptr;
}

Result<void> write_readings(gpu::GpuSampler* sampler, const std::filesystem::path& folder) {
  if (sampler == nullptr) return {};
  return write_file_atomic(folder / run::files::kGpuReadings, gpu::to_jsonl(sampler->stop()));
}

}  // namespace profline::pipeline
