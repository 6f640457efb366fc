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

#include "base/atomic_file.h"
#include "base/redaction.h"
#include "base/result.h"
#include "process/interrupt.h"

namespace profline {

/// Where a shell would find `name`: a name with a slash is a path, relative to `cwd`; any other is
/// searched for in the folders of `path_text` (`/usr/local/bin:/usr/bin`; an empty entry is `cwd`).
/// Anything that is not an executable file is skipped. The result is absolute, or relative if `cwd`
/// is empty.
Result<std::filesystem::path> find_program(std::string_view name, std::string_view path_text,
                                           const std::filesystem::path& cwd);

/// The same with our own PATH and folder.
Result<std::filesystem::path> find_program(std::string_view name);

/// A program that is installed with this one: next to it, else on PATH.
Result<std::filesystem::path> find_companion(const std::string& name);

/// A variable of our environment; nothing if it is not set.
std::optional<std::string> environment_variable(std::string_view name);

/// PATH of our environment; if it is not set, the system's default, as for execvp.
std::string own_path();
/// The default for an unset PATH.
std::string default_path();

/// Where temporary files go: the folder named by TMPDIR (or TMP, TEMP, TEMPDIR), else /tmp. An
/// Error of kind NotFound that names the variable if it is not a folder or not writable: without it
/// no program can be queried.
Result<std::filesystem::path> temporary_folder();

/// A folder that a command needs only while it runs; removed with its content at the end, and on an
/// interrupt.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  /// Empty if it could not be created.
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  UnfinishedWork unfinished_;
};

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

/// How long each way of stopping a child may take before the next one is used.
struct StopRules {
  std::chrono::milliseconds interrupt_grace{std::chrono::seconds(10)};  ///< after SIGINT
  std::chrono::milliseconds terminate_grace{std::chrono::seconds(5)};   ///< after SIGTERM
  /// After SIGKILL, which only a process stuck in the kernel or of another user survives; then we
  /// give up and report it, rather than wait forever.
  std::chrono::milliseconds kill_wait{std::chrono::seconds(5)};
  /// How long processes that outlive the child may take to end by themselves: helpers that are
  /// about to exit are not worth mentioning.
  std::chrono::milliseconds settle{100};
};

/// Runs real child processes, each under its own guardian process (see internal/guardian.h): in
/// their own process group, without a terminal and with an empty stdin. They and all their
/// descendants are dead when run() returns or we die.
///
/// To stop: SIGINT to the child's group, interrupt_grace, SIGTERM, terminate_grace, SIGKILL.
/// Processes that outlive the child get SIGTERM, terminate_grace, SIGKILL, and are listed in the
/// Exit. An interrupt in a hurry goes to SIGKILL at once.
///
/// Makes this program a child subreaper, permanently. Several threads may run commands at once; but
/// if a guardian is killed, every child of this program that is younger than it is treated as its
/// orphan and ended, so start children only through runners.
class PosixRunner final : public ProcessRunner {
 public:
  explicit PosixRunner(const Interrupt& interrupt, StopRules rules = {});

 private:
  Result<Exit> run_checked(const Command& command, RunObserver* observer) override;

  const Interrupt& interrupt_;
  StopRules rules_;
};

}  // namespace profline
