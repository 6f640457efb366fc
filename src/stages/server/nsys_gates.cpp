#include <chrono>
#include <mutex>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/files.h"
#include "pipeline/workload_stage.h"
#include "run/names/artifact_names.h"
#include "stages/server/internal/endpoint.h"
#include "stages/server/internal/gates.h"
#include "tools/nsys/commands.h"
#include "tools/nsys/interactive.h"

namespace profline::stages::internal {
namespace {

namespace fs = std::filesystem;
using pipeline::RunSetup;
using pipeline::Severity;
using pipeline::StageContext;
using std::chrono::milliseconds;

/// A profiler's library that nsys loads into each process that it traces.
constexpr std::string_view kInjectedLibrary = "libToolsInjection";

/// How often a command is tried whose connection to nsys's agent was lost.
constexpr int kTries = 3;

std::string words_of(const Exit& exit) {
  const std::string words = pipeline::last_words(exit.tail);
  return exit.describe() + (words.empty() ? "" : ": " + words);
}

bool is_there(const fs::path& file) {
  std::error_code failure;
  return fs::exists(file, failure);
}

/// Runs a command of the plan; after an interrupt, too, because it keeps what was captured.
Result<Exit> run_anyway(const pipeline::PlannedCommand& planned, pipeline::StageRun& run) {
  if (!run.interrupt().requested()) return run.execute(planned);
  const Interrupt calm;
  PosixRunner runner(calm);
  return runner.run(planned.command);
}

/// Ends the session of a server that is gone, but not while the gate collects its capture: of two
/// `nsys stop`, one fails, and `nsys shutdown` would end the other.
class EndsAlone final : public RunObserver {
 public:
  EndsAlone(std::mutex& collecting, const fs::path& program, const std::string& id,
            const nsys::Collection& collection)
      : collecting_(collecting), ends_(program, id, collection) {}

  void outlived() override {
    const std::lock_guard alone(collecting_);
    ends_.outlived();
  }
  void abandoned() override { ends_.abandoned(); }

 private:
  std::mutex& collecting_;
  nsys::EndsSession ends_;
};

/// nsys's session of a stage, under another name in each attempt.
class OwnSession {
 public:
  OwnSession(const StageContext& context, pipeline::StageRun& run)
      : run_(run),
        program_(installed_nsys(context.tools).program),
        first_(nsys_session_id(context.setup)),
        collection_{nsys_output(context.setup).string() + ".nsys-rep", &run.interrupt()} {
    begin(first_);
  }

  const fs::path& program() const { return program_; }
  const std::string& id() const { return id_; }
  RunObserver* observer() { return &*ends_; }
  const nsys::Collection& collection() const { return collection_; }
  /// Held while a capture becomes a report.
  std::mutex& collecting() { return collecting_; }
  void remember() { run_.remember_session(id_); }

  std::string next_attempt(const Exit& exit) {
    if (attempt_ == kTries || exit.why != Exit::Why::Own) return "";
    const nsys::Messages messages = nsys::read_messages(exit.tail);
    if (!messages.agent_lost && !messages.session_in_use) return "";
    begin(first_ + "-" + std::to_string(++attempt_));
    remember();
    return messages.agent_lost ? "nsys lost the connection to its agent"
                               : "nsys has another session of that name, perhaps one that is just "
                                 "ending";
  }
  /// A command of the plan in this attempt.
  pipeline::PlannedCommand command(pipeline::PlannedCommand planned) const {
    if (attempt_ == 1) return planned;
    planned.name += " again";
    for (const std::string_view option : {"--session=", "--session-new="}) {
      for (std::string& word : planned.command.argv) {
        if (word == std::string(option) + first_) word = std::string(option) + id_;
      }
    }
    return planned;
  }

 private:
  void begin(std::string id) {
    id_ = std::move(id);
    ends_.emplace(collecting_, program_, id_, collection_);
  }

