#pragma once

#include <optional>
#include <string>
#include <vector>

#include "records/counters.h"
#include "settings/hardware.h"

/// What a kernel did by its counters: operations by precision, bytes moved, time.
namespace profline::roofline {

using settings::Accumulation;
using settings::Cores;
using settings::Precision;

/// Operations of one kind; a multiply-add is two.
struct Work {
  Cores cores = Cores::Vector;
  Precision precision = Precision::Fp32;
  Accumulation accumulation = Accumulation::Fp32;
  double operations = 0;
  std::string counters;  ///< what it was computed from, as a formula
  /// Computed from a rate that was printed with few digits: good to about a percent.
  bool is_rounded = false;

  bool operator==(const Work&) const = default;
};

/// A number with where it came from.
struct Quantity {
  double value = 0;
  std::string counters;

  bool operator==(const Quantity&) const = default;
};

struct Measurement {
  std::optional<Quantity> time_ns;
  std::optional<Quantity> dram_bytes;  ///< read and written
  std::optional<Quantity> l2_bytes;    ///< asked of the L2 cache
  std::vector<Work> work;              ///< kinds that did something
  /// Counters of operations were in the report, so that no work means none was done.
  bool counted_operations = false;

  // Shares of what the hardware could sustain, 0 to 100, as ncu computes them.
  std::optional<double> sm_pct;
  std::optional<double> dram_pct;
  std::optional<double> memory_pct;  ///< of the busiest part of the memory system
  std::optional<double> l1_pct;
  std::optional<double> l2_pct;
  std::optional<double> occupancy_pct;
  std::optional<double> waves;  ///< blocks by what the device holds at a time

  /// Counters of work that could not be made into operations, and why.
  std::vector<std::string> notes;

  double operations() const;
};

/// Looks the kernel's counters up under all names that ncu's versions and chips have for them.
///
/// Tensor operations are `sm__ops_path_tensor_src_*`, the sums where they are there, else the parts
/// by instruction and sparsity, never both. Tensor instructions alone say how many operations they
/// were on Volta only, where each is 512. Vector operations are the add, mul and twice the fma of
/// each precision (half precision instructions work on pairs), also from rates per cycle and
/// elapsed cycles; or the old `flop_count_{hp,sp,dp}`.
Measurement measure(const CounterReport& report, const ProfiledKernel& kernel);

/// Whether `measure` can make use of a counter: what to keep of a large report.
bool is_useful_counter(std::string_view name);

}  // namespace profline::roofline
