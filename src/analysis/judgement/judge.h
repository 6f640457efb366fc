#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/range_use.h"

/// What is known about one phase, from whichever tools recorded it.
namespace profline::judgement {

/// The activity of a device over a whole capture.
struct DeviceActivity {
  double units = 1;        ///< of the phase's work in the capture
  double captured_ns = 0;  ///< wall time under the profiler
  double busy_ns = 0;      ///< time in which the device worked
  /// Average number of kernels and copies running concurrently while it was busy; absent: not
  /// known.
  std::optional<double> concurrency = {};
  /// The time of the same work without a profiler. Absent: not measured. The time under the
  /// profiler then decides the class, and no statement is made about how fast the program could be.
  std::optional<double> unprofiled_ns = {};
  double launches = 0;
  std::optional<double> gap_mean_ns = {};  ///< from the end of a launch to the next one
  /// Only its shares are used: the amount of idle time without a profiler is known from elsewhere.
  IdleTime idle = {};
  std::optional<DeviceMetrics> metrics = {};  ///< sampled while it worked
  /// The part of `units` that `metrics` are of: captures that were too short for samples have none.
  double sampled_share = 1;
  std::string source = {};

  double wall_ns() const { return unprofiled_ns.value_or(captured_ns); }
};

/// The theoretical cost of a unit of work for the model's shapes, as time at the device's ceilings.
struct Cost {
  double flops = 0;
  double bytes = 0;        ///< of weights and KV cache, which cannot stay on the chip
  double cache_bytes = 0;  ///< of these, the KV cache's; 0: the phase has none
  std::optional<double> compute_ns = {};  ///< absent: the peak is not known
  std::optional<double> memory_ns = {};
  std::optional<double> floor_ns = {};  ///< the larger of both, operator by operator
  std::string source = {};
  std::string ceilings = {};  ///< for example `ceilings of NVIDIA H200`
};

/// What the GPU's counters showed while the phase ran, without replaying anything (nsys' GPU
/// metrics). Times are what a unit's work would take at the ceilings, as in Cost; here they include
/// all traffic, not only what is necessary.
struct LiveCounters {
  std::optional<double> compute_ns = {};  ///< of the matrix units; absent: not sampled
  std::optional<double> memory_ns = {};   ///< of DRAM
  double bytes = 0;                       ///< of DRAM, read and written
  std::string source = {};
};

/// The phase's kernel time by what bounds the kernels according to their counters.
struct KernelBounds {
  double compute_ns = 0;
  double memory_ns = 0;
  double latency_ns = 0;  ///< far from both ceilings
  double other_ns = 0;    ///< close to both, or not known
  double all_ns = 0;      ///< including kernels without counters
  /// What the kernels with counters would take at the ceilings for what they did.
  double compute_floor_ns = 0;
  double memory_floor_ns = 0;
  std::string source = {};

