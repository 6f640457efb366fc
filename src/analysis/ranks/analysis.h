#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/ranks/capture.h"
#include "records/rank_analysis.h"

namespace profline::ranks {

/// Matched collectives that a rank must have entered last to be called late, and that captures of
/// one program have in common.
inline constexpr std::uint64_t kFewestCollectives = 5;

/// Gives each capture a rank, and says how: what the files state, else the last number in their
/// names, else their order. An own statement counts only if all captures have one and no two are
/// equal.
std::string number_ranks(std::span<Capture> captures);

/// Compares the captures of a program's ranks, which have different numbers. Pure.
RankAnalysis analyse(std::span<const Capture> captures);

/// The class of each matched collective, by communicator and in their order.
std::vector<CollectiveClass> classes_of(std::span<const Capture> captures);

/// What the time of one collective is. The uncertainty is that of the skew; nothing: the clocks are
/// not aligned. `is_complete`: every rank of the communicator has a capture.
CollectiveClass class_of(std::int64_t length_ns, std::int64_t skew_ns,
                         std::optional<std::int64_t> uncertainty_ns, bool is_complete);

}  // namespace profline::ranks
