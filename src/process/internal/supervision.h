#pragma once

#include <poll.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "process/internal/guardian.h"
#include "process/interrupt.h"
#include "process/process_table.h"
#include "process/runner.h"

namespace profline::internal {

/// The file a child writes its output to. We only ever read its end, so memory use does not grow
/// with the output. Neither does disk use: the space between the first kLogHeadBytes and the last
/// kLogTailBytes is freed, where the file system supports that, and reads as zeros.
class OutputLog {
 public:
  /// Opens `path` for appending; an unnamed temporary file if it is empty.
  static Result<OutputLog> open(const std::filesystem::path& path);

  int fd() const { return file_.get(); }

  /// What was written since the last call; if that exceeds Exit::kTailBytes, its end.
  std::string new_bytes();
  /// The last Exit::kTailBytes written since open().
  std::string tail() const;

 private:
  explicit OutputLog(FileDescriptor file);
  std::uint64_t size() const;
  void give_back_middle(std::uint64_t end);
  std::string read_between(std::uint64_t from, std::uint64_t to) const;

  FileDescriptor file_;
  std::uint64_t start_ = 0;  ///< where the output of this child begins
  std::uint64_t seen_ = 0;
  std::uint64_t given_back_ = 0;  ///< freed up to here, from the end of the head on
};

/// A new or emptied file for writing, with a descriptor above stdio, closed on exec.
Result<FileDescriptor> create_output(const std::filesystem::path& path);

/// Waits for a child of ours; false if it has not ended in time (or is not ours).
bool wait_for_child(pid_t pid, std::chrono::milliseconds at_most, int& status, rusage& usage);

/// Ends and reaps what a killed guardian left to us: our children that are younger than it and not
/// guardians themselves, with all their descendants. SIGTERM, a grace period, SIGKILL. `main` is
/// the guardian's own child, which is handled elsewhere.
std::vector<Leftover> end_orphans(const ProcessStat& guardian, pid_t main, const StopRules& rules);

/// What run() does while the child runs: waits for its end, enforces that when necessary, and makes
/// sure that no process is left. All decisions about signals and times are made here.
class Supervision {
 public:
  struct Subject {
    Guardian& guardian;
    OutputLog& log;
    const Interrupt& interrupt;
    const StopRules& rules;
    std::optional<std::chrono::milliseconds> timeout;
    RunObserver* observer;  ///< may be absent
  };
  /// `started` is the guardian's news of that kind.
  Supervision(const Subject& subject, const GuardianNews& started);

  Exit run();

 private:
  using Clock = std::chrono::steady_clock;
  enum class Wake { Done, Deadline, Interrupted };

  Wake wait(bool Supervision::*done, std::optional<Clock::time_point> deadline, int interrupt_fd);
  void take_news();
  void tick();
  void stop_main();
  void end_others();
  void kill_others();
  void recover_without_guardian();
  void note_main_ended(int status, const rusage& usage);
  void note_leftover(pid_t pid, const char* name);
  bool main_ended() const { return exit_.code || exit_.signal; }

  Subject subject_;
  Exit exit_;
  std::chrono::nanoseconds started_at_;
  Clock::time_point next_tick_;
  bool main_done_ = false;    ///< ended, or the guardian is lost
  bool others_done_ = false;  ///< no descendant is left, or the guardian is lost
  bool guardian_lost_ = false;
};

}  // namespace profline::internal