  double counted_ns() const { return compute_ns + memory_ns + latency_ns + other_ns; }
};

/// What a framework's profiler recorded on the host.
struct HostOperators {
  double calls = 0;  ///< per unit
  /// Share of the operators' self time spent in operators that take less than Limits::operator_ns
  /// per call.
  double short_share = 0;
  std::string largest = {};  ///< the operator with the most self time
  double largest_share = 0;
  std::string source = {};
};

struct PhaseEvidence {
  std::string phase;        ///< `decode`
  std::string unit;         ///< `token`, `image`
  double measured_ns = 0;   ///< per unit, without a profiler if there is such a run
  std::string measured_in;  ///< the file
  bool has_device = false;  ///< the model runs on a GPU; else on the CPU
  /// A user's program: static analysis and the torch profiler do not apply to it.
  bool is_program = false;
  bool has_nsys = false;  ///< the run uses nsys, so advice may name its settings
  /// The report's page about host work; empty: nothing recorded it.
  std::string host_page = {};
  /// What would record the device's work, if nothing has.
  std::string to_see_device = "capture it with nsys (pipeline.nsys.enable=true)";
  std::optional<DeviceActivity> device = {};
  std::optional<Cost> cost = {};
  std::optional<LiveCounters> live = {};
  std::optional<KernelBounds> kernels = {};
  std::optional<HostOperators> operators = {};
};

/// What limits the speed of a phase: what accounts for at least half of its time.
enum class Class {
  LaunchBound,   ///< the device waits for launches
  HostBound,     ///< the device, if any, waits for other work of the host
  MemoryBound,   ///< memory traffic, even at full bandwidth
  ComputeBound,  ///< arithmetic, even at peak rate
  Mixed,         ///< nothing is known to account for half of the time
  Unknown,       ///< no tool recorded it
};
/// `launch-bound`.
std::string_view to_text(Class kind);

/// The thresholds of the classes. Shares are of the phase's time, 0 to 1.
struct Limits {
  double majority = 0.50;  ///< what accounts for this share names the class
  double busy = 0.75;      ///< for advice: a device busy for this share is itself the limit
  double margin = 0.05;    ///< ceilings this close to each other count as equal
  double cached = 1.02;    ///< bytes that would take longer than the phase came from a cache
  /// Gaps between launches up to this length are a framework preparing the next launch; longer ones
  /// are other host work.
  double launch_gap_ns = 50'000;
  /// On a CPU: an operator that takes less time per call is mostly call overhead.
  double operator_ns = 20'000;
};

/// A figure that decided, in words, and the file it comes from.
struct Reason {
  std::string text;
  std::string source;

  bool operator==(const Reason&) const = default;
};

/// A kind of evidence, in the order in which the judgement adds them.
enum class Evidence {
  Floor,      ///< what the model's shapes necessarily compute and move
  Operators,  ///< the framework's operators on the host; only without a device
  Activity,   ///< when the device was busy
  Live,       ///< counters sampled while the phase ran
  Counters,   ///< counters per kernel
};
/// `the model's shapes`.
std::string_view to_text(Evidence evidence);

/// The class after one more kind of evidence was added.
struct Step {
  Evidence evidence = Evidence::Floor;
  Class kind = Class::Unknown;
  /// What it adds: `memory traffic accounts for at least 53.5 % of the time`.
  std::string finding;
  std::string source;

  bool operator==(const Step&) const = default;
};

/// The time of a unit if one obstacle were gone. A bound, not a promise.
struct Gain {
  std::string when;  ///< `if the GPU never waited`
  double saved_ns = 0;
  double time_ns = 0;  ///< remaining time
  double speedup = 1;

  bool operator==(const Gain&) const = default;
};

struct Judgement {
  Class kind = Class::Unknown;
  std::vector<Reason> reasons;
  std::vector<Gain> gains;  ///< those that the class suggests come first
  std::string next_step;
  /// Share of the time in which the device worked.
  std::optional<double> busy_share;
  /// How the class came about: one entry per kind of evidence there is.
  std::vector<Step> steps;
};

/// Pure: the same evidence gives the same words.
///
/// Every kind of evidence gives lower bounds of parts of the phase's time: what the shapes
/// necessarily compute and move, the time in which the device was idle, the traffic and arithmetic
/// that counters saw. A class is named once the bound of one part reaches half of the time. Further
/// evidence only raises bounds, so it sharpens a class (unknown, mixed, one limit) and does not
/// contradict one:
///
/// 1. Necessary work at the ceilings, from shapes. The nearer ceiling counts; within 5 points of
///    each other they are mixed. Bytes that would take longer than the phase came from a cache and
///    do not count.
/// 2. Idle time of the device: launch-bound or host-bound, by the cause of the larger part of it.
/// 3. Counters, first those sampled in place, then those per kernel: memory or compute, if the same
///    counters do not give the other half of the time or more as well. Of kernels, the share in the
///    time of the whole phase counts, and kernels without counters may be at either limit.
///
/// Without a device, short calls of operators take the place of 2 and 3.
Judgement judge(const PhaseEvidence& evidence, const Limits& limits = {});

/// The class alone.
Class class_of(const PhaseEvidence& evidence, const Limits& limits = {});

}  // namespace profline::judgement
