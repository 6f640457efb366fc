#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace profline {

/// A process that outlived the child which brought it into being.
struct Leftover {
  pid_t pid = 0;
  std::string name;       ///< as the kernel has it: at most 15 bytes
  bool survived = false;  ///< still there after SIGKILL: another user's, or stuck in a driver

  bool operator==(const Leftover&) const = default;
};

/// How a child that ran came to its end.
struct Exit {
  enum class Why {
    Own,           ///< by itself, or by a signal that was not ours
    TimedOut,      ///< we stopped it: Command::timeout passed
    Cancelled,     ///< we stopped it: the user asked
    GuardianLost,  ///< its guardian process was killed, and it with that
  };

  // At most one is set. Neither: not even SIGKILL ended it within StopRules::kill_wait.
  std::optional<int> code;
  std::optional<int> signal;
  bool core_dumped = false;

  Why why = Why::Own;
  std::optional<int> stopped_by;            ///< the last signal we sent when we stopped it
  std::chrono::milliseconds time_limit{0};  ///< the timeout that passed, for TimedOut

  pid_t pid = 0;
  std::chrono::nanoseconds wall{0};
  /// User and system time, and the largest resident set, of the child and of what it waited for.
  /// The set is never less than our own was when the child was made: Linux counts from before exec.
  std::chrono::microseconds cpu_user{0};
  std::chrono::microseconds cpu_system{0};
  std::uint64_t max_rss_bytes = 0;

  std::string tail;  ///< the last kTailBytes of the log this child wrote; any bytes
  std::vector<Leftover> leftovers;

  static constexpr std::size_t kTailBytes = std::size_t{64} * 1024;

  /// Ended by itself with code 0. A child that we stopped has not succeeded, whatever its code.
  bool succeeded() const { return why == Why::Own && code == 0; }

  /// `exited with code 7`, `killed by SIGSEGV (core dumped)`, `timed out after 5 s and was killed
  /// by SIGKILL`, `cancelled and exited with code 0 on SIGINT`.
  std::string describe() const;

  /// `left 1 process behind, ended: sleep (pid 77)`; nothing when there were none.
  std::string describe_leftovers() const;
};

/// `SIGSEGV`; `signal 64` for one without a name.
std::string signal_name(int signal);

}  // namespace profline
