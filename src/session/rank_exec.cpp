#include "session/rank_exec.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <mutex>
#include <thread>
#include <utility>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/files.h"
#include "formats/json.h"
#include "pipeline/workload_stage.h"
#include "process/process_table.h"
#include "records/ranks.h"
#include "run/names/artifact_names.h"
#include "run/run_folder.h"
#include "stages/baseline/process_watch.h"
#include "stages/torch_profiler/on_demand.h"
#include "tools/kineto/environment.h"
#include "tools/nsys/commands.h"
#include "workloads/program/environment.h"
#include "workloads/ranks/launch.h"

namespace profline::session {
namespace {

namespace fs = std::filesystem;
using ranks::LaunchTask;
using ranks::RankTask;
using std::chrono::milliseconds;

constexpr int kSignalBase = 128;

std::int64_t unix_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             SystemClock().wall_now().time_since_epoch())
      .count();
}

/// rank.json, which two threads write.
class RankFile {
 public:
  RankFile(fs::path file, RankProcess record)
      : file_(std::move(file)), record_(std::move(record)) {}

  Result<void> change(const std::function<void(RankProcess&)>& change) {
    const std::lock_guard lock(mutex_);
    change(record_);
    return write_file_atomic(file_, PL_TRY(to_document(record_)));
  }

 private:
  std::mutex mutex_;
  fs::path file_;
  RankProcess record_;
};

/// Records that the launcher asked this rank to end as soon as it does: some launchers kill what
/// remains a second later.
class StopNotes {
 public:
  StopNotes(const Interrupt& interrupt, RankFile& file)
      : thread_([&interrupt, &file](const std::stop_token& stop) {
          constexpr int kLookMs = 50;
          while (!stop.stop_requested()) {
            pollfd asked{interrupt.requested_fd(), POLLIN, 0};
            if (::poll(&asked, 1, kLookMs) <= 0) continue;
            static_cast<void>(file.change([](RankProcess& rank) { rank.stopped = true; }));
            return;
          }
        }) {}

 private:
  std::jthread thread_;
};

/// Passes everything on, and notes the child's pid and start.
class NotesStart final : public RunObserver {
 public:
  NotesStart(RunObserver* next, RankFile& file) : next_(next), file_(file) {}

  void started(const ProcessId& child) override {
    static_cast<void>(file_.change([&](RankProcess& rank) {
      rank.pid = child.pid;
      rank.started_ns = unix_ns();
    }));
    if (next_ != nullptr) next_->started(child);
  }
  void output(std::string_view bytes) override {
    if (next_ != nullptr) next_->output(bytes);
  }
  void outlived() override {
    if (next_ != nullptr) next_->outlived();
  }
  void abandoned() override {
    if (next_ != nullptr) next_->abandoned();
  }

 private:
  RunObserver* next_;
  RankFile& file_;
};

Command command_of(const RankTask& task, const std::vector<std::string>& program) {
  Command command;
  command.argv = task.prefix;
  command.argv.insert(command.argv.end(), program.begin(), program.end());
  command.env = task.env;
  command.log = task.log;
  return command;
}

Command without_kineto(Command command) {
  for (const auto& [name, value] : kineto::environment({}, {}, {})) command.env.erase(name);
  command.env.erase(program::kForAdapter);
  return command;
}

kineto::TraceRequest trace_of(const RankTask& task, const ranks::OnDemandTask& wanted) {
  return {.file = stages::on_demand_file(task.folder),
          .duration = milliseconds(wanted.duration_ms),
          .cpu = wanted.cpu,
          .cuda = wanted.cuda,
          .shapes = wanted.shapes,
          .memory = wanted.memory,
          .stacks = wanted.stacks};
}

/// One rank from its start to its end.
class RankRunner {
 public:
  RankRunner(const LaunchTask& launch, const RankTask& task, RankFile& file, Command command,
             ProcessRunner& runner)
      : launch_(launch), task_(task), file_(file), command_(std::move(command)), runner_(runner) {}

  Result<Exit> run() {
    if (launch_.stage == run::stages::kBaseline) return run_baseline();
    if (task_.profiled && launch_.on_demand && !task_.sockets.empty()) return run_traced();
    if (task_.profiled && !task_.session.empty()) {
      nsys::EndsSession ends_session(command_.argv.front(), task_.session);
      return execute(command_, &ends_session);
    }
    return execute(command_, nullptr);
  }

 private:
  Result<Exit> execute(const Command& command, RunObserver* observer) {
    NotesStart notes(observer, file_);
    return runner_.run(command, notes);
  }

