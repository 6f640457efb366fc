#include <algorithm>

#include "base/figures.h"
#include "stages/server/internal/session_parts.h"

namespace profline::stages::internal {
namespace {

namespace fs = std::filesystem;
using pipeline::Severity;
using server::TreeProcess;
using std::chrono::milliseconds;

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

}  // namespace

void ProfilerWindow::open(server::Life& life) {
  ServerWindowRecord& window = record_.window.emplace();
  window.gate = gate_->name();
  window.asked_s = session_.workload().window.seconds;
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
  session_.run.transition(
      "window open",
      "acknowledged after " + time_text(window.open_acknowledged_ns - window.open_asked_ns));
  window.open_ns = window.open_acknowledged_ns;
  window.edges_from = "gate";
  life.window_opened(window.open_acknowledged_ns);
  at_opening_ = server_.processes();
}

void ProfilerWindow::close(server::Life& life) {
  ServerWindowRecord& window = *record_.window;
  window.close_asked_ns = monotonic_ns();
  const bool has_exited = server_.exit() != nullptr;
  if (!has_exited) note_processes(window.open_acknowledged_ns);
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
  session_.run.transition(
      "window closed",
      "after " + time_text(window.close_ns - window.open_ns) + "; the capture was complete " +
          time_text(window.close_acknowledged_ns - window.close_asked_ns) + " later");
}

/// Whether the server has ended, which may be why its window was not closed. It breaks its
/// connections a moment before it is gone.
bool ProfilerWindow::ended_first(const Error& not_closed) const {
  constexpr milliseconds kMoment{1000};
  const bool may_be_ending = gate_->is_closed_by_server() &&
                             not_closed.reason() == "gate_refused" && !server_.first_has_ended();
  return server_.has_ended(may_be_ending ? kMoment : milliseconds(0));
}

void ProfilerWindow::note_survival() {
  const bool has_ended = server_.has_ended();
  // Its end has a finding of its own.
  record_.proofs.push_back({kSurvived, has_ended ? ProofState::Failed : ProofState::Passed,
                            has_ended ? "it ended before the window had closed"
                                      : "it still ran when the capture was complete"});
}

void ProfilerWindow::note_processes(std::int64_t since_ns) {
  const double seconds = static_cast<double>(monotonic_ns() - since_ns) / kSecondNs;
  for (const TreeProcess& process : server_.processes()) {
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

void ProfilerWindow::look_at_disk() {
  if (gate_ != nullptr && full_disk_.empty()) full_disk_ = gate_->full_disk();
}

void ProfilerWindow::report_rest(bool server_has_died) {
  if (not_closed_ && !gate_->has_capture()) report_gate(*not_closed_, "gate_not_closed");
  look_at_disk();
  if (full_disk_.empty() || disk_was_reported_) return;
  const bool is_the_cause = server_has_died || (gate_->starts_server() && !gate_->has_capture());
  session_.run.report({is_the_cause ? Severity::Problem : Severity::Warning, "disk_full",
                       "the profiler had no space to write to: " + full_disk_,
                       fix_for("disk_full", session_.log())});
}

void ProfilerWindow::report_gate(const Error& error, const char* code) {
  if (error.kind() == ErrorKind::Cancelled) return;
  const std::string reason(error.reason());
  const bool may_be_absent =
      session_.setup.settings.pipeline.torch_profiler.enable == settings::Enable::Auto;
  if (reason == "kineto_absent" && may_be_absent) {
    session_.run.skip({Severity::Problem, reason, error.message(),
                       "if it does use libtorch: pipeline.torch_profiler.enable=true"});
    return;
  }
  disk_was_reported_ = disk_was_reported_ || reason == "disk_full";
  session_.run.report({Severity::Problem, reason.empty() ? code : reason, error.message(),
                       fix_for(reason, session_.log())});
}

}  // namespace profline::stages::internal
