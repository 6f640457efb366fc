#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/ranks/capture.h"
#include "analysis/ranks/matching.h"
#include "base/result.h"
#include "records/rank_analysis.h"

namespace profline::ranks {

/// From the times of one capture to those of the reference: an offset at an instant, and a rate.
struct ClockMap {
  std::int64_t at_ns = 0;      ///< by the capture's own clock
  std::int64_t offset_ns = 0;  ///< to add at that instant
  double rate = 0;             ///< to add per nanosecond since then

  std::int64_t apply(std::int64_t own_ns) const;
  bool operator==(const ClockMap&) const = default;
};

/// One collective as two captures show it; `to` is on the clock that the other is brought onto.
struct ClockPair {
  std::int64_t own_start_ns = 0;
  std::int64_t own_end_ns = 0;
  std::int64_t to_start_ns = 0;
  std::int64_t to_end_ns = 0;
};

struct ClockFit {
  ClockMap map;
  std::int64_t uncertainty_ns = 0;  ///< nine in ten ends are within it, outliers apart
  std::uint64_t pairs = 0;
};

/// Two clocks, related by the ends of collectives: no rank can leave one before the last has
/// arrived, and then all leave together. Medians, so up to a quarter of the pairs may be wrong; a
/// rate only where there are enough pairs and it explains the ends better.
///
/// An Error says why the ends do not relate the clocks: too few, too far apart from each other, or
/// ends ahead of the arrival of others.
Result<ClockFit> fit_clock(std::span<const ClockPair> pairs);

/// How one capture relates to the reference.
struct Alignment {
  ClockState state = ClockState::NotAligned;
  ClockMap map;
  std::int64_t uncertainty_ns = 0;
  std::uint64_t pairs = 0;
  std::string why_not;

  bool is_aligned() const { return state != ClockState::NotAligned; }
};

/// One per capture. The reference is the first of the largest set of captures that can be related
/// to each other, directly or through others (their uncertainties add up).
std::vector<Alignment> align(std::span<const Capture> captures, const Matches& matches);

}  // namespace profline::ranks
