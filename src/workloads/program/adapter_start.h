#pragma once

#include <optional>
#include <span>
#include <string>

#include "workloads/program/recording.h"

/// Whether the Python adapter started in a program that has recorded nothing.
namespace profline::program {

/// Why the adapter did not start.
struct NotAdapted {
  std::string why;
  std::string fix;

  bool operator==(const NotAdapted&) const = default;
};

/// Nothing if the adapter started in some process, or if no Python was seen: neither in `command`,
/// the program's command line, nor among `processes`, the names of its processes.
std::optional<NotAdapted> why_not_adapted(std::span<const std::string> command,
                                          std::span<const std::string> processes,
                                          const Recording& recording);

}  // namespace profline::program
