#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/clock.h"
#include "formats/node.h"
#include "records/request.h"
#include "statistics/summary.h"

namespace profline::workload {

/// The best that this machine's CPU reaches, measured rather than looked up.
struct CpuCeilings {
  double copy_bytes_per_s = 0;  ///< bytes read plus bytes written, far beyond the caches
  double gemm_flops_per_s = 0;  ///< fp32, square, with libtorch's BLAS
  int threads = 0;              ///< libtorch's while it was measured
};

/// The best of the runs that fit into half a second, with libtorch's current number of threads.
CpuCeilings measure_cpu_ceilings(const Clock& clock);

/// The sizes of a language model that rough estimates need.
struct ModelDims {
  std::int64_t d_model = 0;
  std::int64_t d_ff = 0;
  std::int64_t n_layers = 0;
};

/// Everything in metrics.json besides the requests.
struct MetricsContext {
  std::string device;
  std::optional<ModelDims> model_dims{};
  std::optional<CpuCeilings> ceilings{};
};

/// metrics.json, `profline.metrics/1`: the summary of the requests.
///
/// Tokens per second refer to decode: the steps after prefill divided by their time, for each image
/// that has a step, and all steps divided by their total time. MFU needs FLOPs and a peak, which
/// this program does not know: its keys are null here, and profline fills them in its summary.
Node metrics_document(std::span<const Request> requests, const MetricsContext& context);

/// `{n, mean, std, median, p90, p99, min, max, median_ci95: [low, high]}`.
Node to_node(const statistics::Summary& summary);

}  // namespace profline::workload
