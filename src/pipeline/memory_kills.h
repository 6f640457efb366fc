#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "pipeline/stage.h"
#include "process/exit.h"

namespace profline::pipeline {

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
