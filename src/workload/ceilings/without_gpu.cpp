// For a libtorch without CUDA, or a build without a CUDA compiler.
#include "workload/ceilings/internal/bench.h"

namespace profline::workload::ceilings {

bool can_measure_gpu() {
  return false;
}

std::string cuda_device_name(int /*index*/) {
  return {};
}

void use_cuda_device(int /*index*/) {}

void measure_gpu_latencies(Bench& /*bench*/) {}

void measure_gpu(Bench& /*bench*/) {}

}  // namespace profline::workload::ceilings
