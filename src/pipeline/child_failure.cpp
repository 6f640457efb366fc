#include "pipeline/child_failure.h"

#include <charconv>
#include <csignal>

#include "base/files.h"
#include "base/strings.h"

namespace profline::pipeline {
namespace {

constexpr std::size_t kMostWords = 400;
constexpr std::string_view kGroups = "/sys/fs/cgroup";

std::string subject(const PlannedCommand& planned) {
  const std::filesystem::path program = planned.command.argv.front();
  return planned.name + " (" + program.filename().string() + ")";
}

/// `0::/user.slice` of /proc/self/cgroup, for the unified hierarchy.
std::string own_group() {
  const std::string text = read_file("/proc/self/cgroup").value_or("");
  for (const std::string_view line : lines(text)) {
    if (line.starts_with("0::")) return std::string(line.substr(3));
  }
  return {};
}

std::string fix_for(const PlannedCommand& planned, const Exit& exit) {
  std::string log =
      planned.command.log.empty() ? "" : "its output: " + planned.command.log.string();
  if (exit.why == Exit::Why::Own && exit.signal == SIGKILL) {
    return "somebody killed it, or the kernel did for want of memory (dmesg tells)" +
           (log.empty() ? "" : "; " + log);
  }
  return log;
}

}  // namespace

std::string last_words(const std::string& tail) {
  std::string_view last;
  for (const std::string_view line : lines(tail)) {
    if (!trim(line).empty()) last = trim(line);
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

std::optional<std::uint64_t> out_of_memory_kills() {
  const std::string file = std::string(kGroups) + own_group() + "/memory.events";
  const std::string text = read_file(file).value_or("");
  constexpr std::string_view kKey = "oom_kill ";
  for (const std::string_view line : lines(text)) {
    if (!line.starts_with(kKey)) continue;
    std::uint64_t count = 0;
    std::from_chars(line.data() + kKey.size(), line.data() + line.size(), count);
    return count;
  }
  return std::nullopt;
}

}  // namespace profline::pipeline
