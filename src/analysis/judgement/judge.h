#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/judgement/evidence.h"

namespace profline::judgement {

/// What keeps a stage from being faster.
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

/// Where the classes begin. Shares are of the stage's time, 0 to 1.
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
/// the stage is bound by launches or else by the host, whichever the larger part of the idle time
/// is put down to; busy for three quarters or more, it is bound by what its kernels are bound by
/// (counters, where they cover most of the kernel time) or by the nearer ceiling of what the stage
/// must compute and move; between the two it is mixed. On a CPU the ceilings decide, and where
/// neither explains the time the length of operator calls does.
Judgement judge(const StageEvidence& evidence, const Limits& limits = {});

}  // namespace profline::judgement
