#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/stage.h"
#include "process/runner.h"
#include "records/server.h"
#include "stages/server/internal/session.h"
#include "workloads/server/engine_times.h"
#include "workloads/server/life.h"
#include "workloads/server/load_progress.h"
#include "workloads/server/process_tree.h"
#include "workloads/server/readiness.h"

/// What a session consists of: the server's processes, the load on it, and a profiler's window. The
/// session (session.cpp) decides when each of them does what.
namespace profline::stages::internal {

inline constexpr std::chrono::milliseconds kTick{10};
inline constexpr double kSecondNs = 1e9;

/// `3.20 s`
std::string time_text(std::int64_t ns);
/// `exited with code 1: CUDA out of memory`
std::string end_text(const Exit& exit);

/// What the parts of one session share.
struct SessionContext {
  const pipeline::RunSetup& setup;
  const pipeline::StagePlan& plan;
  pipeline::StageRun& run;
  std::string stage;
  WindowGate* gate;  ///< null: there is no profiler

  const settings::Workload& workload() const { return workload_of(setup); }
  std::filesystem::path log() const { return server_log(setup, stage); }
  bool is_stopping() const { return run.interrupt().requested() || run.is_out_of_time(); }
};

/// The server's processes, if profline started it. A server that ran already is not ours to end:
/// its processes are not looked at.
class RunningServer {
 public:
  /// Both must outlive it.
  RunningServer(const SessionContext& session, const server::Readiness& readiness)
      : session_(session), readiness_(readiness) {}

  // Who answers at its address. A wrong answer is reported.
  /// Before it is started: whatever answers would be taken for it.
  bool port_is_taken() const;
  /// A server that profline does not start would be awaited in vain.
  bool nobody_answers() const;
  /// Once something answers: whether it is this server, and not another one.
  bool answers_itself();

  /// False: it was not started, which was reported. May be called again after release().
  Result<bool> start();
  std::int64_t started_ns() const { return started_ns_; }
  /// Ends what is left of it.
  void release() { child_.reset(); }

  /// How it ended; null: it runs, or is not ours.
  const Exit* exit() const { return child_ ? child_->wait() : nullptr; }
  bool runs() const { return child_ && exit() == nullptr; }
  /// Waits for a tick. How it ended, in words; empty: it runs.
  std::string look();
  /// Whether its first process or all of it has ended; false for a server that is not ours.
  bool has_ended(std::chrono::milliseconds at_most = std::chrono::milliseconds(0)) const;
  /// Whether the first of its processes has ended, which others may outlive.
  bool first_has_ended() const;

  /// In order of start, also those that detached themselves; without the programs of a profiler
  /// around it.
  std::vector<server::TreeProcess> processes();
  /// Takes the first of these for the one that gets the signal to stop, unless it is known.
  void choose_first(const std::vector<server::TreeProcess>& processes);

  /// Asks it to end, kills it if it does not, and waits for a profiler around it. It must run.
  /// Returns the seconds that the server itself took.
  double stop();
  /// How the server ended, and whether anything of it is left.
  void note_end(ServerRecord& record) const;

 private:
  void look_for_tools();
  std::string gone_text() const;
  bool wait_for_engine(const ProcessId& target) const;
  void kill_engine();
  void wait_for_profiler();

  const SessionContext& session_;
  const server::Readiness& readiness_;
  std::unique_ptr<pipeline::StageChild> child_;
  std::int64_t started_ns_ = 0;
  ProcessId first_;              ///< of its processes, which gets the signal to stop
  pid_t guardian_ = 0;           ///< above all of its processes, also detached ones
  std::filesystem::path tools_;  ///< of the profiler that started it
  bool was_killed_ = false;
};

/// Reads what is appended to a file.
class Follower {
 public:
  explicit Follower(std::filesystem::path file) : file_(std::move(file)) {}

  /// All of it, however much that is.
  std::string more();

