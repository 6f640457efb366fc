#include "stages/server/internal/session.h"

#include <algorithm>

#include "base/figures.h"
#include "base/strings.h"
#include "stages/server/internal/session_parts.h"
#include "tools/kineto/traced_processes.h"
#include "workloads/server/life.h"
#include "workloads/server/readiness.h"

namespace profline::stages::internal {
namespace {

using pipeline::StageContext;
using server::Act;
using server::TreeProcess;

/// One life of a server: looks at it and its load, decides what comes next, and has the parts do
/// it.
class Session {
 public:
  Session(const SessionContext& context, server::Readiness readiness)
      : context_(context),
        readiness_(std::move(readiness)),
        orderly_(context.run.interrupt()),
        server_(context_, readiness_),
        load_(context_),
        window_(context_, server_, record_),
        engine_(context_, readiness_) {}

  Result<ServerRecord> run();

 private:
  bool has_window() const { return context_.gate != nullptr && context_.gate->has_window(); }
  Result<bool> start();
  Result<bool> start_server();
  bool starts_again();
  server::Sight look();
  void look_at_readiness(server::Sight& sight);
  void note_transitions(const server::Sight& sight);
  void note_without_profiler();
  Result<void> carry_out(Act act, server::Life& life);
  Result<void> start_load();
  void stop_server();

