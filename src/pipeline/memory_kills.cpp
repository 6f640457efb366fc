#include "pipeline/memory_kills.h"

#include <charconv>
#include <csignal>

#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"

namespace profline::pipeline {
namespace {

namespace fs = std::filesystem;

/// The number of the line `oom_kill N`, which three files of the kernel's have.
std::optional<std::uint64_t> kills_in(const fs::path& file) {
  constexpr std::string_view kKey = "oom_kill ";
  const std::string text = read_file(file).value_or("");
  for (const std::string_view line : lines(text)) {
    if (!line.starts_with(kKey)) continue;
    std::uint64_t count = 0;
    const char* end = line.data() + line.size();
    const auto [stop, status] = std::from_chars(line.data() + kKey.size(), end, count);
    if (status == std::errc() && stop == end) return count;
  }
  return std::nullopt;
}

/// Version 2 is a line `0::/path` of /proc/self/cgroup, version 1 one like `4:memory:/path`. A
/// container may see its own group as the top of what is mounted, under whatever path.
std::optional<std::uint64_t> kills_in_group(const fs::path& root) {
  const std::string text = read_file(root / "proc/self/cgroup").value_or("");
  for (const std::string_view line : lines(text)) {
    const auto parts = split(line, ':');
    if (parts.size() < 3) continue;
    const fs::path path = fs::path(line.substr(parts[0].size() + parts[1].size() + 2));
    const bool is_version_1 = parts[1] == "memory";
    if (!is_version_1 && !(parts[0] == "0" && parts[1].empty())) continue;
    const fs::path mount = root / (is_version_1 ? "sys/fs/cgroup/memory" : "sys/fs/cgroup");
    const char* name = is_version_1 ? "memory.oom_control" : "memory.events";
    for (const fs::path& group : {mount / path.relative_path(), mount}) {
      if (const auto kills = kills_in(group / name)) return kills;
    }
  }
  return std::nullopt;
}

bool has_risen(std::optional<std::uint64_t> before, std::optional<std::uint64_t> after) {
  return before && after && *after > *before;
}

}  // namespace

MemoryKills memory_kills(const fs::path& root) {
  return {kills_in_group(root), kills_in(root / "proc/vmstat")};
}

std::optional<Finding> out_of_memory(const PlannedCommand& planned, const Exit& exit,
                                     const MemoryKills& before, const MemoryKills& after) {
  if (exit.succeeded() || exit.why != Exit::Why::Own) return std::nullopt;
  constexpr int kShellsCode = 128 + SIGKILL;  // also nsys', of the program it ran
  const bool was_killed = exit.signal == SIGKILL || exit.code == kShellsCode;
  const std::string fix = "give it more memory, or a smaller model or input";
  const std::string size = " (largest resident set " + human_bytes(exit.max_rss_bytes) + ")";
  if (has_risen(before.group, after.group)) {
    return Finding{Severity::Problem, "out_of_memory",
                   planned.name +
                       ": out of memory: the kernel killed a process of it with SIGKILL, as the "
                       "limit of its control group was reached" +
                       size,
                   fix, ErrorKind::Tool};
  }
  if (!was_killed || !has_risen(before.machine, after.machine)) return std::nullopt;
  return Finding{Severity::Problem, "out_of_memory",
                 planned.name +
                     ": likely out of memory: the kernel killed a process for that while it ran, "
                     "and it ended by SIGKILL" +
                     size,
                 fix, ErrorKind::Tool};
}

}  // namespace profline::pipeline
