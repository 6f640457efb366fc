#pragma once

#include <optional>
#include <string>

#include "records/nsys_ranges.h"

/// What is known of one stage of a model, whichever tools were there to see it.
namespace profline::judgement {

/// What a profiler saw a device do, in all of its capture.
struct DeviceActivity {
  double units = 1;        ///< of the stage's work that it saw
  double captured_ns = 0;  ///< wall time under the profiler
  double busy_ns = 0;      ///< in which the device did something
  /// Pieces of work that ran at a time while it was busy, on average; none: it cannot be told.
  std::optional<double> concurrency = {};
  /// The same work without a profiler. None: nobody measured it. The time under the profiler then
  /// decides the class, and allows no statement about how fast the program could be.
  std::optional<double> unprofiled_ns = {};
  double launches = 0;
  std::optional<double> gap_mean_ns = {};  ///< from the end of a launch to the next one
  /// Its shares count: how much idle time there is without a profiler is known better.
  IdleTime idle = {};
  std::string source = {};

  double wall_ns() const { return unprofiled_ns.value_or(captured_ns); }
};

/// What a unit of the work costs by its shapes, in time at the device's ceilings.
struct Cost {
  double flops = 0;
  double bytes = 0;                       ///< of weights and KV cache: what cannot stay on the chip
  std::optional<double> compute_ns = {};  ///< none: this peak is not known
  std::optional<double> memory_ns = {};
  std::optional<double> floor_ns = {};  ///< the larger of both, operator by operator
  std::string source = {};
  std::string ceilings = {};  ///< whose: `ceilings of NVIDIA H200`
};

/// Kernel time of the stage by what bounds the kernels, as their counters say.
struct KernelBounds {
  double compute_ns = 0;
  double memory_ns = 0;
  double latency_ns = 0;  ///< far from both ceilings
  double other_ns = 0;    ///< close to both, or not known
  double all_ns = 0;      ///< with the kernels that have no counters
  std::string source = {};

  double counted_ns() const { return compute_ns + memory_ns + latency_ns + other_ns; }
};

/// What a framework's profiler saw on the host.
struct HostOperators {
  double calls = 0;  ///< a unit
  /// Of the operators' own time, that of operators which take less than Limits::operator_ns a call.
  double short_share = 0;
  std::string largest = {};  ///< the operator with the most time of its own
  double largest_share = 0;
  std::string source = {};
};

struct StageEvidence {
  std::string stage;        ///< `decode`
  std::string unit;         ///< `token`, `image`
  double measured_ns = 0;   ///< a unit, without a profiler where there is such a run
  std::string measured_in;  ///< the file
  bool has_device = false;  ///< the model runs on a GPU; else on the CPU
  /// A program that is not ours: static analysis and the torch profiler cannot see it.
  bool is_program = false;
  /// The report's page of what the host did; empty: nothing recorded it.
  std::string host_page = {};
  /// What would show the device's work, where nothing has.
  std::string to_see_device = "capture it with nsys (pipeline.nsys.enable=true)";
  std::optional<DeviceActivity> device = {};
  std::optional<Cost> cost = {};
  std::optional<KernelBounds> kernels = {};
  std::optional<HostOperators> operators = {};
};

}  // namespace profline::judgement
