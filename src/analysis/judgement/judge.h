#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/range_use.h"

/// What is known of one phase, whichever tools were there to see it.
namespace profline::judgement {

/// What a profiler saw a device do, in all of its capture.
struct DeviceActivity {
  double units = 1;        ///< of the phase's work that it saw
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

/// Kernel time of the phase by what bounds the kernels, as their counters say.
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

struct PhaseEvidence {
  std::string phase;        ///< `decode`
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

/// What keeps a phase from being faster.
enum class Class {
  LaunchBound,   ///< the device waits for launches
  HostBound,     ///< the device, if there is one, waits for something else that the host does
  MemoryBound,   ///< the device is busy, and memory bandwidth is the nearer ceiling
  ComputeBound,  ///< the device is busy, and arithmetic is the nearer ceiling
  Mixed,         ///< no single limit explains most of the time
  Unknown,       ///< nothing was there to see it
};
/// `launch-bound`.
std::string_view to_text(Class kind);

/// Where the classes begin. Shares are of the phase's time, 0 to 1.
struct Limits {
  double idle = 0.50;      ///< a device idle this much waits for the host
  double busy = 0.75;      ///< a device busy this much is itself the limit
  double near = 0.25;      ///< a ceiling that explains less of the time is not what bounds it
  double margin = 0.05;    ///< ceilings this close to each other are the same
  double majority = 0.50;  ///< of kernel time, for counters to decide
  /// Gaps between launches up to here are what a framework needs to launch the next piece; longer
  /// ones are work of the host's own.
  double launch_gap_ns = 50'000;
  /// On a CPU: an operator that takes less a call is mostly the cost of calling it.
  double operator_ns = 20'000;
};

/// A number that decided, in words, and the file it is from.
struct Reason {
  std::string text;
  std::string source;

  bool operator==(const Reason&) const = default;
};

/// What a unit would take if one obstacle were gone. A bound, never a promise.
struct Gain {
  std::string when;  ///< `if the GPU never waited`
  double saved_ns = 0;
  double time_ns = 0;  ///< what is left
  double speedup = 1;

  bool operator==(const Gain&) const = default;
};

struct Judgement {
  Class kind = Class::Unknown;
  std::vector<Reason> reasons;
  std::vector<Gain> gains;  ///< what the class allows first
  std::string next_step;
  /// Share of its time in which the device worked.
  std::optional<double> busy_share;
};

/// Pure: the same evidence gives the same words.
///
/// With a device the first question is whether it works at all. Idle for half of the time or more,
/// the phase is bound by launches or else by the host, whichever the larger part of the idle time
/// is put down to; busy for three quarters or more, it is bound by what its kernels are bound by
/// (counters, where they cover most of the kernel time) or by the nearer ceiling of what the phase
/// must compute and move; between the two it is mixed. On a CPU the ceilings decide, and where
/// neither explains the time the length of operator calls does.
Judgement judge(const PhaseEvidence& evidence, const Limits& limits = {});

}  // namespace profline::judgement
