#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/result.h"
#include "process/interrupt.h"
#include "process/runner.h"

namespace profline {

/// A child that runs while its owner does something else: a server, and the load on it. Like every
/// child it has a guardian, and it is dead, with all its descendants, when this is destroyed.
class BackgroundChild {
 public:
  /// Returns once the program runs. `observer` may be absent; it is called on another thread.
  static Result<std::unique_ptr<BackgroundChild>> start(const Command& command,
                                                        const StopRules& rules,
                                                        RunObserver* observer = nullptr);
  ~BackgroundChild();
  BackgroundChild(const BackgroundChild&) = delete;
  BackgroundChild& operator=(const BackgroundChild&) = delete;

  const ProcessId& process() const { return process_; }
  /// Null if it, or a process that it left over, still runs after that time.
  const Exit* wait(std::chrono::milliseconds at_most = std::chrono::milliseconds(0));
  /// Stops it as its rules say: SIGINT to its group, and so on. wait() says when it has ended.
  void stop() { interrupt_.request(); }
  /// The same at once: SIGKILL.
  void kill();

 private:
  BackgroundChild() = default;

  class Watch;
  Interrupt interrupt_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Result<Exit>> end_;
  bool has_started_ = false;
  ProcessId process_;
  std::jthread thread_;  // last: it uses all of the above
};

/// Sends a signal to one process, unless its pid is another's by now. False: it is gone.
bool send_signal(const ProcessId& process, int signal);

}  // namespace profline
