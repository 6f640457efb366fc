#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/redaction.h"
#include "base/result.h"

namespace profline {

/// A child process to run. There is no shell: each element of argv reaches the child verbatim.
struct Command {
  /// The program and its arguments. A program without a slash is searched for in the child's PATH;
  /// a relative path is relative to `cwd`, as after a `cd`.
  std::vector<std::string> argv;
  std::map<std::string, std::string> env{};  ///< added to our own, overriding it
  std::vector<std::string> unset_env{};      ///< removed from our own, before `env` is added
  std::filesystem::path cwd{};               ///< empty: ours
  /// stdout and stderr are appended here as they arrive. Empty: an unnamed temporary file, of which
  /// only Exit::tail remains.
  std::filesystem::path log{};
  std::filesystem::path out{};  ///< when set: stdout alone goes to a new file
  std::optional<std::chrono::milliseconds> timeout{};
  /// The child has nothing to clean up, because it only answers a query: when it is stopped, it
  /// gets a tenth of a second after each signal.
  bool stop_briefly = false;
};

/// Whether the command can be run at all: there is a program, no text contains a NUL byte (which
/// would cut it off for the child), and names of variables are valid.
Result<void> check(const Command& command);

/// The command for a person to read and paste into a POSIX shell:
///   cd /tmp && env -u LANG A='b c' nsys profile 'my app'
/// One line, unless an argument contains a line break. We never execute this text.
std::string display(const Command& command);

/// The command without the secrets in its arguments and variables, for display and for files.
Command redacted(Command command, const Redactor& redactor);

/// A process that outlived the child that started it.
struct Leftover {
  pid_t pid = 0;
  std::string name;       ///< in the kernel: at most 15 bytes
  bool survived = false;  ///< still there after SIGKILL: another user's, or stuck in a driver

  bool operator==(const Leftover&) const = default;
};

/// How a child that ran ended.
struct Exit {
  enum class Why {
    Own,           ///< by itself, or by somebody else's signal
    TimedOut,      ///< we stopped it: Command::timeout passed
    Cancelled,     ///< we stopped it: the user asked
    GuardianLost,  ///< its guardian process was killed, and so was it
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
  /// User and system time, and the largest resident set, of the child and of the processes it
  /// waited for. The resident set is never smaller than ours was at the fork: Linux counts from
  /// before exec.
  std::chrono::microseconds cpu_user{0};
  std::chrono::microseconds cpu_system{0};
  std::uint64_t max_rss_bytes = 0;

  std::string tail;  ///< the last kTailBytes of the log this child wrote; any bytes
  std::vector<Leftover> leftovers;

  static constexpr std::size_t kTailBytes = std::size_t{64} * 1024;

  /// Ended by itself with code 0. A child that we stopped did not succeed, whatever its code.
  bool succeeded() const { return why == Why::Own && code == 0; }

  /// `exited with code 7`, `killed by SIGSEGV (core dumped)`, `timed out after 5 s and was killed
  /// by SIGKILL`, `cancelled and exited with code 0 on SIGINT`.
  std::string describe() const;

  /// `left 1 orphaned process, ended: sleep (pid 77)`; empty if it left no process.
  std::string describe_leftovers() const;
};

/// `SIGSEGV`; `signal 64` for one without a name.
std::string signal_name(int signal);

/// How much of a child's output is kept, however much it prints: its beginning and its end. The
/// disk space in between is freed while the child runs.
inline constexpr std::uint64_t kLogHeadBytes = std::uint64_t{8} << 20U;
inline constexpr std::uint64_t kLogTailBytes = std::uint64_t{24} << 20U;

/// Identifies a process: pids are reused, a pid with its start time is not (until the next boot).
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
  /// About ten times per second, and once after the end: what was appended to the log, maybe
  /// nothing. If a child writes more than Exit::kTailBytes between two calls, only the latest.
  virtual void output(std::string_view /*bytes*/) {}
  /// The child has ended but processes it started have not, and are about to get SIGTERM: the time
  /// to end them in a tool's own way. The whole log was passed to output() before. May run other
  /// commands, with another runner if this one's interrupt was requested. Not called when the user
  /// is in a hurry.
  virtual void outlived() {}
  /// The same when the user is in a hurry: they are about to get SIGKILL. Only inspect them.
  virtual void abandoned() {}
};

class ProcessRunner {
 public:
  virtual ~ProcessRunner() = default;

  /// Runs the child to its end and ends any process that outlives it. An Error means that the child
  /// never ran; a child that ran and failed is an Exit.
  Result<Exit> run(const Command& command);
  Result<Exit> run(const Command& command, RunObserver& observer);

 private:
  /// `command` passed check(); `observer` may be absent.
  virtual Result<Exit> run_checked(const Command& command, RunObserver* observer) = 0;
};

/// The stdout of a program that prints an answer and ends (`nsys --version`). Any other end than
/// exit code 0 within the limit is an Error of kind Tool that quotes the output.
Result<std::string> output_of(ProcessRunner& runner, std::vector<std::string> argv,
                              std::chrono::milliseconds limit = std::chrono::seconds(20));

}  // namespace profline