 private:
  std::filesystem::path file_;
  std::uint64_t seen_ = 0;
};

/// The load generator: profline's own, or another of which only its end is known.
class RunningLoad {
 public:
  /// Seconds after which a load is taken for warm whose requests are not known.
  static constexpr double kAssumedWarmUp = 5;

  explicit RunningLoad(const SessionContext& session);

  Result<void> start();
  bool has_started() const { return child_ != nullptr; }
  std::int64_t started_ns() const { return started_ns_; }
  bool is_other() const { return session_.workload().load.command.has_value(); }

  /// Fills in what there is to see of it. It must have been started.
  void look(server::Sight& sight);
  bool is_warm() const { return is_warm_; }
  bool is_steady() const { return is_steady_; }
  const server::LoadProgress& progress() const { return progress_; }

  /// No request is needed any more: it ends once its answers have arrived. Returns when that was.
  std::int64_t finish();
  /// Ends it now, if it runs.
  void end();
  /// What it did.
  void note(ServerRecord& record);
  void release() { child_.reset(); }

 private:
  void signal(int number);
  void end_if_late();
  std::string failure(const Exit& exit) const;

  const SessionContext& session_;
  Follower progress_file_;
  server::LoadProgress progress_;
  std::unique_ptr<pipeline::StageChild> child_;
  std::int64_t started_ns_ = 0;
  std::int64_t ended_ns_ = 0;
  std::int64_t finish_asked_ns_ = 0;
  std::int64_t next_steady_ns_ = 0;
  bool is_warm_ = false;
  bool is_steady_ = false;
  bool was_signalled_ = false;
};

/// The profiler's window: it opens and closes with the gate, which may fail, and is recorded with
/// the processes that were in it. A profiler without a window has the server's whole life.
class ProfilerWindow {
 public:
  /// All three must outlive it.
  ProfilerWindow(const SessionContext& session, RunningServer& server, ServerRecord& record)
      : session_(session), gate_(session.gate), server_(server), record_(record) {}

  void open(server::Life& life);
  void close(server::Life& life);

  /// The time that processes used until now does not count.
  void begin_with(std::vector<server::TreeProcess> processes) {
    at_opening_ = std::move(processes);
  }
  /// Records the server's processes, with what they used since then.
  void note_processes(std::int64_t since_ns);

  /// What the profiler leaves on its disk may be removed as it ends, so the disk is looked at when
  /// something has happened.
  void look_at_disk();
  /// Once everything has ended: reports a window that never closed, and a full disk, which keeps a
  /// profiler from writing and ends processes that it started. Findings about those do not name it.
  void report_rest(bool server_has_died);

 private:
  void report_gate(const Error& error, const char* code);
  bool ended_first(const Error& not_closed) const;
  void note_survival();

  const SessionContext& session_;
  WindowGate* gate_;
  RunningServer& server_;
  ServerRecord& record_;
  std::vector<server::TreeProcess> at_opening_;
  std::optional<Error> not_closed_;
  std::string full_disk_;  ///< that the profiler writes to, in words; empty: there is space
  bool disk_was_reported_ = false;  ///< as the reason for which the window did not open or close
};

/// Where the time to the first token goes, by the sums that engines keep of all requests.
class EngineWatch {
 public:
  /// Both must outlive it.
  EngineWatch(const SessionContext& session, const server::Readiness& readiness)
      : session_(session), readiness_(readiness) {}

  /// Once the load is warm, when so many requests have succeeded.
  void begin(std::uint64_t requests);
  /// Of the requests since then, until so many have succeeded. Nothing if begin() was not called or
  /// the engine has no such sums.
  std::optional<ServerFirstToken> since_begin(std::uint64_t requests) const;

 private:
  std::optional<server::EngineTimes> ask() const;

  const SessionContext& session_;
  const server::Readiness& readiness_;
  std::optional<server::EngineTimes> when_warm_;
  std::uint64_t requests_when_warm_ = 0;
};

}  // namespace profline::stages::internal
