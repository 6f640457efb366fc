#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "pipeline/stage.h"
#include "process/runner.h"
#include "records/finding.h"

namespace profline::pipeline {

/// What there is to say of a child that ended and did not succeed, in the user's words: which it
/// was, how it ended, the last it said, and where the rest is.
Finding child_problem(const PlannedCommand& planned, const Exit& exit);

/// The last line of a child's output that says anything; cut where it is too long to read.
std::string last_words(const std::string& tail);

/// How many processes the kernel has killed because memory ran out; nothing where it does not say.
struct MemoryKills {
  std::optional<std::uint64_t> group;    ///< in our control group, version 1 or 2
  std::optional<std::uint64_t> machine;  ///< anywhere

  bool operator==(const MemoryKills&) const = default;
};

/// `root`: where /proc and /sys are.
MemoryKills memory_kills(const std::filesystem::path& root = "/");

/// What to say of a child that ended badly when the kernel has killed in the meantime: a process of
/// our group can only have been the child's, one elsewhere may have been.
std::optional<Finding> out_of_memory(const PlannedCommand& planned, const Exit& exit,
                                     const MemoryKills& before, const MemoryKills& after);

}  // namespace profline::pipeline
