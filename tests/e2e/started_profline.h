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

/// profline as a process that can be sent signals. Its output goes to `err` in its folder.
class Started {
 public:
  /// It ignores the signals in `ignored`, like what a script started with `&`.
  Started(const std::filesystem::path& folder, std::vector<std::string> words,
          const std::map<std::string, std::string>& env = {}, const std::vector<int>& ignored = {});
  /// Kills it if it is still running.
  ~Started();
  Started(const Started&) = delete;
  Started& operator=(const Started&) = delete;

  pid_t pid() const { return pid_; }
  /// Whether it ended within that time.
  bool ends_within(std::chrono::milliseconds limit) const;
  /// Sends a signal and returns how it ended: an exit code, or minus the signal.
  int end(int signal);

 private:
  pid_t pid_;
  FileDescriptor fd_;
};

/// Polls until the condition holds; false if it never does, or if that process ended first.
bool comes_true(const std::function<bool()>& condition, const Started* while_running = nullptr);

/// Living processes, except ourselves, whose command line, environment or working folder names this
/// folder: everything that a run there has started.
std::vector<std::string> processes_of(const std::filesystem::path& folder);

}  // namespace profline::e2e