  pipeline::StageRun& run_;
  fs::path program_;
  std::string first_;
  std::string id_;
  nsys::Collection collection_;
  int attempt_ = 1;
  std::mutex collecting_;
  std::optional<EndsAlone> ends_;
};

/// The gates of a server that nsys starts.
class GateOfNsys : public WindowGate {
 public:
  RunObserver* observer() final { return session_.observer(); }
  bool starts_server() const final { return true; }
  Result<void> prepare() final {
    session_.remember();
    return {};
  }
  std::string next_attempt(const Exit& exit) final { return session_.next_attempt(exit); }
  pipeline::PlannedCommand server_command(pipeline::PlannedCommand planned) const final {
    return session_.command(std::move(planned));
  }
  std::optional<bool> traces(const server::TreeProcess& process) final {
    return server::has_loaded(process.id.pid, kInjectedLibrary);
  }
  bool has_capture() const final { return is_there(session_.collection().report); }
  /// nsys records below TMPDIR, and imports that into the report.
  std::string full_disk() const final {
    std::error_code failure;
    const std::string disk = full_disk_of(session_.collection().report.parent_path());
    return disk.empty() ? full_disk_of(fs::temp_directory_path(failure)) : disk;
  }

 protected:
  GateOfNsys(const StageContext& context, pipeline::StageRun& run) : session_(context, run) {}
  OwnSession& session() { return session_; }
  const OwnSession& session() const { return session_; }

 private:
  OwnSession session_;
};

class NsysGate final : public GateOfNsys {
 public:
  NsysGate(const StageContext& context, const pipeline::StagePlan& plan, pipeline::StageRun& run)
      : GateOfNsys(context, run), setup_(context.setup), plan_(plan), run_(run) {}

  std::string_view name() const override { return "session"; }
  Result<void> open() override;
  Result<void> close() override;
  std::chrono::seconds time_to_end() const override;
  bool lacks_metrics() const override { return lacks_metrics_; }

 private:
  Result<std::optional<std::string>> state() {
    return nsys::session_state(run_.processes(), session().program(), session().id());
  }
  Result<std::optional<std::string>> recording_state();
  Result<Exit> start();

