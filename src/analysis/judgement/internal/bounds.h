#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/judgement/judge.h"

namespace profline::judgement::internal {

/// Parts of a phase's time, 0 to 1, as lower bounds; 0: nothing is known.
struct Shares {
  double compute = 0;
  double memory = 0;
  bool is_cached = false;  ///< the bytes came from a cache, so that `memory` is 0
};

/// What each kind of evidence proves, and the class that follows.
class Bounds {
 public:
  /// Both must outlive it.
  Bounds(const PhaseEvidence& evidence, const Limits& limits)
      : evidence_(evidence), limits_(limits) {}

  Shares floor() const;
  Shares live() const;
  /// Kernels at each limit, as shares of the phase.
  Shares counters() const;
  /// Both ceilings are near, and equally so.
  bool floor_is_tied() const;
  /// Of the time of the same work; nothing if no tool recorded the device.
  std::optional<double> busy_share() const;
  /// Of kernel time.
  double counted_share() const;

  Class decide() const;
  std::vector<Step> steps() const;

 private:
  std::optional<Class> by_floor() const;
  std::optional<Class> by_operators() const;
  std::optional<Class> by_activity() const;
  std::optional<Class> by_live() const;
  std::optional<Class> by_counters() const;
  /// The class of `named`, unless `whole` says that the other limit is just as real.
  std::optional<Class> one_of(const Shares& named, const Shares& whole) const;
  Class undecided() const;
  std::string finding(Evidence evidence) const;
  double share(const std::optional<double>& ns) const;

  const PhaseEvidence& evidence_;
  const Limits& limits_;
};

}  // namespace profline::judgement::internal
