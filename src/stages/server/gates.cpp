#include "stages/server/internal/gates.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "formats/json.h"
#include "pipeline/workload_stage.h"
#include "process/process_table.h"
#include "run/names/artifact_names.h"
#include "tools/kineto/environment.h"
#include "tools/kineto/responder.h"
#include "tools/kineto/traced_processes.h"
#include "tools/nsys/commands.h"
#include "tools/nsys/interactive.h"
#include "workloads/server/command.h"
#include "workloads/server/http_request.h"

namespace profline::stages::internal {
namespace {

namespace fs = std::filesystem;
using pipeline::RunSetup;
using pipeline::Severity;
using pipeline::StageContext;
using std::chrono::milliseconds;

/// A profiler's library that nsys loads into each process that it traces.
constexpr std::string_view kInjectedLibrary = "libToolsInjection";

Error refused(const char* reason, std::string text) {
  return Error(ErrorKind::Tool, std::move(text)).with_reason(reason);
}

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

/// nsys's session of a stage, under another name in each attempt.
class OwnSession {
 public:
  OwnSession(const StageContext& context, pipeline::StageRun& run)
      : run_(run),
        program_(installed_nsys(context.tools).program),
        first_(nsys_session_id(context.setup)) {
    begin(first_);
  }

  const fs::path& program() const { return program_; }
  const std::string& id() const { return id_; }
  RunObserver* observer() { return &*ends_; }
  void remember() { run_.remember_session(id_); }

  std::string next_attempt(const Exit& exit) {
    constexpr int kTries = 3;
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
    ends_.emplace(program_, id_);
  }

  pipeline::StageRun& run_;
  fs::path program_;
  std::string first_;
  std::string id_;
  int attempt_ = 1;
  std::optional<nsys::EndsSession> ends_;
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

 protected:
  GateOfNsys(const StageContext& context, pipeline::StageRun& run) : session_(context, run) {}
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
  bool lacks_metrics() const override { return lacks_metrics_; }

 private:
  Result<std::optional<std::string>> state() {
    return nsys::session_state(run_.processes(), session().program(), session().id());
  }

  const RunSetup& setup_;
  const pipeline::StagePlan& plan_;
  pipeline::StageRun& run_;
  bool lacks_metrics_ = false;
};

Result<void> NsysGate::open() {
  const auto before = PL_TRY(state());
  if (!before) {
    return refused("nsys_session_gone", "nsys does not list its session " + session().id() +
                                            " any more, so no capture can be started");
  }
  pipeline::PlannedCommand start = session().command(plan_.command(kStart));
  Exit exit = PL_TRY(run_.execute(start));
  lacks_metrics_ = setup_.settings.pipeline.nsys.gpu_metrics && nsys::refuses_metrics(exit);
  if (lacks_metrics_) {
    run_.report({Severity::Warning, "nsys_retry",
                 "nsys cannot sample the GPU's metrics here, and did not start: it " +
                     words_of(exit) + "; trying again without them"});
    start.name += " again";
    start.command = nsys::without_metrics(std::move(start.command));
    exit = PL_TRY(run_.execute(start));
  }
  if (exit.why == Exit::Why::Cancelled) return Error(ErrorKind::Cancelled, "interrupted");
  if (!exit.succeeded()) {
    return refused("nsys_start_failed", "nsys did not start the capture: it " + words_of(exit));
  }
  const auto after = PL_TRY(state());
  if (after && nsys::is_recording(*after)) return {};
  return refused("nsys_not_recording", "nsys started the capture, but its session is in state '" +
                                           after.value_or("gone") + "'");
}

Result<void> NsysGate::close() {
  const Exit exit = PL_TRY(run_anyway(session().command(plan_.command(kStop)), run_));
  const fs::path report = nsys_output(setup_).string() + ".nsys-rep";
  if (exit.succeeded() && is_there(report)) return {};
  std::error_code failure;
  std::string disk = full_disk(report.parent_path());
  if (disk.empty()) disk = full_disk(fs::temp_directory_path(failure));
  if (!disk.empty() || nsys::read_messages(exit.tail).disk_full) {
    return refused("disk_full", "nsys could not write the report: " +
                                    (disk.empty() ? std::string("the disk is full") : disk));
  }
  if (is_there(report)) return {};  // written, although the session was ending
  return refused("nsys_stop_failed",
                 "nsys left no report when the capture was stopped: it " + words_of(exit));
}

/// A request to the engine's endpoints.
class Endpoint {
 public:
  Endpoint(const StageContext& context, pipeline::StageRun& run)
      : http_(context.setup.settings.pipeline.workload.server.http),
        url_(context.setup.settings.pipeline.workload.server.url.value_or("")),
        run_(run) {}

  Result<void> start(const fs::path& folder) const {
    return send(http_.start, http_.start_body, folder, "start");
  }
  Result<void> stop(const fs::path& folder) const {
    return send(http_.stop, http_.stop_body, folder, "stop");
  }

