#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/roofline/measurement.h"
#include "settings/hardware.h"

namespace profline::roofline {

/// What limits the speed of a kernel.
enum class Bound { Compute, Memory, Mixed, Latency, Unknown };
std::string_view to_text(Bound bound);

struct PointOptions {
  /// Below this share of both ceilings a kernel is waiting: for launches, dependencies or because
  /// its grid does not fill the device. The same threshold as in ncu's own advice.
  double latency_below = 0.60;
  /// Shares this close to each other count as equal.
  double margin = 0.05;
};

/// A kernel in the roofline model. Shares are 0 to 1.
struct Point {
  std::optional<double> time_ns;
  std::optional<double> operations;
  std::optional<double> dram_bytes;
  std::optional<double> l2_bytes;
  std::optional<double> intensity;     ///< operations per byte of DRAM traffic
  std::optional<double> l2_intensity;  ///< the same for L2
  std::optional<double> operations_per_second;
  std::optional<double> bytes_per_second;
  /// For operations of several precisions: what this mixture could reach if each unit ran at its
  /// own peak, tensor and vector cores in parallel.
  std::optional<double> peak_operations_per_second;
  /// The roof above the point: the smaller of that peak and intensity times bandwidth.
  std::optional<double> attainable_operations_per_second;
  std::optional<double> floor_ns;  ///< the minimum time under the roof
  std::optional<double> compute_share;
  std::optional<double> memory_share;
  Bound bound = Bound::Unknown;
  std::vector<std::string> evidence;  ///< the figures that decided, in words
};

/// The kernel's position and what bounds it. A share is the larger of the one relative to the
/// ceilings and the one that ncu measured (`sm__throughput`, `gpu__compute_memory_throughput`).
/// Without ceilings only the second is known.
Point place(const Measurement& measured, const settings::Ceilings& ceilings,
            const PointOptions& options = {});

/// The predecessor's rule: the difference of the two shares in percentage points.
enum class MarginClass { ComputeBound, MemoryBound, Balanced, Unknown };
std::string_view to_text(MarginClass margin_class);
MarginClass classify_by_margin(std::optional<double> sm_pct, std::optional<double> dram_pct,
                               double margin = 5.0);

}  // namespace profline::roofline
