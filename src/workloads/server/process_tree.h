#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "process/runner.h"

/// The processes of a server, read from /proc.
namespace profline::server {

struct TreeProcess {
  ProcessId id;
  pid_t parent = 0;
  std::string name;               ///< in the kernel: at most 15 bytes
  std::int64_t cpu_ns = 0;        ///< used so far
  std::filesystem::path program;  ///< its executable; empty: not readable
};

/// A process and all its descendants, in order of start; without zombies.
std::vector<TreeProcess> processes_below(pid_t root);

/// Whether a process runs a program in this folder or below it; never in an empty one.
bool is_in(const TreeProcess& process, const std::filesystem::path& folder);

/// Whether a process has a GPU's device file open.
bool opens_gpu(pid_t pid);
/// Whether a process has a library loaded whose name contains this.
bool has_loaded(pid_t pid, std::string_view library);

}  // namespace profline::server
