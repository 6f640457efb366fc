#pragma once

#include <optional>
#include <string>
#include <vector>

#include "records/counters.h"
#include "settings/hardware.h"

/// What a kernel did, according to its counters: operations by precision, bytes moved, time.
namespace profline::roofline {

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

}  // namespace profline::roofline
