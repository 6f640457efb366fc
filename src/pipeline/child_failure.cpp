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
    return "it was killed from outside, or by the kernel's out-of-memory killer (see dmesg)" +
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

/// What the C++ runtime puts ahead of the reason.
std::string_view without_what(std::string_view line) {
  constexpr std::string_view kWhat = "what():";
  return line.starts_with(kWhat) ? trim(line.substr(kWhat.size())) : line;
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

}  // namespace profline::pipeline