  const RunSetup& setup_;
  const pipeline::StagePlan& plan_;
  pipeline::StageRun& run_;
  bool lacks_metrics_ = false;
};

/// Starts the capture; again, where another attempt may succeed.
Result<Exit> NsysGate::start() {
  pipeline::PlannedCommand start = session().command(plan_.command(kStart));
  int losses = 0;
  while (true) {
    Exit exit = PL_TRY(run_.execute(start));
    const bool refuses_metrics =
        !lacks_metrics_ && setup_.settings.pipeline.nsys.gpu_metrics && nsys::refuses_metrics(exit);
    std::string why;
    if (refuses_metrics) {
      lacks_metrics_ = true;
      start.command = nsys::without_metrics(std::move(start.command));
      why = "nsys cannot sample the GPU's metrics here, and did not start: it " + words_of(exit) +
            "; trying again without them";
    } else if (nsys::read_messages(exit.tail).agent_lost && ++losses < kTries && PL_TRY(state())) {
      why = "nsys lost the connection to its agent when the capture was started; trying again";
    }
    if (why.empty()) return exit;
    run_.report({Severity::Warning, "nsys_retry", std::move(why)});
    start.name += " again";
  }
}

Result<void> NsysGate::open() {
  const auto before = PL_TRY(state());
  if (!before) {
    return refused("nsys_session_gone", "nsys does not list its session " + session().id() +
                                            " any more, so no capture can be started");
  }
  const Exit exit = PL_TRY(start());
  if (exit.why == Exit::Why::Cancelled) return Error(ErrorKind::Cancelled, "interrupted");
  if (!exit.succeeded()) {
    return refused("nsys_start_failed", "nsys did not start the capture: it " + words_of(exit));
  }
  const auto after = PL_TRY(recording_state());
  if (after && nsys::is_recording(*after)) return {};
  return refused("nsys_not_recording", "nsys started the capture, but its session is in state '" +
                                           after.value_or("gone") + "'");
}

/// The state of the session, once it records; on a busy machine that takes a moment.
Result<std::optional<std::string>> NsysGate::recording_state() {
  constexpr std::chrono::seconds kPatience{10};
  constexpr milliseconds kPause{100};
  const SystemClock clock;
  const auto end = clock.now() + kPatience;
  while (true) {
    auto now = PL_TRY(state());
    const bool is_over = (now && nsys::is_recording(*now)) || clock.now() >= end;
    if (is_over || run_.interrupt().requested()) return now;
    std::this_thread::sleep_for(kPause);
  }
}

Result<void> NsysGate::close() {
  const std::lock_guard alone(session().collecting());
  const fs::path& report = session().collection().report;
  if (is_there(report)) return {};  // collected because the server has ended
  const Exit exit = PL_TRY(run_anyway(session().command(plan_.command(kStop)), run_));
  nsys::wait_for_collection(session().id(), exit, session().collection());
  if (exit.succeeded() && is_there(report)) return {};
  const std::string disk = full_disk();
  if (!disk.empty() || nsys::read_messages(exit.tail).disk_full) {
    return refused("disk_full", "nsys could not write the report: " +
                                    (disk.empty() ? std::string("the disk is full") : disk));
  }
  if (is_there(report)) return {};  // written, although the session was ending
  return refused("nsys_stop_failed",
                 "nsys left no report when the capture was stopped: it " + words_of(exit));
}

/// `nsys stop` imports the capture, so that `nsys launch` has nothing left to do but to end, unless
/// a capture is still being recorded or imported because its server has ended.
std::chrono::seconds NsysGate::time_to_end() const {
  constexpr std::chrono::seconds kEnding{45};
  const bool is_collecting =
      !has_capture() && full_disk().empty() && !nsys::open_captures(session().id()).empty();
  return is_collecting ? kLongImport : kEnding;
}

class CudaGate final : public GateOfNsys {
 public:
  CudaGate(const StageContext& context, pipeline::StageRun& run)
      : GateOfNsys(context, run),
        folder_(context.setup.stage_folder(run::stages::kNsys)),
        endpoint_(context, run) {}

  std::string_view name() const override { return "cuda"; }
  Result<void> open() override { return endpoint_.start(folder_); }
  Result<void> close() override { return endpoint_.stop(folder_); }
  bool is_closed_by_server() const override { return true; }

 private:
  fs::path folder_;
  Endpoint endpoint_;
};

/// nsys around the server for as long as it lives.
class WholeLife final : public GateOfNsys {
 public:
  WholeLife(const StageContext& context, pipeline::StageRun& run) : GateOfNsys(context, run) {}

  std::string_view name() const override { return "none"; }
  bool has_window() const override { return false; }
  Result<void> open() override { return {}; }
  Result<void> close() override { return {}; }
};

}  // namespace

std::string nsys_session_id(const RunSetup& setup) {
  return nsys::session_name(setup.folder, "");
}

fs::path nsys_output(const RunSetup& setup) {
  return setup.stage_folder(run::stages::kNsys) / fs::path(run::files::kNsysReport).stem();
}

nsys::Installation installed_nsys(const pipeline::Toolbox& tools) {
  if (tools.nsys && *tools.nsys) return **tools.nsys;
  return {"nsys", {}};
}

std::unique_ptr<WindowGate> nsys_gate(const StageContext& context, const pipeline::StagePlan& plan,
                                      pipeline::StageRun& run) {
  return std::make_unique<NsysGate>(context, plan, run);
}

std::unique_ptr<WindowGate> cuda_gate(const StageContext& context, pipeline::StageRun& run) {
  return std::make_unique<CudaGate>(context, run);
}

std::unique_ptr<WindowGate> whole_life_gate(const StageContext& context, pipeline::StageRun& run) {
  return std::make_unique<WholeLife>(context, run);
}

}  // namespace profline::stages::internal