 private:
  Result<void> send(const std::string& request, const Node& body, const fs::path& folder,
                    const std::string& verb) const;

  const settings::ServerHttp& http_;
  std::string url_;
  pipeline::StageRun& run_;
};

Result<void> Endpoint::send(const std::string& request, const Node& body, const fs::path& folder,
                            const std::string& verb) const {
  const std::size_t blank = request.find(' ');
  server::HttpCall call{.method = request.substr(0, blank), .path = request.substr(blank + 1)};
  if (!body.is_null()) {
    call.body = server::with_traces(PL_TRY(write_json(body, {.indent = 0})), folder);
  }
  call.timeout = http_.timeout;
  const auto address = PL_TRY(server::parse_address(url_));
  const bool is_stop = verb == "stop";
  const auto answer = server::call(address, call, [&] {
    // Stopping keeps what was captured, so that one interrupt does not end it.
    return is_stop ? run_.interrupt().in_a_hurry() : run_.interrupt().requested();
  });
  if (!answer) {
    if (answer.error().kind() == ErrorKind::Cancelled) return answer.error();
    return refused(
        is_stop ? "gate_stop_hangs" : "gate_start_hangs",
        "the engine's profiler did not " + verb + ": " + request + ": " + answer.error().message());
  }
  constexpr int kOk = 200;
  constexpr int kAfterOk = 300;
  if (answer->status >= kOk && answer->status < kAfterOk) return {};
  constexpr int kNotFound = 404;
  constexpr int kConflict = 409;
  std::string text = request + " answers " + std::to_string(answer->status);
  const std::string said = pipeline::last_words(answer->body);
  if (!said.empty()) text += " (" + said + ")";
  if (answer->status == kNotFound) {
    return refused("gate_missing",
                   "the engine has no such endpoint, or was started without its "
                   "profiler: " +
                       text);
  }
  if (answer->status == kConflict) {
    return refused("gate_in_use", "the engine's profiler is in use already: " + text);
  }
  return refused("gate_refused", "the engine's profiler did not " + verb + ": " + text);
}

class HttpGate final : public WindowGate {
 public:
  HttpGate(const StageContext& context, pipeline::StageRun& run)
      : folder_(context.setup.stage_folder(run::stages::kTorchProfiler)), endpoint_(context, run) {}

  std::string_view name() const override { return "http"; }
  Result<void> open() override { return endpoint_.start(folder_); }
  Result<void> close() override { return endpoint_.stop(folder_); }

 private:
  fs::path folder_;
  Endpoint endpoint_;
};

class CudaGate final : public GateOfNsys {
 public:
  CudaGate(const StageContext& context, pipeline::StageRun& run)
      : GateOfNsys(context, run),
        folder_(context.setup.stage_folder(run::stages::kNsys)),
        endpoint_(context, run) {}

  std::string_view name() const override { return "cuda"; }
  Result<void> open() override { return endpoint_.start(folder_); }
  Result<void> close() override { return endpoint_.stop(folder_); }

 private:
  fs::path folder_;
  Endpoint endpoint_;
};

class KinetoGate final : public WindowGate {
 public:
  KinetoGate(const StageContext& context, pipeline::StageRun& run)
      : setup_(context.setup), run_(run) {}

  std::string_view name() const override { return "kineto"; }
  Result<void> prepare() override;
  Result<void> open() override;
  Result<void> close() override;
  std::optional<bool> traces(const server::TreeProcess& process) override;

 private:
  /// Processes that were asked for a trace.
  std::size_t asked() const;
  /// Those of them whose trace is not complete.
  std::vector<kineto::Client> unwritten() const;
  bool wait_until(const std::function<bool()>& done, milliseconds at_most) const;