  Result<Exit> run_baseline() {
    stages::ProcessWatch watch;
    const Exit exit = PL_TRY(execute(command_, &watch));
    PL_TRY(write_file_atomic(fs::path(task_.folder) / run::files::kProcess,
                             PL_TRY(write_json(process_document(exit, watch.processes())))));
    return exit;
  }

  Result<Exit> run_traced() {
    const ranks::OnDemandTask& wanted = *launch_.on_demand;
    const stages::OnDemandRun traced{
        .sockets = task_.sockets,
        .trace = trace_of(task_, wanted),
        .window = {milliseconds(wanted.after_ms), milliseconds(wanted.duration_ms)},
        .recorded = task_.record_folder,
        .makers = task_.makers};
    const auto execute_it = [&](RunObserver* observer) {
      return execute(observer == nullptr ? without_kineto(command_) : command_, observer);
    };
    return stages::run_on_demand(traced, execute_it, [&](Finding finding) {
      static_cast<void>(
          file_.change([&](RankProcess& rank) { rank.findings.push_back(std::move(finding)); }));
    });
  }

  const LaunchTask& launch_;
  const RankTask& task_;
  RankFile& file_;
  Command command_;
  ProcessRunner& runner_;
};

/// A launcher signals the program and this process, in any order: whether our own signal arrives
/// shortly after the program ended by one.
bool was_stopped(const Exit& exit, const Interrupt& interrupt) {
  constexpr int kShortlyMs = 1000;
  const bool may_be = exit.signal == SIGTERM || exit.signal == SIGINT || exit.signal == SIGHUP;
  pollfd asked{interrupt.requested_fd(), POLLIN, 0};
  return interrupt.requested() || (may_be && ::poll(&asked, 1, kShortlyMs) > 0);
}

Result<int> carry_out_rank(const LaunchTask& launch, const RankTask& task, RankFile& file,
                           const std::vector<std::string>& program, const Services& services) {
  // The launcher itself waits no longer than this, or kills.
  constexpr StopRules kRules{.interrupt_grace = std::chrono::seconds(5),
                             .terminate_grace = std::chrono::seconds(3)};
  const Interrupt::OrderlyStop until_recorded(services.interrupt);
  const StopNotes stop_notes(services.interrupt, file);
  PosixRunner runner(services.interrupt, kRules);
  const auto exit = RankRunner(launch, task, file, command_of(task, program), runner).run();
  if (!exit) {
    PL_TRY(file.change([&](RankProcess& rank) {
      rank.ended_ns = unix_ns();
      rank.end = "could not be started: " + exit.error().to_string();
      rank.stopped = exit.error().kind() == ErrorKind::Cancelled;
    }));
    return exit.error();
  }
  const bool stopped = was_stopped(*exit, services.interrupt);
  PL_TRY(file.change([&](RankProcess& rank) {
    rank.ended_ns = rank.started_ns + exit->wall.count();
    rank.code = exit->code;
    rank.signal = exit->signal;
    rank.end = exit->describe();
    rank.stopped = stopped;
    if (!exit->succeeded() && !stopped) rank.last_words = pipeline::last_words(exit->tail);
  }));
  if (exit->code) return *exit->code;
  return kSignalBase + exit->signal.value_or(SIGKILL);
}

}  // namespace

Result<int> run_rank(const fs::path& launch_file, const std::vector<std::string>& program,
                     const Services& services) {
  const auto launch =
      PL_TRY(from_document<LaunchTask>(PL_TRY(read_file(launch_file)), launch_file.string()));
  const ranks::RankPlace place = PL_TRY(ranks::place_of(launch.launcher, program::inherited));
  const auto task = std::find_if(launch.ranks.begin(), launch.ranks.end(),
                                 [&](const RankTask& one) { return one.rank == place.rank; });
  if (task == launch.ranks.end()) {
    return Error(ErrorKind::Config, "the launcher started rank " + std::to_string(place.rank) +
                                        ", but the run has " + std::to_string(launch.ranks.size()) +
                                        " ranks");
  }
  PL_TRY(create_folders(fs::path(task->log).parent_path()));
  if (!task->record_folder.empty()) PL_TRY(create_folders(task->record_folder));
  RankProcess record;
  record.rank = place.rank;
  record.local_rank = place.local_rank;
  record.host = run::host_name();
  record.node = place.node.empty() ? record.host : place.node;
  record.profiled = task->profiled;
  record.started_ns = unix_ns();
  RankFile file(fs::path(task->folder) / run::files::kRank, std::move(record));
  PL_TRY(file.change([](RankProcess&) {}));
  return carry_out_rank(launch, *task, file, program, services);
}

}  // namespace profline::session
