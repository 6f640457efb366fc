// The process between us and a child, which ensures that no process survives, whoever is killed.
//
//   profline ---- socket ---- guardian ---- child (leads its own process group)
//                                             \---- what the child starts, however it detaches
//
// The guardian is a child subreaper: a descendant whose parent ends becomes its child, so it can
// wait for all of them, and "no child left" means "no descendant left". It makes no decisions. What
// it does:
//
//   at its start      forks the child, then reports Started or ForkFailed
//   a child ends      reaps it; for the child itself reports MainEnded, with its status and usage
//   nothing is left   reports NoneLeft and exits, if the child has ended
//   SignalGroup n     sends n to the child's process group, unless the child has ended
//   SignalAll n       sends n to every descendant and reports Signalled for each
//   Leave             exits at once; what still runs becomes our child
//   socket closed     we were killed, or have given up: SIGTERM to every descendant,
//                     terminate_grace, SIGKILL until none is left or kill_wait has passed, exits
//
// If the guardian is killed, the child gets SIGKILL as its parent-death signal, the socket closes
// and we inherit the rest, being a subreaper as well.
//
// Orders and news are packets on a SOCK_SEQPACKET pair. Whether exec succeeded is reported by the
// child itself on a pipe that exec closes: no data means success.

#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "process/process_table.h"
#include "process/runner.h"

namespace profline::internal {

/// Everything that guardian and child need, built before fork: nothing may be allocated after it.
struct LaunchPlan {
  const char* program = nullptr;  ///< a path for execve
  char* const* argv = nullptr;
  char* const* envp = nullptr;
  const char* cwd = nullptr;             ///< null: stay
  std::array<int, 3> stdio{-1, -1, -1};  ///< all above 2
  std::chrono::milliseconds terminate_grace{0};
  std::chrono::milliseconds kill_wait{0};
};

struct GuardianOrder {
  enum class Kind : std::int32_t { SignalGroup, SignalAll, Leave };
  Kind kind = Kind::Leave;
  std::int32_t signal = 0;
};

struct GuardianNews {
  enum class Kind : std::int32_t { Started, ForkFailed, MainEnded, Signalled, NoneLeft };
  Kind kind = Kind::NoneLeft;
  pid_t pid = 0;                  ///< Started, MainEnded: the child; Signalled: that descendant
  std::uint64_t start_ticks = 0;  ///< Started: of the child
  int error = 0;                  ///< ForkFailed: errno
  int status = 0;                 ///< MainEnded: as returned by wait()
  bool others_remain = false;     ///< MainEnded: NoneLeft does not follow at once
  std::int64_t at_ns = 0;         ///< Started, MainEnded: the monotonic clock
  rusage usage{};                 ///< MainEnded
  std::array<char, 16> name{};    ///< Signalled
};

/// What prevented the child from running its program.
struct LaunchFailure {
  enum class Step : std::int32_t { ChangeFolder, Execute };
  Step step = Step::Execute;
  int error = 0;  ///< errno
};

/// Name of every guardian in /proc and ps.
constexpr const char* kGuardianName = "profline-guard";

/// The guardian's whole life; in guardian_main.cpp. `news` is its end of the socket and `failures`
/// its end of the pipe. All signals are blocked.
[[noreturn]] void guardian_main(const LaunchPlan& plan, int news, int failures) noexcept;

/// Our handle on a guardian. Destroying it closes the socket, upon which the guardian ends all
/// remaining processes, and waits for the guardian.
class Guardian {
 public:
  static Result<Guardian> start(const LaunchPlan& plan);
  Guardian(Guardian&& other) noexcept;
  Guardian& operator=(Guardian&&) = delete;
  ~Guardian();

  /// Waits until the child runs its program (returns nothing) or fails to.
  std::optional<LaunchFailure> wait_for_exec();

  /// The guardian as /proc showed it at its start.
  const ProcessStat& process() const { return process_; }
  int fd() const { return socket_.get(); }

  /// Does nothing if the guardian is gone; next_news() reports that.
  void send(GuardianOrder order) const;
  /// Waits for news; nothing if the guardian is gone.
  std::optional<GuardianNews> next_news() const;

  /// Waits until the guardian has exited; it must be about to.
  void reap();

 private:
  Guardian(pid_t pid, FileDescriptor socket, FileDescriptor failures);

  ProcessStat process_;
  FileDescriptor socket_;
  FileDescriptor failures_;
};

/// A command in the form that execve takes: program found, environment merged, all arrays built.
class ExecImage {
 public:
  /// `command` must outlive the image.
  static Result<ExecImage> of(const Command& command);

  /// Fills in the fields of the program; descriptors and times stay unchanged.
  void describe_to(LaunchPlan& plan) const;

  /// The Error for a child that failed to run this.
  Error error_of(const LaunchFailure& failure) const;

 private:
  explicit ExecImage(const Command& command) : command_(&command) {}

  const Command* command_;
  std::filesystem::path program_;
  std::vector<std::string> env_;
  std::vector<char*> argv_pointers_;
  std::vector<char*> env_pointers_;
};

}  // namespace profline::internal
