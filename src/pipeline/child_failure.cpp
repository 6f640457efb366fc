#include "pipeline/child_failure.h"

#include <charconv>
#include <csignal>

#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"

namespace profline::pipeline {
namespace {

constexpr std::size_t kMostWords = 400;

std::string subject(const PlannedCommand& planned) {
  const std::filesystem::path program = planned.command.argv.front();
  return planned.name + " (" + program.filename().string() + ")";
}

std::string fix_for(const PlannedCommand& planned, const Exit& exit) {
  std::string log =
      planned.command.log.empty() ? "" : "its output: " + planned.command.log.string();
  if (exit.why == Exit::Why::Own && exit.signal == SIGKILL) {
    return "killed from outside, or by the kernel's out-of-memory killer (see dmesg)" +
           (log.empty() ? "" : "; " + log);
  }
  return log;
}

/// A line of the stack that libtorch prints after its reason:
///   frame #3: c10::alloc_cpu(unsigned long) + 0x1a2 (0x7f… in /usr/lib/libc10.so)
bool is_stack(std::string_view line) {
  return line.starts_with("frame #") || line.starts_with("Exception raised from ") ||
         line.starts_with("<omitting python frames>");
}

/// The prefix that the C++ runtime prints ahead of the reason.
std::string_view without_what(std::string_view line) {
  constexpr std::string_view kWhat = "what():";
  return line.starts_with(kWhat) ? trim(line.substr(kWhat.size())) : line;
}

namespace fs = std::filesystem;

/// The number in the line `oom_kill N`, which occurs in three files of the kernel.
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

/// Version 2 is the line `0::/path` of /proc/self/cgroup, version 1 a line like `4:memory:/path`.
/// In a container, our own group may be the root of the mount, whatever its path.
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

std::string last_words(const std::string& tail) {
  std::string_view last;
  for (const std::string_view line : lines(tail)) {
    const std::string_view words = trim(line);
    if (!words.empty() && !is_stack(words)) last = without_what(words);
  }
  if (last.size() <= kMostWords) return std::string(last);
  return std::string(last.substr(0, kMostWords)) + " ...";
}

Finding child_problem(const PlannedCommand& planned, const Exit& exit) {
  std::string text = subject(planned) + " " + exit.describe();
  const std::string words = last_words(exit.tail);
  if (!words.empty()) text += ": " + words;
  const bool was_killed = exit.signal.has_value() && exit.why == Exit::Why::Own;
  std::string code = was_killed ? "child_killed" : "child_failed";
  if (exit.why == Exit::Why::TimedOut) code = "timeout";
  if (exit.why == Exit::Why::Cancelled) code = "interrupted";
  return {Severity::Problem, std::move(code), std::move(text), fix_for(planned, exit),
          ErrorKind::Tool};
}

MemoryKills memory_kills(const fs::path& root) {
  return {kills_in_group(root), kills_in(root / "proc/vmstat")};
}

std::optional<Finding> out_of_memory(const PlannedCommand& planned, const Exit& exit,
                                     const MemoryKills& before, const MemoryKills& after) {
  if (exit.succeeded() || exit.why != Exit::Why::Own) return std::nullopt;
  constexpr int kShellsCode = 128 + SIGKILL;  // also used by nsys for the program it ran
  const bool was_killed = exit.signal == SIGKILL || exit.code == kShellsCode;
  const std::string fix = "give it more memory, or a smaller model or input";
  const std::string size = " (largest resident set " + human_bytes(exit.max_rss_bytes) + ")";
  if (has_risen(before.group, after.group)) {
    return Finding{Severity::Problem, "out_of_memory",
                   planned.name +
                       ": out of memory: the kernel killed one of its processes with SIGKILL "
                       "because its control group reached its memory limit" +
                       size,
                   fix, ErrorKind::Tool};
  }
  if (!was_killed || !has_risen(before.machine, after.machine)) return std::nullopt;
  return Finding{Severity::Problem, "out_of_memory",
                 planned.name +
                     ": likely out of memory: it ended with SIGKILL, and the kernel's "
                     "out-of-memory killer was active while it ran" +
                     size,
                 fix, ErrorKind::Tool};
}

}  // namespace profline::pipeline
