#include "stages/server/internal/session.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "pipeline/workload_stage.h"
#include "process/background.h"
#include "process/process_table.h"
#include "records/load.h"
#include "run/names/artifact_names.h"
#include "tools/kineto/traced_processes.h"
#include "workloads/server/engine_times.h"
#include "workloads/server/http_request.h"
#include "workloads/server/life.h"
#include "workloads/server/load_progress.h"
#include "workloads/server/readiness.h"

namespace profline::stages::internal {
namespace {

namespace fs = std::filesystem;
using pipeline::Finding;
using pipeline::PlannedCommand;
using pipeline::RunSetup;
using pipeline::Severity;
using pipeline::StageChild;
using pipeline::StageContext;
using server::Act;
using server::Decision;
using server::TreeProcess;
using std::chrono::milliseconds;

constexpr double kSecondNs = 1e9;
constexpr milliseconds kTick{10};
/// When a load is taken for warm whose requests are not known.
constexpr double kAssumedWarmUp = 5;

std::string time_text(std::int64_t ns) {
  return duration(static_cast<double>(ns));
}

/// `exited with code 1: CUDA out of memory`
std::string end_text(const Exit& exit) {
  const std::string words = pipeline::last_words(exit.tail);
  return exit.describe() + (words.empty() ? "" : ": " + words);
}

/// `python3 (pid 77)`
std::string process_text(std::int64_t pid) {
  const std::string name(trim(read_file("/proc/" + std::to_string(pid) + "/comm").value_or("")));
  return (name.empty() ? "a process" : name) + " (pid " + std::to_string(pid) + ")";
}

/// What to do about a gate that failed for this reason.
std::string fix_for(std::string_view reason, const fs::path& log) {
  if (reason == "gate_missing") {
    return "start the engine with its profiler (docs/how-to/profile-a-server.md has the flags), or "
           "name its endpoints: pipeline.workload.server.http.start and .stop";
  }
  if (reason == "gate_in_use") return "stop the other profiler, or start the server anew";
  if (reason == "gate_start_hangs" || reason == "gate_stop_hangs") {
    return "give it longer with pipeline.workload.server.http.timeout=SECONDS; the server's "
           "output: " +
           log.string();
  }
  if (reason == "disk_full") {
    return "free some space, set TMPDIR to a folder on another disk, or shorten the window: "
           "pipeline.workload.window.seconds";
  }
  if (reason == "kineto_absent") {
    return "use a PyTorch from pip or conda, or the engine's own profiler: "
           "pipeline.workload.server.gate=http";
  }
  return "the server's output: " + log.string();
}

/// Whether a process that is known has ended.
bool is_gone(const ProcessId& process) {
  if (process.pid == 0) return false;
  ProcessStat stat;
  return !read_process(process.pid, stat) || stat.start_ticks != process.start_ticks ||
         stat.is_zombie();
}

/// Reads what is appended to a file.
class Follower {
 public:
  explicit Follower(fs::path file) : file_(std::move(file)) {}

  /// All of it, however much that is.
  std::string more() {
    auto opened = open_for_reading(file_);
    if (!opened) return {};
    std::string bytes;
    std::string part(kPart, '\0');
    while (true) {
      const ssize_t got =
          ::pread(opened->get(), part.data(), part.size(), static_cast<off_t>(seen_));
      if (got <= 0) return bytes;
      bytes.append(part, 0, static_cast<std::size_t>(got));
      seen_ += static_cast<std::uint64_t>(got);
    }
  }

 private:
  static constexpr std::size_t kPart = std::size_t{1} << 20U;

  fs::path file_;
  std::uint64_t seen_ = 0;
};

/// One life of a server.
class Session {
 public:
  Session(const StageContext& context, const pipeline::StagePlan& plan, pipeline::StageRun& run,
          std::string_view stage, WindowGate* gate, server::Readiness readiness)
      : setup_(context.setup),
        plan_(plan),
        run_(run),
        stage_(stage),
        gate_(gate),
        readiness_(std::move(readiness)),
        orderly_(run.interrupt()),
        progress_file_(load_folder(setup_, stage) / run::files::kProgress),
        progress_(workload_of(setup_).load.warmup.requests,
                  workload_of(setup_).load.arrival.is_open()
                      ? 0
                      : workload_of(setup_).load.arrival.in_flight()) {}

