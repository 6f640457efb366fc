#include "workload/ceilings/measure_ceilings.h"

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include "tools/gpu/driver.h"
#include "workload/ceilings/internal/bench.h"
#include "workload/torch_runtime.h"

namespace profline::workload {
namespace {

using ceilings::Bench;

/// Often enough for a burst to have a sample.
constexpr std::chrono::milliseconds kSamplePeriod{10};

std::unique_ptr<gpu::GpuSampler> sampler_of(const at::Device& device, Bench& bench) {
  auto nvml = gpu::Nvml::open(device_uuid(device));
  if (nvml) return std::make_unique<gpu::GpuSampler>(std::move(*nvml), kSamplePeriod);
  bench.note("clocks and power: " + nvml.error().to_string());
  return nullptr;
}

/// Reading clocks costs host time, so it begins after what that would disturb.
std::vector<CeilingFigure> figures_of(const at::Device& device, Bench& bench) {
  if (!device.is_cuda()) {
    ceilings::measure_cpu(bench);
    return bench.take({}, {});
  }
  ceilings::measure_gpu_latencies(bench);
  const Clock::Steady began = bench.clock().now();
  const std::unique_ptr<gpu::GpuSampler> sampler = sampler_of(device, bench);
  ceilings::measure_gpu(bench);
  return bench.take(sampler ? sampler->stop() : std::vector<gpu::GpuSample>(), began);
}

}  // namespace

Result<MachineCeilings> measure_ceilings(const CeilingsRequest& request,
                                         const CeilingsServices& services) {
  const at::NoGradGuard no_grad;
  const at::Device device = PL_TRY(open_device(request.device));
  if (device.is_cuda() && !ceilings::can_measure_gpu()) {
    return Error(
        ErrorKind::NotFound,
        "this profline-workload cannot measure a GPU: it was built without a CUDA compiler");
  }
  if (!device.is_cuda()) {
    const auto all = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    use_threads(request.threads > 0 ? request.threads : all);
  }
  const TorchBuild build = torch_build();
  MachineCeilings ceilings;
  ceilings.measured_at = utc_timestamp(services.clock.wall_now());
  ceilings.torch = build.version;
  if (device.is_cuda()) {
    ceilings::use_cuda_device(device.index());
    ceilings.device = ceilings::cuda_device_name(device.index());
    ceilings.device_uuid = device_uuid(device);
  } else {
    ceilings.device = "cpu";
    ceilings.blas = build.blas;
    ceilings.threads = at::get_num_threads();
  }
  const std::unique_ptr<DeviceClock> device_clock = PL_TRY(make_device_clock(device));
  const Clock::Steady begin = services.clock.now();
  Bench bench(request, services, *device_clock);
  Step step(services.progress, "ceilings");
  ceilings.figures = figures_of(device, bench);
  step.end(bench.is_stopped() ? StepOutcome::Cancelled : StepOutcome::Ok);
  if (bench.is_stopped()) return Error(ErrorKind::Cancelled, "stopped; nothing was written");
  ceilings.notes = bench.take_notes();
  ceilings.seconds = ceilings::Seconds(services.clock.now() - begin).count();
  return ceilings;
}

}  // namespace profline::workload
