#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "base/files.h"
#include "base/strings.h"
#include "pipeline/workload_stage.h"
#include "process/background.h"
#include "process/process_table.h"
#include "stages/server/internal/session_parts.h"
#include "workloads/server/http_request.h"

namespace profline::stages::internal {
namespace {

namespace fs = std::filesystem;
using pipeline::Severity;
using server::TreeProcess;
using std::chrono::milliseconds;

/// `python3 (pid 77)`
std::string process_text(std::int64_t pid) {
  const std::string name(trim(read_file("/proc/" + std::to_string(pid) + "/comm").value_or("")));
  return (name.empty() ? "a process" : name) + " (pid " + std::to_string(pid) + ")";
}

/// Whether a process that is known has ended.
bool is_gone(const ProcessId& process) {
  if (process.pid == 0) return false;
  ProcessStat stat;
  return !read_process(process.pid, stat) || stat.start_ticks != process.start_ticks ||
         stat.is_zombie();
}

}  // namespace

std::string end_text(const Exit& exit) {
  const std::string words = pipeline::last_words(exit.tail);
  return exit.describe() + (words.empty() ? "" : ": " + words);
}

bool RunningServer::port_is_taken() const {
  const auto& address = readiness_.address();
  constexpr milliseconds kShort{300};
  if (!address || !server::connects(*address, kShort)) return false;
  const std::int64_t pid = server::listener_on(address->port);
  session_.run.report({Severity::Problem, "port_taken",
                       "something answers at " + *session_.workload().server.url +
                           " before the server is started" +
                           (pid > 0 ? ": " + process_text(pid) : std::string()),
                       "end it, or let the server listen on another port and set "
                       "pipeline.workload.server.url"});
  return true;
}

bool RunningServer::nobody_answers() const {
  constexpr milliseconds kPatience{5000};
  const auto& address = readiness_.address();
  if (!address) return false;
  const auto connected = server::connects(*address, kPatience);
  if (connected) return false;
  session_.run.report({Severity::Problem, "server_absent",
                       "no server answers at " + session_.workload().server.url.value_or("") +
                           ": " + connected.error().message(),
                       "start it first, or give its command after '--': profline then starts it"});
  return true;
}

bool RunningServer::answers_itself() {
  const auto& address = readiness_.address();
  if (!child_ || !address) return true;
  const std::int64_t pid = server::listener_on(address->port);
  if (pid == 0) return true;  // in another namespace, or not ours to see
  const std::vector<TreeProcess> tree = processes();
  const bool is_own = std::any_of(
      tree.begin(), tree.end(), [&](const TreeProcess& process) { return process.id.pid == pid; });
  if (is_own) return true;
  session_.run.report({Severity::Problem, "answered_by_another",
                       "another process than the server answers at " +
                           session_.workload().server.url.value_or("") + ": " + process_text(pid),
                       "end it, or let the server listen on another port"});
  return false;
}

Result<bool> RunningServer::start() {
  pipeline::PlannedCommand command = session_.plan.command(kServer);
  if (session_.gate != nullptr) command = session_.gate->server_command(std::move(command));
  auto started =
      session_.run.start(command, session_.gate != nullptr ? session_.gate->observer() : nullptr);
  if (!started) {
    if (started.error().kind() == ErrorKind::Cancelled) return std::move(started).error();
    session_.run.report({Severity::Problem, "server_not_started", started.error().to_string()});
    return false;
  }
  child_ = std::move(*started);
  started_ns_ = monotonic_ns();
  ProcessStat child;
  ProcessStat guardian;
  const bool is_guarded = read_process(child_->process().pid, child) &&
                          read_process(child.parent, guardian) && guardian.parent == ::getpid();
  guardian_ = is_guarded ? guardian.pid : 0;
  session_.run.transition("started", "pid " + std::to_string(child_->process().pid) +
                                         ", ready once " + readiness_.describe());
  return true;
}

std::string RunningServer::look() {
  if (!child_) {
    std::this_thread::sleep_for(kTick);
    return {};
  }
  if (const Exit* exit = child_->wait(kTick)) return end_text(*exit);
  if (!is_gone(first_)) return {};
  // A profiler around it may wait for something else before it ends as well.
  constexpr milliseconds kSoon{200};
  const Exit* late = child_->wait(kSoon);
  return late != nullptr ? end_text(*late) : gone_text();
}

bool RunningServer::has_ended(milliseconds at_most) const {
  return child_ && (child_->wait(at_most) != nullptr || is_gone(first_));
}

bool RunningServer::first_has_ended() const {
  return is_gone(first_);
}

void RunningServer::choose_first(const std::vector<TreeProcess>& processes) {
  if (first_.pid == 0 && !processes.empty()) first_ = processes.front().id;
}

/// How a server ended whose exit only the profiler around it knows.
std::string RunningServer::gone_text() const {
  const std::string log = read_file(session_.log()).value_or("");
  const std::string words = pipeline::last_words(log);
  return "ended" + (words.empty() ? "" : ": " + words);
}

/// Where the profiler's programs are that started the server: those of the child itself, which is
/// one of them. Known as long as it lives, and remembered.
void RunningServer::look_for_tools() {
  if (!tools_.empty() || session_.gate == nullptr || !session_.gate->starts_server() || !child_)
    return;
  std::error_code failure;
  const fs::path program =
      fs::read_symlink("/proc/" + std::to_string(child_->process().pid) + "/exe", failure);
  if (failure || program.filename() != "nsys") return;  // a script that is about to start it
  // nsys has its importer in a folder beside its own: target-linux-x64, host-linux-x64.
  const fs::path folder = program.parent_path();
  tools_ = folder.filename().string().starts_with("target-") ? folder.parent_path() : folder;
}

std::vector<TreeProcess> RunningServer::processes() {
  if (!child_) return {};
  look_for_tools();
  const pid_t root = guardian_ != 0 ? guardian_ : child_->process().pid;
  std::vector<TreeProcess> tree = server::processes_below(root);
  std::erase_if(tree, [&](const TreeProcess& process) {
    return process.id.pid == guardian_ || server::is_in(process, tools_);
  });
  return tree;
}

/// Whether the server's first process ended within its grace.
bool RunningServer::wait_for_engine(const ProcessId& target) const {
  const settings::ServerStop& how = session_.workload().server.stop;
  const std::int64_t asked = monotonic_ns();
  send_signal(target, how.number());
  while (child_->wait(kTick) == nullptr && !is_gone(target)) {
    const bool is_over = std::chrono::nanoseconds(monotonic_ns() - asked) >= how.grace;
    if (is_over || session_.run.interrupt().in_a_hurry()) return false;
    session_.run.progress().tick();
  }
  return true;
}

/// SIGKILL to the server, but not to a profiler around it, which then writes its report.
void RunningServer::kill_engine() {
  was_killed_ = true;
  if (tools_.empty()) {
    child_->kill();
    return;
  }
  for (const TreeProcess& process : processes()) send_signal(process.id, SIGKILL);
}

/// What started the server ends after it: nsys may have a capture to import.
void RunningServer::wait_for_profiler() {
  constexpr milliseconds kEnding{30'000};
  const std::chrono::seconds patience =
      session_.gate != nullptr ? session_.gate->time_to_end() : std::chrono::seconds(kLongImport);
  const std::int64_t began = monotonic_ns();
  while (child_->wait(kTick) == nullptr) {
    session_.run.progress().tick();
    const bool is_over = std::chrono::nanoseconds(monotonic_ns() - began) > patience;
    if (is_over) {
      session_.run.report({Severity::Problem, "profiler_not_ended",
                           "what started the server still ran " +
                               time_text(monotonic_ns() - began) +
                               " after the server had ended, and was killed",
                           "its output: " + session_.log().string()});
    }
    if (!is_over && !session_.run.interrupt().in_a_hurry()) continue;
    child_->kill();
    child_->wait(kEnding);
    return;
  }
}

double RunningServer::stop() {
  const settings::ServerStop& how = session_.workload().server.stop;
  choose_first(processes());
  const ProcessId target = first_.pid != 0 ? first_ : child_->process();
  session_.run.transition("stopping", how.signal + " to pid " + std::to_string(target.pid));
  const std::int64_t asked = monotonic_ns();
  if (!wait_for_engine(target)) {
    kill_engine();
    if (!session_.run.interrupt().in_a_hurry()) {
      session_.run.report(
          {Severity::Warning, "stop_ignored",
           "the server did not end within " +
               time_text(std::chrono::nanoseconds(how.grace).count()) + " of " + how.signal +
               " and was killed",
           "give it longer with pipeline.workload.server.stop.grace=SECONDS, or stop it "
           "with another signal: pipeline.workload.server.stop.signal=SIGINT"});
    }
  }
  const double seconds = static_cast<double>(monotonic_ns() - asked) / kSecondNs;
  wait_for_profiler();
  return seconds;
}

void RunningServer::note_end(ServerRecord& record) const {
  const Exit* exit = this->exit();
  if (exit == nullptr) return;
  record.end = exit->describe();
  const bool left = !exit->leftovers.empty();
  const bool survived = std::any_of(exit->leftovers.begin(), exit->leftovers.end(),
                                    [](const Leftover& leftover) { return leftover.survived; });
  std::string text = left ? exit->describe_leftovers() : "all of them ended by themselves";
  if (was_killed_) text = "the server was killed" + (left ? "; it " + text : std::string());
  add_proof(record, session_.run,
            {"no process is left", survived ? ProofState::Failed : ProofState::Passed, text},
            "process_left", "end them by hand");
  session_.run.transition("stopped", record.end);
}

}  // namespace profline::stages::internal
