#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "pipeline/stage.h"
#include "process/runner.h"
#include "records/run_record.h"

namespace profline::pipeline {

/// The finding for a child that ended without success: which child, how it ended, its last line of
/// output, and where the rest is.
Finding child_problem(const PlannedCommand& planned, const Exit& exit);

/// The last meaningful line of a child's output, cut if it is too long to read.
std::string last_words(const std::string& tail);

/// How many processes the out-of-memory killer has killed; nothing where the kernel does not report
/// it.
struct MemoryKills {
  std::optional<std::uint64_t> group;    ///< in our control group, version 1 or 2
  std::optional<std::uint64_t> machine;  ///< anywhere

  bool operator==(const MemoryKills&) const = default;
};

/// `root`: where /proc and /sys are.
MemoryKills memory_kills(const std::filesystem::path& root = "/");

/// The finding for a child that ended badly while the out-of-memory killer was active: a process
/// killed in our group must have been the child's, one killed elsewhere may have been.
std::optional<Finding> out_of_memory(const PlannedCommand& planned, const Exit& exit,
                                     const MemoryKills& before, const MemoryKills& after);

}  // namespace profline::pipeline
