#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/counters.h"
#include "settings/hardware.h"

/// What a kernel did according to its counters (operations by precision, bytes moved, time), and
/// where that places it under the roofline of a device.
namespace profline::roofline {

inline constexpr double kNsPerSecond = 1e9;

using settings::Accumulation;
using settings::Cores;
using settings::Precision;

/// Operations of one kind; a multiply-add counts as two.
struct Work {
  Cores cores = Cores::Vector;
  Precision precision = Precision::Fp32;
  Accumulation accumulation = Accumulation::Fp32;
  double operations = 0;
  std::string counters;  ///< what it was computed from, as a formula
  /// Computed from a rate that was printed with few digits: accurate to about one percent.
  bool is_rounded = false;

  bool operator==(const Work&) const = default;
};

/// A number and its source.
struct Quantity {
  double value = 0;
  std::string counters;

  bool operator==(const Quantity&) const = default;
};

struct Measurement {
  std::optional<Quantity> time_ns;
  std::optional<Quantity> dram_bytes;  ///< read and written
  std::optional<Quantity> l2_bytes;    ///< requested from the L2 cache
  std::vector<Work> work;              ///< kinds that occurred
  /// The report has counters of operations, so an empty `work` means that none were executed.
  bool counted_operations = false;

  // Shares of the sustained peak, 0 to 100, as ncu computes them.
  std::optional<double> sm_pct;
  std::optional<double> dram_pct;
  std::optional<double> memory_pct;  ///< of the busiest part of the memory system
  std::optional<double> l1_pct;
  std::optional<double> l2_pct;
  std::optional<double> occupancy_pct;
  std::optional<double> waves;  ///< blocks divided by how many fit on the device

  /// Counters of work that could not be converted into operations, and why.
  std::vector<std::string> notes;

  double operations() const;
};

/// Looks up the kernel's counters under all names that they have in the versions of ncu and on
/// different chips.
///
/// Tensor operations come from `sm__ops_path_tensor_src_*`: the sums if present, else the parts by
/// instruction and sparsity, never both. Tensor instructions alone determine the number of
/// operations only on Volta, where each is 512. Vector operations are the adds, muls and twice the
/// fmas of each precision (half precision instructions work on pairs), also from rates per cycle
/// and elapsed cycles; or the old `flop_count_{hp,sp,dp}`.
Measurement measure(const CounterReport& report, const ProfiledKernel& kernel);

/// Whether `measure` can use a counter, to decide what to keep of a large report.
bool is_useful_counter(std::string_view name);

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
