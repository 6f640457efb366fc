#include "pipeline/child_failure.h"

#include <csignal>

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

}  // namespace profline::pipeline