  Result<ServerRecord> run();

 private:
  std::string gone_text() const;
  bool is_other_load() const { return workload_of(setup_).load.command.has_value(); }
  bool has_window() const { return gate_ != nullptr && gate_->has_window(); }
  std::vector<TreeProcess> own_processes();
  bool is_stopping() const { return run_.interrupt().requested() || run_.is_out_of_time(); }
  bool port_is_taken();
  bool nobody_answers();
  Result<bool> start();
  Result<bool> start_server();
  bool starts_again();
  server::Sight look();
  void look_at_readiness(server::Sight& sight);
  void look_at_load(server::Sight& sight);
  Result<void> carry_out(Act act, server::Life& life);
  bool answers_itself();
  Result<void> start_load();
  void report_gate(const Error& error, const char* code);
  void open_window(server::Life& life);
  void close_window(server::Life& life);
  void end_load(int signal);
  void finish_load();
  void end_late_load();
  void note_load();
  void stop_server();
  bool wait_for_engine(const ProcessId& target);
  void kill_engine();
  void wait_for_profiler();
  void note_end();
  void note_survival();
  bool ended_first(const Error& not_closed);
  void look_at_disk();
  void note_full_disk();
  void look_for_tools();
  void note_processes(std::int64_t since_ns);
  void note_transitions(const server::Sight& sight);
  std::optional<server::EngineTimes> ask_engine() const;
  void note_without_profiler();
  void note_first_token();
  std::string load_failure(const Exit& exit) const;

