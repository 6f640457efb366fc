#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/roofline/measurement.h"
#include "settings/hardware.h"

namespace profline::roofline {

/// What keeps a kernel from being faster.
enum class Bound { Compute, Memory, Mixed, Latency, Unknown };
std::string_view to_text(Bound bound);

struct PointOptions {
  /// Below this share of both ceilings a kernel waits: for launches, dependencies or a grid that
  /// does not fill the device. The figure ncu's own advice uses.
  double latency_below = 0.60;
  /// Shares this close to each other are the same.
  double margin = 0.05;
};

/// A kernel under its roof. Shares are 0 to 1.
struct Point {
  std::optional<double> time_ns;
  std::optional<double> operations;
  std::optional<double> dram_bytes;
  std::optional<double> l2_bytes;
  std::optional<double> intensity;     ///< operations a byte of DRAM traffic
  std::optional<double> l2_intensity;  ///< the same for L2
  std::optional<double> operations_per_second;
  std::optional<double> bytes_per_second;
  /// With operations of several precisions: what this mixture could reach if each unit ran at its
  /// own peak, tensor and vector cores side by side.
  std::optional<double> peak_operations_per_second;
  /// The roof above the point: the smaller of that peak and intensity times bandwidth.
  std::optional<double> attainable_operations_per_second;
  std::optional<double> floor_ns;  ///< the time it would take under the roof
  std::optional<double> compute_share;
  std::optional<double> memory_share;
  Bound bound = Bound::Unknown;
  std::vector<std::string> evidence;  ///< the numbers that decided, in words
};

/// Where the kernel lies and what bounds it. A share is the larger of what the ceilings say and
/// what ncu measured of its own (`sm__throughput`, `gpu__compute_memory_throughput`). Without
/// ceilings only the second is known.
Point place(const Measurement& measured, const settings::Ceilings& ceilings,
            const PointOptions& options = {});

/// The predecessor's rule: the difference of the two shares in points of a percent.
enum class MarginClass { ComputeBound, MemoryBound, Balanced, Unknown };
std::string_view to_text(MarginClass margin_class);
MarginClass classify_by_margin(std::optional<double> sm_pct, std::optional<double> dram_pct,
                               double margin = 5.0);

}  // namespace profline::roofline
