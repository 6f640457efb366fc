#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/ranks/capture.h"

namespace profline::ranks {

/// A visit of one capture.
struct Member {
  std::uint32_t capture = 0;  ///< index of the capture
  std::uint32_t visit = 0;    ///< in Capture::visits

  bool operator==(const Member&) const = default;
};

/// A collective that at least two captures show.
struct Match {
  std::uint32_t communicator = 0;  ///< in Matches::communicators
  std::vector<Member> members;     ///< by capture

  bool operator==(const Match&) const = default;
};

/// A communicator as all captures together know it.
struct SharedCommunicator {
  Communicator about;
  std::vector<std::uint32_t> captures;  ///< that have collectives of it, ascending
};

struct Matches {
  std::vector<SharedCommunicator> communicators;
  std::vector<Match> matches;      ///< by communicator, in the order of the collectives
  std::vector<std::string> notes;  ///< shifted sequences, and those that do not match
};

/// Finds the same collective in the captures of different ranks. Ranks execute the collectives of a
/// communicator in the same order, so the sequences of kinds and sizes must be equal where the
/// captures overlap. Sequence numbers decide if they were recorded. Otherwise, if captures began or
/// ended at different collectives, the shift counts under which the sequences agree and the times
/// between the ends agree best. Sequences that agree under no shift are not matched.
Matches match(std::span<const Capture> captures);

}  // namespace profline::ranks