  const RunSetup& setup_;
  const pipeline::StagePlan& plan_;
  pipeline::StageRun& run_;
  std::string stage_;
  WindowGate* gate_;
  server::Readiness readiness_;
  Interrupt::OrderlyStop orderly_;
  Follower progress_file_;
  server::LoadProgress progress_;
  ServerRecord record_;
  std::unique_ptr<StageChild> server_;
  std::unique_ptr<StageChild> load_;
  ProcessId first_;  // of the server's processes, which gets the signal to stop
  std::int64_t start_ns_ = 0;
  std::int64_t next_probe_ns_ = 0;
  std::int64_t next_steady_ns_ = 0;
  std::int64_t load_started_ns_ = 0;
  std::optional<std::string> why_not_ready_;
  std::vector<TreeProcess> at_opening_;
  pid_t guardian_ = 0;  ///< above all of the server's processes, also detached ones
  fs::path tools_;      ///< of the profiler that started the server
  std::int64_t finish_asked_ns_ = 0;
  std::int64_t load_ended_ns_ = 0;
  bool load_was_signalled_ = false;
  bool was_taken_for_warm_ = false;
  std::optional<Error> not_closed_;
  std::optional<server::EngineTimes> engine_when_warm_;  ///< only without a profiler
  std::uint64_t ended_when_warm_ = 0;
  bool is_warm_ = false;
  bool is_steady_ = false;
  bool was_killed_ = false;
  bool has_died_ = false;  ///< nobody asked it to end
  std::string full_disk_;  ///< that the profiler writes to, in words; empty: there is space
  bool disk_was_reported_ = false;  ///< as the reason for which the window did not open or close
};

/// Whatever answers there now would be taken for the server.
bool Session::port_is_taken() {
  const auto& address = readiness_.address();
  constexpr milliseconds kShort{300};
  if (!address || !server::connects(*address, kShort)) return false;
  const std::int64_t pid = server::listener_on(address->port);
  run_.report({Severity::Problem, "port_taken",
               "something answers at " + *workload_of(setup_).server.url +
                   " before the server is started" +
                   (pid > 0 ? ": " + process_text(pid) : std::string()),
               "end it, or let the server listen on another port and set "
               "pipeline.workload.server.url"});
  return true;
}

/// A server that profline does not start would be awaited in vain.
bool Session::nobody_answers() {
  constexpr milliseconds kPatience{5000};
  const auto& address = readiness_.address();
  if (!address) return false;
  const auto connected = server::connects(*address, kPatience);
  if (connected) return false;
  run_.report({Severity::Problem, "server_absent",
               "no server answers at " + record_.url + ": " + connected.error().message(),
               "start it first, or give its command after '--': profline then starts it"});
  return true;
}

Result<bool> Session::start() {
  record_.stage = stage_;
  record_.url = workload_of(setup_).server.url.value_or("");
  record_.attached = is_attached(setup_);
  start_ns_ = monotonic_ns();
  if (gate_ != nullptr) PL_TRY(gate_->prepare());
  if (record_.attached) return !nobody_answers();
  if (port_is_taken()) return false;
  return start_server();
}

Result<bool> Session::start_server() {
  PlannedCommand command = plan_.command(kServer);
  if (gate_ != nullptr) command = gate_->server_command(std::move(command));
  auto started = run_.start(command, gate_ != nullptr ? gate_->observer() : nullptr);
  if (!started) {
    if (started.error().kind() == ErrorKind::Cancelled) return std::move(started).error();
    run_.report({Severity::Problem, "server_not_started", started.error().to_string()});
    return false;
  }
  server_ = std::move(*started);
  start_ns_ = monotonic_ns();
  ProcessStat child;
  ProcessStat guardian;
  const bool is_guarded = read_process(server_->process().pid, child) &&
                          read_process(child.parent, guardian) && guardian.parent == ::getpid();
  guardian_ = is_guarded ? guardian.pid : 0;
  run_.transition("started", "pid " + std::to_string(server_->process().pid) + ", ready once " +
                                 readiness_.describe());
  return true;
}

/// Whether the server has ended, and another attempt at starting it begins.
bool Session::starts_again() {
  const Exit* exit = server_ ? server_->wait() : nullptr;
  if (exit == nullptr || gate_ == nullptr || record_.ready_s || is_stopping()) return false;
  const std::string why = gate_->next_attempt(*exit);
  if (why.empty()) return false;
  server_.reset();
  run_.report(
      {Severity::Warning, "nsys_retry", why + " before the server was ready; trying again"});
  return true;
}

void Session::look_at_readiness(server::Sight& sight) {
  constexpr std::int64_t kProbeEveryNs = 100'000'000;
  if (record_.ready_s || sight.now_ns < next_probe_ns_) {
    sight.is_ready = record_.ready_s.has_value();
    sight.why_not_ready = why_not_ready_.value_or("");
    return;
  }
  why_not_ready_ = readiness_.why_not([this] { return is_stopping(); });
  next_probe_ns_ = monotonic_ns() + kProbeEveryNs;
  sight.now_ns = monotonic_ns();
  sight.is_ready = !why_not_ready_.has_value();
  sight.why_not_ready = why_not_ready_.value_or("");
}

void Session::look_at_load(server::Sight& sight) {
  progress_.take(progress_file_.more());
  sight.load_began_ns = progress_.began_ns();
  if (is_other_load()) {
    // Nothing is known of another generator's requests but that they have begun.
    sight.load_began_ns = load_started_ns_;
    const double since = static_cast<double>(sight.now_ns - load_started_ns_) / kSecondNs;
    is_warm_ = is_steady_ = since >= kAssumedWarmUp;
    end_late_load();
  } else {
    is_warm_ = is_warm_ || progress_.is_warm();
    constexpr std::int64_t kLookEveryNs = 100'000'000;
    if (!is_steady_ && sight.now_ns >= next_steady_ns_) {
      is_steady_ = progress_.is_steady();
      next_steady_ns_ = sight.now_ns + kLookEveryNs;
    }
  }
  sight.is_warm = is_warm_;
  sight.is_steady = is_steady_;
  if (const Exit* exit = load_->wait()) {
    progress_.take(progress_file_.more());
    if (load_ended_ns_ == 0) load_ended_ns_ = monotonic_ns();
    sight.load_ended = true;
    sight.load_failure = load_failure(*exit);
  }
}

std::string Session::load_failure(const Exit& exit) const {
  if (exit.why != Exit::Why::Own || exit.succeeded() || load_was_signalled_) return {};
  if (is_other_load()) return "it " + end_text(exit);
  if (progress_.failed() > 0 && progress_.succeeded() == 0) {
    return "no request succeeded; " + counted(progress_.failed(), "request") + " failed";
  }
  return "it " + end_text(exit);
}

server::Sight Session::look() {
  server::Sight sight;
  sight.now_ns = monotonic_ns();
  // The load before the server: otherwise requests that fail because it has just ended would be
  // seen while it counts as running.
  if (load_) look_at_load(sight);
  if (server_) {
    if (const Exit* exit = server_->wait(kTick)) {
      sight.server_end = end_text(*exit);
    } else if (is_gone(first_)) {
      // A profiler around it may wait for something else before it ends as well.
      constexpr milliseconds kSoon{200};
      const Exit* late = server_->wait(kSoon);
      sight.server_end = late != nullptr ? end_text(*late) : gone_text();
    }
  } else {
    std::this_thread::sleep_for(kTick);
  }
  sight.now_ns = monotonic_ns();
  sight.is_interrupted = is_stopping();
  if (sight.server_end.empty()) look_at_readiness(sight);
  run_.progress().tick();
  return sight;
}

/// How a server ended whose exit only the profiler around it knows.
std::string Session::gone_text() const {
  const std::string log = read_file(server_log(setup_, stage_)).value_or("");
  const std::string words = pipeline::last_words(log);
  return "ended" + (words.empty() ? "" : ": " + words);
}

void Session::note_transitions(const server::Sight& sight) {
  ServerLoadRecord& load = record_.load;
  if (load_ && load.start_ns == 0 && sight.load_began_ns) {
    load.start_ns = *sight.load_began_ns;
    run_.transition("load began");
  }
  if (is_other_load()) {
    if (is_warm_ && !was_taken_for_warm_) {
      was_taken_for_warm_ = true;
      if (gate_ == nullptr) note_without_profiler();
      run_.transition("taken for warm", "after " + duration(kAssumedWarmUp * kSecondNs) +
                                            "; the requests of another generator are not known");
    }
    return;
  }
  if (is_warm_ && !load.warm_ns && load.start_ns > 0) {
    load.warm_ns = sight.now_ns;
    if (gate_ == nullptr) note_without_profiler();
    ended_when_warm_ = progress_.succeeded();
    run_.transition("warmed up", counted(progress_.requests().size(), "request") + " ended");
  }
  if (is_steady_ && !load.steady_ns && load.warm_ns) {
    load.steady_ns = sight.now_ns;
    run_.transition("steady", counted(progress_.requests().size(), "request") + " ended");
  }
}

/// The engine's own sums; nothing if it has no such page.
std::optional<server::EngineTimes> Session::ask_engine() const {
  if (!readiness_.address()) return std::nullopt;
  constexpr milliseconds kShort{500};
  constexpr std::size_t kLargePage = std::size_t{8} << 20U;  // vLLM's has a histogram per engine
  const auto answer = server::call(*readiness_.address(),
                                   {.path = "/metrics", .timeout = kShort, .most_body = kLargePage},
                                   [this] { return is_stopping(); });
  constexpr int kOk = 200;
  if (!answer || answer->status != kOk) return std::nullopt;
  return server::parse_engine_times(answer->body);
}

/// What later stages and the report need to know of the server when it is warm.
void Session::note_without_profiler() {
  engine_when_warm_ = ask_engine();
  if (!server_) return;
  const std::vector<TreeProcess> tree = own_processes();
  record_.libtorch = std::any_of(tree.begin(), tree.end(), [](const TreeProcess& process) {
    return kineto::loads_torch(process.id.pid);
  });
}

/// Where the time to the first token went, of the requests since the warm-up.
void Session::note_first_token() {
  if (!engine_when_warm_) return;
  const auto now = ask_engine();
  if (!now) return;
  const std::uint64_t requests = progress_.succeeded() - ended_when_warm_;
  const server::MeanTimes mean = server::mean_times(*engine_when_warm_, *now, requests);
  if (!mean.queue_ns && !mean.prefill_ns) return;
  ServerFirstToken& first = record_.first_token.emplace();
  first.queue_ns = mean.queue_ns;
  first.prefill_ns = mean.prefill_ns;
  first.source = "the engine's /metrics";
}

/// Whether it is this server that answers, and not another one at the same address.
bool Session::answers_itself() {
  const auto& address = readiness_.address();
  if (!server_ || !address) return true;
  const std::int64_t pid = server::listener_on(address->port);
  if (pid == 0) return true;  // in another namespace, or not ours to see
  const std::vector<TreeProcess> tree = own_processes();
  const bool is_own = std::any_of(
      tree.begin(), tree.end(), [&](const TreeProcess& process) { return process.id.pid == pid; });
  if (is_own) return true;
  run_.report(
      {Severity::Problem, "answered_by_another",
       "another process than the server answers at " + record_.url + ": " + process_text(pid),
       "end it, or let the server listen on another port"});
  return false;
}

Result<void> Session::start_load() {
  record_.ready_s = static_cast<double>(monotonic_ns() - start_ns_) / kSecondNs;
  at_opening_ = own_processes();
  if (!at_opening_.empty()) first_ = at_opening_.front().id;
  run_.transition("ready", record_.attached ? "it was running already" : "");
  PL_TRY(create_folders(load_folder(setup_, stage_)));
  load_ = PL_TRY(run_.start(plan_.command(kLoad)));
  load_started_ns_ = monotonic_ns();
  return {};
}

/// Where the profiler's programs are that started the server: those of the child itself, which is
/// one of them. Known as long as it lives, and remembered.
void Session::look_for_tools() {
  if (!tools_.empty() || gate_ == nullptr || !gate_->starts_server() || !server_) return;
  std::error_code failure;
  const fs::path program =
      fs::read_symlink("/proc/" + std::to_string(server_->process().pid) + "/exe", failure);
  if (failure || program.filename() != "nsys") return;  // a script that is about to start it
  // nsys has its importer in a folder beside its own: target-linux-x64, host-linux-x64.
  const fs::path folder = program.parent_path();
  tools_ = folder.filename().string().starts_with("target-") ? folder.parent_path() : folder;
}

/// The server's processes, in order of start, also those that detached themselves; without the
/// programs of a profiler around it.
std::vector<TreeProcess> Session::own_processes() {
  if (!server_) return {};
  look_for_tools();
  const pid_t root = guardian_ != 0 ? guardian_ : server_->process().pid;
  std::vector<TreeProcess> tree = server::processes_below(root);
  std::erase_if(tree, [&](const TreeProcess& process) {
    return process.id.pid == guardian_ || server::is_in(process, tools_);
  });
  return tree;
}

void Session::note_processes(std::int64_t since_ns) {
  const double seconds = static_cast<double>(monotonic_ns() - since_ns) / kSecondNs;
  for (const TreeProcess& process : own_processes()) {
    ServerProcess row;
    row.pid = process.id.pid;
    row.parent = process.parent;
    row.name = process.name;
    row.gpu = server::opens_gpu(process.id.pid);
    const auto before =
        std::find_if(at_opening_.begin(), at_opening_.end(),
                     [&](const TreeProcess& other) { return other.id == process.id; });
    const std::int64_t used = process.cpu_ns - (before != at_opening_.end() ? before->cpu_ns : 0);
    row.cpu_share = seconds > 0 ? static_cast<double>(used) / kSecondNs / seconds : 0;
    row.traced = gate_->traces(process);
    record_.processes.push_back(std::move(row));
  }
}

void Session::report_gate(const Error& error, const char* code) {
  if (error.kind() == ErrorKind::Cancelled) return;
  const std::string reason(error.reason());
  const bool may_be_absent =
      setup_.settings.pipeline.torch_profiler.enable == settings::Enable::Auto;
  if (reason == "kineto_absent" && may_be_absent) {
    run_.skip({Severity::Problem, reason, error.message(),
               "if it does use libtorch: pipeline.torch_profiler.enable=true"});
    return;
  }
  disk_was_reported_ = disk_was_reported_ || reason == "disk_full";
  run_.report({Severity::Problem, reason.empty() ? code : reason, error.message(),
               fix_for(reason, server_log(setup_, stage_))});
}

void Session::open_window(server::Life& life) {
  ServerWindowRecord& window = record_.window.emplace();
  window.gate = gate_->name();
  window.asked_s = workload_of(setup_).window.seconds;
  window.unix_minus_monotonic_ns = unix_minus_monotonic_ns();
  window.open_asked_ns = monotonic_ns();
  const auto opened = gate_->open();
  window.open_acknowledged_ns = monotonic_ns();
  if (!opened) {
    record_.window.reset();
    report_gate(opened.error(), "gate_refused");
    life.window_refused();
    return;
  }
  run_.transition("window open", "acknowledged after " +
                                     time_text(window.open_acknowledged_ns - window.open_asked_ns));
  window.open_ns = window.open_acknowledged_ns;
  window.edges_from = "gate";
  life.window_opened(window.open_acknowledged_ns);
  at_opening_ = own_processes();
}

void Session::close_window(server::Life& life) {
  ServerWindowRecord& window = *record_.window;
  window.close_asked_ns = monotonic_ns();
  const bool server_runs = !server_ || server_->wait() == nullptr;
  if (server_runs) note_processes(window.open_acknowledged_ns);
  const auto closed = gate_->close();
  window.close_acknowledged_ns = monotonic_ns();
  window.close_ns = window.close_asked_ns;
  look_at_disk();
  life.window_closed();
  const bool server_ended = !closed && ended_first(closed.error());
  note_survival();
  if (!closed) {
    if (!server_ended) {
      report_gate(closed.error(), "gate_not_closed");
    } else if (!gate_->is_closed_by_server()) {
      // Around a server that has ended, a profiler may still be collecting by itself.
      not_closed_ = closed.error();
    }
    return;
  }
  run_.transition("window closed",
                  "after " + time_text(window.close_ns - window.open_ns) +
                      "; the capture was complete " +
                      time_text(window.close_acknowledged_ns - window.close_asked_ns) + " later");
}

/// Whether the server has ended, which may be why its window was not closed. It breaks its
/// connections a moment before it is gone.
bool Session::ended_first(const Error& not_closed) {
  constexpr milliseconds kMoment{1000};
  if (!server_) return false;
  const bool may_be_ending =
      gate_->is_closed_by_server() && not_closed.reason() == "gate_refused" && !is_gone(first_);
  return server_->wait(may_be_ending ? kMoment : milliseconds(0)) != nullptr || is_gone(first_);
}

void Session::note_survival() {
  const bool has_ended = server_ && (server_->wait() != nullptr || is_gone(first_));
  // Its end has a finding of its own.
  record_.proofs.push_back({kSurvived, has_ended ? ProofState::Failed : ProofState::Passed,
                            has_ended ? "it ended before the window had closed"
                                      : "it still ran when the capture was complete"});
}

void Session::end_load(int signal) {
  if (!load_ || load_->wait() != nullptr) return;
  load_was_signalled_ = true;
  send_signal(load_->process(), signal);
  if (signal == SIGUSR1) return;  // it ends once its answers have arrived
  constexpr milliseconds kGrace{5000};
  if (load_->wait(kGrace) == nullptr) load_->kill();
}

/// No request is needed any more. Another generator does not know our signal, and writes its
/// result at its end.
void Session::finish_load() {
  // Until now it went on, whether or not a request was just ending.
  record_.load.end_ns = finish_asked_ns_ = monotonic_ns();
  if (is_other_load()) {
    run_.transition("load may end", "waiting until the other generator has");
  } else {
    run_.transition("load ends");
    end_load(SIGUSR1);
  }
}

/// Another generator that does not end.
void Session::end_late_load() {
  const auto patience = workload_of(setup_).load.timeout;
  const bool is_late = finish_asked_ns_ != 0 && !load_was_signalled_ &&
                       std::chrono::nanoseconds(monotonic_ns() - finish_asked_ns_) > patience;
  if (!is_late) return;
  run_.report({Severity::Warning, "load_stopped",
               "the other load generator still ran " +
                   time_text(monotonic_ns() - finish_asked_ns_) +
                   " after the window had closed, and was stopped; its result may be incomplete",
               "let it end sooner, or wait longer with pipeline.workload.load.timeout=SECONDS"});
  end_load(SIGTERM);
}

/// Whether the server's first process ended within its grace.
bool Session::wait_for_engine(const ProcessId& target) {
  const settings::ServerStop& how = workload_of(setup_).server.stop;
  const std::int64_t asked = monotonic_ns();
  send_signal(target, how.number());
  while (server_->wait(kTick) == nullptr && !is_gone(target)) {
    const bool is_over = std::chrono::nanoseconds(monotonic_ns() - asked) >= how.grace;
    if (is_over || run_.interrupt().in_a_hurry()) return false;
    run_.progress().tick();
  }
  return true;
}

/// SIGKILL to the server, but not to a profiler around it, which then writes its report.
void Session::kill_engine() {
  was_killed_ = true;
  if (tools_.empty()) {
    server_->kill();
    return;
  }
  for (const TreeProcess& process : own_processes()) send_signal(process.id, SIGKILL);
}

/// What started the server ends after it: nsys may have a capture to import.
void Session::wait_for_profiler() {
  constexpr milliseconds kEnding{30'000};
  const std::chrono::seconds patience =
      gate_ != nullptr ? gate_->time_to_end() : std::chrono::seconds(kLongImport);
  const std::int64_t began = monotonic_ns();
  while (server_->wait(kTick) == nullptr) {
    run_.progress().tick();
    const bool is_over = std::chrono::nanoseconds(monotonic_ns() - began) > patience;
    if (is_over) {
      run_.report({Severity::Problem, "profiler_not_ended",
                   "what started the server still ran " + time_text(monotonic_ns() - began) +
                       " after the server had ended, and was killed",
                   "its output: " + server_log(setup_, stage_).string()});
    }
    if (!is_over && !run_.interrupt().in_a_hurry()) continue;
    server_->kill();
    server_->wait(kEnding);
    return;
  }
}

void Session::stop_server() {
  if (!server_ || server_->wait() != nullptr) return;
  const settings::ServerStop& how = workload_of(setup_).server.stop;
  const std::vector<TreeProcess> tree = own_processes();
  if (gate_ != nullptr && !has_window() && record_.load.start_ns != 0) {
    note_processes(load_started_ns_);
  }
  if (first_.pid == 0 && !tree.empty()) first_ = tree.front().id;
  const ProcessId target = first_.pid != 0 ? first_ : server_->process();
  run_.transition("stopping", how.signal + " to pid " + std::to_string(target.pid));
  const std::int64_t asked = monotonic_ns();
  if (!wait_for_engine(target)) {
    kill_engine();
    if (!run_.interrupt().in_a_hurry()) {
      run_.report({Severity::Warning, "stop_ignored",
                   "the server did not end within " +
                       time_text(std::chrono::nanoseconds(how.grace).count()) + " of " +
                       how.signal + " and was killed",
                   "give it longer with pipeline.workload.server.stop.grace=SECONDS, or stop it "
                   "with another signal: pipeline.workload.server.stop.signal=SIGINT"});
    }
  }
  record_.stop_s = static_cast<double>(monotonic_ns() - asked) / kSecondNs;
  wait_for_profiler();
}

Result<void> Session::carry_out(Act act, server::Life& life) {
  switch (act) {
    case Act::Wait:
    case Act::Done:
      return {};
    case Act::StartLoad:
      if (!answers_itself()) {
        stop_server();
        return Error(ErrorKind::Cancelled, "reported");
      }
      return start_load();
    case Act::OpenWindow:
      open_window(life);
      return {};
    case Act::CloseWindow:
      close_window(life);
      return {};
    case Act::FinishLoad:
      finish_load();
      return {};
    case Act::AbandonLoad:
      end_load(SIGTERM);
      return {};
    case Act::StopServer:
      note_first_token();
      stop_server();
      return {};
  }
  return {};
}

void Session::note_load() {
  progress_.take(progress_file_.more());
  ServerLoadRecord& load = record_.load;
  for (const server::FinishedRequest& request : progress_.requests()) {
    load.end_ns = std::max(load.end_ns, request.end_ns);
    if (request.succeeded) continue;
    const bool is_late = record_.window && request.end_ns >= record_.window->open_asked_ns;
    if (is_late) ++load.failed_from_window_on;
  }
  load.finished = progress_.succeeded();
  load.failed = progress_.failed();
  if (!is_other_load()) return;
  load.command = join(*workload_of(setup_).load.command, " ");
  load.start_ns = load_started_ns_;
  load.end_ns = load_ended_ns_ != 0 ? load_ended_ns_ : monotonic_ns();
}

/// What the profiler leaves on its disk may be removed as it ends, so the disk is looked at when
/// something has happened.
void Session::look_at_disk() {
  if (gate_ != nullptr && full_disk_.empty()) full_disk_ = gate_->full_disk();
}

/// A full disk keeps a profiler from writing and ends processes that it started. Findings about
/// those do not name it.
void Session::note_full_disk() {
  look_at_disk();
  if (full_disk_.empty() || disk_was_reported_) return;
  const bool is_the_cause = has_died_ || (gate_->starts_server() && !gate_->has_capture());
  run_.report({is_the_cause ? Severity::Problem : Severity::Warning, "disk_full",
               "the profiler had no space to write to: " + full_disk_,
               fix_for("disk_full", server_log(setup_, stage_))});
}

/// How the server ended, and whether anything of it is left.
void Session::note_end() {
  const Exit* exit = server_ ? server_->wait() : nullptr;
  if (exit == nullptr) return;
  record_.end = exit->describe();
  const bool left = !exit->leftovers.empty();
  const bool survived = std::any_of(exit->leftovers.begin(), exit->leftovers.end(),
                                    [](const Leftover& leftover) { return leftover.survived; });
  std::string text = left ? exit->describe_leftovers() : "all of them ended by themselves";
  if (was_killed_) text = "the server was killed" + (left ? "; it " + text : std::string());
  add_proof(record_, run_,
            {"no process is left", survived ? ProofState::Failed : ProofState::Passed, text},
            "process_left", "end them by hand");
  run_.transition("stopped", record_.end);
}

Result<ServerRecord> Session::run() {
  if (!PL_TRY(start())) return std::move(record_);
  const server::LifeRules rules{.has_window = has_window(),
                                .ready_timeout = workload_of(setup_).server.ready.timeout,
                                .window = workload_of(setup_).window};
  server::Life life(rules, start_ns_);
  while (true) {
    const server::Sight sight = look();
    if (starts_again()) {
      if (!PL_TRY(start_server())) return std::move(record_);
      life = server::Life(rules, start_ns_);
      continue;
    }
    if (!sight.server_end.empty() && life.phase() != server::Phase::Stopping) {
      has_died_ = true;
      look_at_disk();
    }
    note_transitions(sight);
    const Decision decision = life.next(sight);
    if (decision.finding) run_.report(*decision.finding);
    const auto done = carry_out(decision.act, life);
    if (!done && done.error().kind() == ErrorKind::Cancelled) break;
    PL_TRY(done);
    if (decision.act == Act::Done) break;
  }
  end_load(SIGTERM);
  stop_server();
  if (not_closed_ && !gate_->has_capture()) report_gate(*not_closed_, "gate_not_closed");
  note_full_disk();
  note_load();
  note_end();
  server_.reset();
  load_.reset();
  return std::move(record_);
}

}  // namespace

Result<ServerRecord> run_session(const StageContext& context, const pipeline::StagePlan& plan,
                                 pipeline::StageRun& run, std::string_view stage,
                                 WindowGate* gate) {
  auto readiness = PL_TRY(
      server::Readiness::of(workload_of(context.setup).server, server_log(context.setup, stage)));
  return Session(context, plan, run, stage, gate, std::move(readiness)).run();
}

}  // namespace profline::stages::internal
