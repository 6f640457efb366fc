#include "workload/measure/ceilings.h"

#include <algorithm>
#include <chrono>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

namespace profline::workload {
namespace {

using Seconds = std::chrono::duration<double>;

/// The fastest of the runs that fit into `budget`, at least two: the first pays for first touches.
template <typename Work>
double best_seconds(const Clock& clock, Seconds budget, const Work& work) {
  const Clock::Steady begin = clock.now();
  work();
  double best = Seconds(clock.now() - begin).count();
  do {
    const Clock::Steady start = clock.now();
    work();
    best = std::min(best, Seconds(clock.now() - start).count());
  } while (clock.now() - begin < budget);
  return best;
}

}  // namespace

CpuCeilings measure_cpu_ceilings(const Clock& clock) {
  const at::NoGradGuard no_grad;
  constexpr Seconds kEach{0.15};
  CpuCeilings ceilings;
  ceilings.threads = at::get_num_threads();
  {
    constexpr std::int64_t kFloats = std::int64_t{16} << 20U;  // 64 MiB each
    const at::Tensor from = at::ones({kFloats});
    at::Tensor to = at::zeros({kFloats});
    const double seconds = best_seconds(clock, kEach, [&] { to.copy_(from); });
    ceilings.copy_bytes_per_s = 2.0 * sizeof(float) * static_cast<double>(kFloats) / seconds;
  }
  constexpr std::int64_t kSide = 640;
  const at::Tensor a = at::ones({kSide, kSide});
  const at::Tensor b = at::ones({kSide, kSide});
  at::Tensor c = at::empty({kSide, kSide});
  const double seconds = best_seconds(clock, kEach, [&] { at::mm_out(c, a, b); });
  ceilings.gemm_flops_per_s = 2.0 * kSide * kSide * kSide / seconds;
  return ceilings;
}

}  // namespace profline::workload
