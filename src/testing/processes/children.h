#pragma once

// Child processes of tests, and what became of them.

#include <signal.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "process/process_table.h"
#include "process/runner.h"

namespace profline::process_test {

/// Runs test_child.cpp with these arguments.
Command child(std::vector<std::string> script);

/// Long enough that only a bug exceeds them, short enough to wait for.
constexpr std::chrono::milliseconds kLong = std::chrono::seconds(30);
constexpr std::chrono::milliseconds kShort{20};

// Under AddressSanitizer a fork takes tens of milliseconds: it copies the tables of the shadow
// memory.
#if defined(__SANITIZE_ADDRESS__)
constexpr int kManyRuns = 50;
#else
constexpr int kManyRuns = 1000;
#endif

/// Rules under which a stop proceeds to `signal` quickly, and stays there.
StopRules patience_ends_at(int signal);

/// Does something as soon as the output of a child contains a text.
class WhenSaid : public RunObserver {
 public:
  WhenSaid(std::string text, std::function<void()> action)
      : text_(std::move(text)), action_(std::move(action)) {}

  void started(const ProcessId& process) override { child = process; }
  void output(std::string_view bytes) override;

  ProcessId child;
  std::string said;

 private:
  std::string text_;
  std::function<void()> action_;
};

/// 4711 for a line `name=4711`; 0 without such a line.
pid_t pid_said(const std::string& output, const std::string& name);

/// Waits until that process has ended, and reaps it if it is our child; false after kLong.
bool has_ended(pid_t pid);

/// Children of this process, zombies included.
std::vector<pid_t> own_children();

std::size_t open_descriptors();

}  // namespace profline::process_test