  const SessionContext context_;
  server::Readiness readiness_;
  Interrupt::OrderlyStop orderly_;
  ServerRecord record_;
  RunningServer server_;
  RunningLoad load_;
  ProfilerWindow window_;
  EngineWatch engine_;
  std::int64_t start_ns_ = 0;
  std::int64_t next_probe_ns_ = 0;
  std::optional<std::string> why_not_ready_;
  bool was_taken_for_warm_ = false;
  bool has_died_ = false;  ///< nobody asked it to end
};

Result<bool> Session::start() {
  record_.stage = context_.stage;
  record_.url = context_.workload().server.url.value_or("");
  record_.attached = is_attached(context_.setup);
  start_ns_ = monotonic_ns();
  if (context_.gate != nullptr) PL_TRY(context_.gate->prepare());
  if (record_.attached) return !server_.nobody_answers();
  if (server_.port_is_taken()) return false;
  return start_server();
}

Result<bool> Session::start_server() {
  if (!PL_TRY(server_.start())) return false;
  start_ns_ = server_.started_ns();
  return true;
}

/// Whether the server has ended, and another attempt at starting it begins.
bool Session::starts_again() {
  const Exit* exit = server_.exit();
  if (exit == nullptr || context_.gate == nullptr || record_.ready_s || context_.is_stopping()) {
    return false;
  }
  const std::string why = context_.gate->next_attempt(*exit);
  if (why.empty()) return false;
  server_.release();
  context_.run.report({pipeline::Severity::Warning, "nsys_retry",
                       why + " before the server was ready; trying again"});
  return true;
}

void Session::look_at_readiness(server::Sight& sight) {
  constexpr std::int64_t kProbeEveryNs = 100'000'000;
  if (record_.ready_s || sight.now_ns < next_probe_ns_) {
    sight.is_ready = record_.ready_s.has_value();
    sight.why_not_ready = why_not_ready_.value_or("");
    return;
  }
  why_not_ready_ = readiness_.why_not([this] { return context_.is_stopping(); });
  next_probe_ns_ = monotonic_ns() + kProbeEveryNs;
  sight.now_ns = monotonic_ns();
  sight.is_ready = !why_not_ready_.has_value();
  sight.why_not_ready = why_not_ready_.value_or("");
}

server::Sight Session::look() {
  server::Sight sight;
  sight.now_ns = monotonic_ns();
  // The load before the server: otherwise requests that fail because it has just ended would be
  // seen while it counts as running.
  if (load_.has_started()) load_.look(sight);
  sight.server_end = server_.look();
  sight.now_ns = monotonic_ns();
  sight.is_interrupted = context_.is_stopping();
  if (sight.server_end.empty()) look_at_readiness(sight);
  context_.run.progress().tick();
  return sight;
}

void Session::note_transitions(const server::Sight& sight) {
  ServerLoadRecord& load = record_.load;
  if (load_.has_started() && load.start_ns == 0 && sight.load_began_ns) {
    load.start_ns = *sight.load_began_ns;
    context_.run.transition("load began");
  }
  if (load_.is_other()) {
    if (load_.is_warm() && !was_taken_for_warm_) {
      was_taken_for_warm_ = true;
      if (context_.gate == nullptr) note_without_profiler();
      context_.run.transition("taken for warm",
                              "after " + duration(RunningLoad::kAssumedWarmUp * kSecondNs) +
                                  "; the requests of another generator are not known");
    }
    return;
  }
  if (load_.is_warm() && !load.warm_ns && load.start_ns > 0) {
    load.warm_ns = sight.now_ns;
    if (context_.gate == nullptr) note_without_profiler();
    context_.run.transition("warmed up",
                            counted(load_.progress().requests().size(), "request") + " ended");
  }
  if (load_.is_steady() && !load.steady_ns && load.warm_ns) {
    load.steady_ns = sight.now_ns;
    context_.run.transition("steady",
                            counted(load_.progress().requests().size(), "request") + " ended");
  }
}

/// What later stages and the report need to know of the server when it is warm.
void Session::note_without_profiler() {
  engine_.begin(load_.progress().succeeded());
  if (record_.attached) return;
  const std::vector<TreeProcess> tree = server_.processes();
  record_.libtorch = std::any_of(tree.begin(), tree.end(), [](const TreeProcess& process) {
    return kineto::loads_torch(process.id.pid);
  });
}

Result<void> Session::start_load() {
  record_.ready_s = static_cast<double>(monotonic_ns() - start_ns_) / kSecondNs;
  std::vector<TreeProcess> processes = server_.processes();
  server_.choose_first(processes);
  window_.begin_with(std::move(processes));
  context_.run.transition("ready", record_.attached ? "it was running already" : "");
  return load_.start();
}

void Session::stop_server() {
  if (!server_.runs()) return;
  if (context_.gate != nullptr && !has_window() && record_.load.start_ns != 0) {
    window_.note_processes(load_.started_ns());
  }
  record_.stop_s = server_.stop();
}

Result<void> Session::carry_out(Act act, server::Life& life) {
  switch (act) {
    case Act::Wait:
    case Act::Done:
      return {};
    case Act::StartLoad:
      if (!server_.answers_itself()) {
        stop_server();
        return Error(ErrorKind::Cancelled, "reported");
      }
      return start_load();
    case Act::OpenWindow:
      window_.open(life);
      return {};
    case Act::CloseWindow:
      window_.close(life);
      return {};
    case Act::FinishLoad:
      // Until now it went on, whether or not a request was just ending.
      record_.load.end_ns = load_.finish();
      return {};
    case Act::AbandonLoad:
      load_.end();
      return {};
    case Act::StopServer:
      record_.first_token = engine_.since_begin(load_.progress().succeeded());
      stop_server();
      return {};
  }
  return {};
}

Result<ServerRecord> Session::run() {
  if (!PL_TRY(start())) return std::move(record_);
  const server::LifeRules rules{.has_window = has_window(),
                                .ready_timeout = context_.workload().server.ready.timeout,
                                .window = context_.workload().window};
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
      window_.look_at_disk();
    }
    note_transitions(sight);
    const server::Decision decision = life.next(sight);
    if (decision.finding) context_.run.report(*decision.finding);
    const auto done = carry_out(decision.act, life);
    if (!done && done.error().kind() == ErrorKind::Cancelled) break;
    PL_TRY(done);
    if (decision.act == Act::Done) break;
  }
  load_.end();
  stop_server();
  window_.report_rest(has_died_);
  load_.note(record_);
  server_.note_end(record_);
  server_.release();
  load_.release();
  return std::move(record_);
}

}  // namespace

std::string time_text(std::int64_t ns) {
  return duration(static_cast<double>(ns));
}

Result<ServerRecord> run_session(const StageContext& context, const pipeline::StagePlan& plan,
                                 pipeline::StageRun& run, std::string_view stage,
                                 WindowGate* gate) {
  auto readiness = PL_TRY(
      server::Readiness::of(workload_of(context.setup).server, server_log(context.setup, stage)));
  return Session({context.setup, plan, run, std::string(stage), gate}, std::move(readiness)).run();
}

}  // namespace profline::stages::internal