  const RunSetup& setup_;
  pipeline::StageRun& run_;
  std::atomic<bool> is_open_{false};
  std::unique_ptr<kineto::Responder> responder_;
};

Result<void> KinetoGate::prepare() {
  const settings::TorchProfiler& own = setup_.settings.pipeline.torch_profiler;
  const auto asks_for = [&](settings::Activity activity) {
    return std::find(own.activities.begin(), own.activities.end(), activity) !=
           own.activities.end();
  };
  const fs::path folder = setup_.stage_folder(run::stages::kTorchProfiler);
  PL_TRY(write_file_atomic(folder / run::files::kKinetoConfig, kineto::config_text()));
  constexpr double kMs = 1000;
  const kineto::TraceRequest request{.file = folder / "kineto.json",
                                     .duration = milliseconds(static_cast<std::int64_t>(
                                         setup_.settings.pipeline.workload.window.seconds * kMs)),
                                     .cpu = asks_for(settings::Activity::Cpu),
                                     .cuda = asks_for(settings::Activity::Cuda),
                                     .shapes = own.record_shapes,
                                     .memory = own.profile_memory,
                                     .stacks = own.with_stack};
  responder_ = PL_TRY(kineto::Responder::open(
      kineto::socket_folder(setup_.folder), request,
      [this](const kineto::Client& /*client*/) { return is_open_.load(); }));
  return {};
}

std::size_t KinetoGate::asked() const {
  const kineto::Traffic traffic = responder_->traffic();
  return static_cast<std::size_t>(
      std::count_if(traffic.clients.begin(), traffic.clients.end(),
                    [](const kineto::Client& client) { return client.asked.has_value(); }));
}

std::vector<kineto::Client> KinetoGate::unwritten() const {
  std::vector<kineto::Client> clients = responder_->traffic().clients;
  std::erase_if(clients, [&](const kineto::Client& client) {
    return !client.asked ||
           kineto::is_complete_trace(kineto::trace_file(responder_->trace().file, client.pid));
  });
  return clients;
}

/// Whether a process may still write its trace.
bool is_running(const kineto::Client& client) {
  ProcessStat stat;
  const pid_t pid = client.kernel_pid != 0 ? client.kernel_pid : client.pid;
  return read_process(pid, stat) && !stat.is_zombie();
}

bool KinetoGate::wait_until(const std::function<bool()>& done, milliseconds at_most) const {
  const SystemClock clock;
  constexpr milliseconds kPause{10};
  const auto end = clock.now() + at_most;
  while (!done()) {
    if (clock.now() >= end || run_.interrupt().requested()) return false;
    run_.progress().tick();
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

Result<void> KinetoGate::open() {
  is_open_ = true;
  // Processes poll every second, or every five if they did not read our file.
  constexpr milliseconds kPatience{12'000};
  if (!wait_until([this] { return asked() > 0; }, kPatience)) {
    is_open_ = false;
    if (run_.interrupt().requested()) return Error(ErrorKind::Cancelled, "interrupted");
    const kineto::Traffic traffic = responder_->traffic();
    if (!traffic.elsewhere.empty()) {
      return refused("kineto_elsewhere", "the server sees profline's sockets under another path (" +
                                             traffic.elsewhere.front() + ")");
    }
    return refused("kineto_absent",
                   "no process of the server asked for a trace within 12 s: it uses no libtorch, "
                   "or one without Kineto on demand");
  }
  // The others poll within the same second.
  constexpr milliseconds kOthers{1'100};
  const std::size_t known = responder_->traffic().clients.size();
  wait_until([&] { return asked() >= known; }, kOthers);
  return {};
}

Result<void> KinetoGate::close() {
  // Each process writes its file once its time is over: a busy GPU fills 100 MB per second.
  constexpr milliseconds kPatience{180'000};
  is_open_ = false;
  const auto is_settled = [this] {
    const std::vector<kineto::Client> writing = unwritten();
    return std::none_of(writing.begin(), writing.end(), is_running);
  };
  const bool is_over = wait_until(is_settled, kPatience);
  const std::vector<kineto::Client> unwritten_ones = unwritten();
  if (unwritten_ones.empty()) return {};
  if (!is_over && run_.interrupt().requested()) return Error(ErrorKind::Cancelled, "interrupted");
  const std::string disk = full_disk(setup_.stage_folder(run::stages::kTorchProfiler));
  if (!disk.empty()) return refused("disk_full", "a trace could not be written: " + disk);
  std::vector<std::string> pids;
  for (const kineto::Client& client : unwritten_ones) pids.push_back(std::to_string(client.pid));
  const std::string who = (pids.size() == 1 ? "process " : "processes ") + join(pids, ", ");
  return refused("trace_not_written", is_over ? who + " ended before the trace was written"
                                              : who + " did not finish writing the trace within " +
                                                    human_elapsed(kPatience));
}

std::optional<bool> KinetoGate::traces(const server::TreeProcess& process) {
  if (!kineto::loads_torch(process.id.pid)) return std::nullopt;
  const kineto::Traffic traffic = responder_->traffic();
  return std::any_of(
      traffic.clients.begin(), traffic.clients.end(), [&](const kineto::Client& client) {
        const bool is_it = client.kernel_pid == process.id.pid || client.pid == process.id.pid;
        return is_it && client.asked.has_value();
      });
}

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

std::string full_disk(const fs::path& folder) {
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 20U;
  const auto free = free_bytes(folder);
  if (!free || *free >= kLeast) return {};
  return human_bytes(*free) + " left on the disk of " + folder.string();
}

std::unique_ptr<WindowGate> nsys_gate(const StageContext& context, const pipeline::StagePlan& plan,
                                      pipeline::StageRun& run) {
  return std::make_unique<NsysGate>(context, plan, run);
}

std::unique_ptr<WindowGate> cuda_gate(const StageContext& context, pipeline::StageRun& run) {
  return std::make_unique<CudaGate>(context, run);
}

std::unique_ptr<WindowGate> http_gate(const StageContext& context, pipeline::StageRun& run) {
  return std::make_unique<HttpGate>(context, run);
}

std::unique_ptr<WindowGate> kineto_gate(const StageContext& context, pipeline::StageRun& run) {
  return std::make_unique<KinetoGate>(context, run);
}

}  // namespace profline::stages::internal
