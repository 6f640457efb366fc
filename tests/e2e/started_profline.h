#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/files.h"

namespace profline::e2e {

/// profline as a process of our own, to be sent signals. What it prints goes to `err` in its
/// folder.
class Started {
 public:
  Started(const std::filesystem::path& folder, std::vector<std::string> words,
          const std::map<std::string, std::string>& env = {});
  /// Killed, if it still runs.
  ~Started();
  Started(const Started&) = delete;
  Started& operator=(const Started&) = delete;

  pid_t pid() const { return pid_; }
  /// True when it ended within that time.
  bool ends_within(std::chrono::milliseconds limit) const;
  /// Sends a signal and gives how it ended: an exit code, or minus the signal.
  int end(int signal);

 private:
  pid_t pid_;
  FileDescriptor fd_;
};

/// Looks again and again until it is so; false when it never is, or when that process ended first.
bool comes_true(const std::function<bool()>& condition, const Started* while_running = nullptr);

/// Living processes, ourselves aside, whose command line, environment or working folder names this
/// folder: all that a run there has started, and what those have.
std::vector<std::string> processes_of(const std::filesystem::path& folder);

}  // namespace profline::e2e
