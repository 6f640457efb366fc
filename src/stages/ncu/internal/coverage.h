#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/stage.h"

/// Which launches a capture of ncu's covers, in words.
namespace profline::stages::internal {

/// A bound on the number of launches.
struct LaunchLimit {
  std::uint32_t count = 0;
  /// `the first 2000 launches inside decode (pipeline.ncu.max_launches)`
  std::string text;
};

/// The bound of the first attempt, or of the second, made without the ranges; nothing: there is
/// none.
std::optional<LaunchLimit> launch_limit(const settings::Ncu& ncu, bool without_gate);

/// What the plan says beside the bound: that there is none, or what a program that opens none of
/// the ranges gets.
std::vector<std::string> coverage_notes(const settings::Ncu& ncu,
                                        const settings::Workload& workload);

/// The ranges as they were given: `decode, lm*`.
std::string ranges_text(const settings::Ncu& ncu);

}  // namespace profline::stages::internal
