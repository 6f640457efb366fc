#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "process/runner.h"
#include "tools/kineto/responder.h"

namespace profline::kineto {

/// Whether a process has libtorch loaded. Reading the list of its libraries delays the process a
/// little.
bool loads_torch(pid_t pid);

/// A process of the program, as /proc showed it.
struct WatchedProcess {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::string name{};      ///< as the kernel knows it: at most 15 bytes
  bool has_torch = false;  ///< it had libtorch loaded, and so could record a trace
  bool is_copy = false;    ///< forked from its parent, and runs the same program
  Clock::Steady last_seen{};

  bool operator==(const WatchedProcess&) const = default;
};

/// Notes, about once per second, which processes a child has and which of them load libtorch. A
/// process that lives for less than a second may be missed.
class ProcessWatch final : public RunObserver {
 public:
  explicit ProcessWatch(const Clock& clock) : clock_(clock) {}

  void started(const ProcessId& child) override;
  void output(std::string_view bytes) override;

  /// In the order in which they were first seen.
  const std::vector<WatchedProcess>& processes() const { return processes_; }

 private:
  struct Look {
    Clock::Steady next{};
    std::uint32_t looks = 0;
  };
  void look(pid_t pid);

  const Clock& clock_;
  pid_t child_ = 0;
  Clock::Steady next_look_{};
  std::vector<WatchedProcess> processes_;
  std::vector<Look> looks_;  // one for each process: when its libraries are listed again
};

/// What became of the trace of a process.
enum class Outcome : std::uint8_t {
  Traced,       ///< its file is complete
  Truncated,    ///< its file ends too early
  EndedEarly,   ///< it ended before the trace could be complete, and left no file
  NotWritten,   ///< it was asked, kept running, and left no file
  NotAsked,     ///< it polled, but its turn never came
  NeverPolled,  ///< it uses libtorch but never polled: no Kineto, or no on-demand tracing in it
  Forked,       ///< the same, and it is a copy of its parent: libkineto does not work in copies
};

struct ProcessTrace {
  std::int32_t pid = 0;
  std::string name;  ///< empty: not known
  Outcome outcome = Outcome::NotAsked;
  std::filesystem::path file{};  ///< of a Traced or Truncated one

  bool operator==(const ProcessTrace&) const = default;
};

/// The outcome for every process that sent a message, in the order of their first messages, and
/// then for those that use libtorch and sent none. Looks for the files.
std::vector<ProcessTrace> outcomes(const Traffic& traffic,
                                   const std::vector<WatchedProcess>& processes,
                                   const TraceRequest& trace);

/// Whether a Chrome trace was written to its end. Reads only the beginning and the end of the file.
bool is_complete_trace(const std::filesystem::path& file);

}  // namespace profline::kineto
