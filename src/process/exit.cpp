#include "process/exit.h"

#include <cstring>

namespace profline {
namespace {

std::string duration_text(std::chrono::milliseconds duration) {
  const auto count = duration.count();
  return count % 1000 == 0 ? std::to_string(count / 1000) + " s" : std::to_string(count) + " ms";
}

std::string killed_by(const Exit& exit) {
  return "killed by " + signal_name(*exit.signal) + (exit.core_dumped ? " (core dumped)" : "");
}

std::string exited_with(const Exit& exit) {
  std::string text = "exited with code " + std::to_string(*exit.code);
  if (exit.stopped_by) text += " on " + signal_name(*exit.stopped_by);
  return text;
}

std::string end_of(const Exit& exit, const char* verb_of_kill) {
  if (exit.code) return exited_with(exit);
  if (exit.signal) return verb_of_kill + killed_by(exit);
  return "is still running as pid " + std::to_string(exit.pid) + ": not even SIGKILL ended it";
}

}  // namespace

std::string Exit::describe() const {
  switch (why) {
    case Why::Own:
      return end_of(*this, "");
    case Why::TimedOut:
      return "timed out after " + duration_text(time_limit) + " and " + end_of(*this, "was ");
    case Why::Cancelled:
      return "cancelled and " + end_of(*this, "");
    case Why::GuardianLost:
      return "lost its guardian process and " + end_of(*this, "was ");
  }
  return {};
}

std::string Exit::describe_leftovers() const {
  if (leftovers.empty()) return {};
  std::string ended;
  std::string surviving;
  for (const Leftover& leftover : leftovers) {
    std::string& list = leftover.survived ? surviving : ended;
    if (!list.empty()) list += ", ";
    list += leftover.name + " (pid " + std::to_string(leftover.pid) + ')';
  }
  std::string text = "left " + std::to_string(leftovers.size()) +
                     (leftovers.size() == 1 ? " process behind" : " processes behind");
  if (!ended.empty()) text += ", ended: " + ended;
  if (!surviving.empty()) text += ", still running: " + surviving;
  return text;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

}  // namespace profline
