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
  std::string source = {};

  double wall_ns() const { return unprofiled_ns.value_or(captured_ns); }
};

/// The theoretical cost of a unit of work for the model's shapes, as time at the device's ceilings.
struct Cost {
  double flops = 0;
  double bytes = 0;  ///< of weights and KV cache, which cannot stay on the chip
  std::optional<double> compute_ns = {};  ///< absent: the peak is not known
  std::optional<double> memory_ns = {};
  std::optional<double> floor_ns = {};  ///< the larger of both, operator by operator
  std::string source = {};
  std::string ceilings = {};  ///< for example `ceilings of NVIDIA H200`
};

/// The phase's kernel time by what bounds the kernels according to their counters.
struct KernelBounds {
  double compute_ns = 0;
  double memory_ns = 0;
  double latency_ns = 0;  ///< far from both ceilings
  double other_ns = 0;    ///< close to both, or not known
  double all_ns = 0;      ///< including kernels without counters
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
  /// The report's page about host work; empty: nothing recorded it.
  std::string host_page = {};
  /// What would record the device's work, if nothing has.
  std::string to_see_device = "capture it with nsys (pipeline.nsys.enable=true)";
  std::optional<DeviceActivity> device = {};
  std::optional<Cost> cost = {};
  std::optional<KernelBounds> kernels = {};
  std::optional<HostOperators> operators = {};
};

/// What limits the speed of a phase.
enum class Class {
  LaunchBound,   ///< the device waits for launches
  HostBound,     ///< the device, if any, waits for other work of the host
  MemoryBound,   ///< the device is busy, and memory bandwidth is the nearer ceiling
  ComputeBound,  ///< the device is busy, and arithmetic is the nearer ceiling
  Mixed,         ///< no limit explains most of the time
  Unknown,       ///< no tool recorded it
};
/// `launch-bound`.
std::string_view to_text(Class kind);

/// The thresholds of the classes. Shares are of the phase's time, 0 to 1.
struct Limits {
  double idle = 0.50;      ///< a device idle for this share waits for the host
  double busy = 0.75;      ///< a device busy for this share is itself the limit
  double near = 0.25;      ///< a ceiling that explains less of the time is not the limit
  double margin = 0.05;    ///< ceilings this close to each other count as equal
  double majority = 0.50;  ///< of kernel time that counters must cover to decide
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
};

/// Pure: the same evidence gives the same words.
///
/// With a device, the first question is whether it is busy. If it is idle for half of the time or
/// more, the phase is launch-bound or host-bound, depending on the cause of the larger part of the
/// idle time. If it is busy for three quarters or more, the phase is bound by what bounds its
/// kernels (from counters, if they cover most of the kernel time), or by the nearer ceiling for
/// what the phase must compute and move. In between it is mixed. On a CPU the ceilings decide, and
/// if neither explains the time, the length of operator calls does.
Judgement judge(const PhaseEvidence& evidence, const Limits& limits = {});

}  // namespace profline::judgement
