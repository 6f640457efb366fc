#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "process/command.h"
#include "process/exit.h"

namespace profline {

/// Which process: a pid is used again, a pid with its start time is not (until the next boot).
struct ProcessId {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  ///< field 22 of /proc/PID/stat: clock ticks since boot

  bool operator==(const ProcessId&) const = default;
};

/// What a caller may want to know while a child runs; called from within run(), on its thread.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  /// The program was found and is running.
  virtual void started(const ProcessId& /*child*/) {}
  /// About ten times a second, and once after the end: what the log grew by; maybe nothing. Of a
  /// child that writes faster than Exit::kTailBytes a call, only the latest.
  virtual void output(std::string_view /*bytes*/) {}
  /// The child has ended, processes it made have not, and are about to get SIGTERM: the time for a
  /// tool's own way to end them. All of the log was in output() before. May run other commands,
  /// with another runner if this one's interrupt was requested. Not called when the user is in a
  /// hurry.
  virtual void outlived() {}
  /// The same when the user is: they are about to get SIGKILL. The time for a look and no more.
  virtual void abandoned() {}
};

class ProcessRunner {
 public:
  virtual ~ProcessRunner() = default;

  /// Runs the child to its end and ends what it leaves behind. An Error means the child never ran;
  /// a child that ran and failed is an Exit.
  Result<Exit> run(const Command& command);
  Result<Exit> run(const Command& command, RunObserver& observer);

 private:
  /// `command` passed check(); `observer` may be absent.
  virtual Result<Exit> run_checked(const Command& command, RunObserver* observer) = 0;
};

}  // namespace profline
