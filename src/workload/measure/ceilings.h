#pragma once

#include "base/clock.h"

namespace profline::workload {

/// The best that this machine's CPU reaches, measured rather than looked up.
struct CpuCeilings {
  double copy_bytes_per_s = 0;  ///< bytes read plus bytes written, far beyond the caches
  double gemm_flops_per_s = 0;  ///< fp32, square, with libtorch's BLAS
  int threads = 0;              ///< libtorch's while it was measured
};

/// The best of the runs that fit into half a second, with libtorch's current number of threads.
CpuCeilings measure_cpu_ceilings(const Clock& clock);

}  // namespace profline::workload
