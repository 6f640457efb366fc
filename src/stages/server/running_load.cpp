#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "process/background.h"
#include "records/load.h"
#include "run/names/artifact_names.h"
#include "stages/server/internal/session_parts.h"

namespace profline::stages::internal {

using pipeline::Severity;
using std::chrono::milliseconds;

std::string Follower::more() {
  constexpr std::size_t kPart = std::size_t{1} << 20U;
  auto opened = open_for_reading(file_);
  if (!opened) return {};
  std::string bytes;
  std::string part(kPart, '\0');
  while (true) {
    const ssize_t got = ::pread(opened->get(), part.data(), part.size(), static_cast<off_t>(seen_));
    if (got <= 0) return bytes;
    bytes.append(part, 0, static_cast<std::size_t>(got));
    seen_ += static_cast<std::uint64_t>(got);
  }
}

RunningLoad::RunningLoad(const SessionContext& session)
    : session_(session),
      progress_file_(load_folder(session.setup, session.stage) / run::files::kProgress),
      progress_(session.workload().load.warmup.requests,
                session.workload().load.arrival.is_open()
                    ? 0
                    : session.workload().load.arrival.in_flight()) {}

Result<void> RunningLoad::start() {
  PL_TRY(create_folders(load_folder(session_.setup, session_.stage)));
  child_ = PL_TRY(session_.run.start(session_.plan.command(kLoad)));
  started_ns_ = monotonic_ns();
  return {};
}

void RunningLoad::look(server::Sight& sight) {
  progress_.take(progress_file_.more());
  sight.load_began_ns = progress_.began_ns();
  if (is_other()) {
    // Nothing is known of another generator's requests but that they have begun.
    sight.load_began_ns = started_ns_;
    const double since = static_cast<double>(sight.now_ns - started_ns_) / kSecondNs;
    is_warm_ = is_steady_ = since >= kAssumedWarmUp;
    end_if_late();
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
  if (const Exit* exit = child_->wait()) {
    progress_.take(progress_file_.more());
    if (ended_ns_ == 0) ended_ns_ = monotonic_ns();
    sight.load_ended = true;
    sight.load_failure = failure(*exit);
  }
}

std::string RunningLoad::failure(const Exit& exit) const {
  if (exit.why != Exit::Why::Own || exit.succeeded() || was_signalled_) return {};
  if (is_other()) return "it " + end_text(exit);
  if (progress_.failed() > 0 && progress_.succeeded() == 0) {
    return "no request succeeded; " + counted(progress_.failed(), "request") + " failed";
  }
  return "it " + end_text(exit);
}

void RunningLoad::end() {
  signal(SIGTERM);
}

void RunningLoad::signal(int number) {
  if (!child_ || child_->wait() != nullptr) return;
  was_signalled_ = true;
  send_signal(child_->process(), number);
  if (number == SIGUSR1) return;  // it ends once its answers have arrived
  constexpr milliseconds kGrace{5000};
  if (child_->wait(kGrace) == nullptr) child_->kill();
}

std::int64_t RunningLoad::finish() {
  finish_asked_ns_ = monotonic_ns();
  if (is_other()) {
    // It does not know our signal, and writes its result at its end.
    session_.run.transition("load may end", "waiting until the other generator has");
  } else {
    session_.run.transition("load ends");
    signal(SIGUSR1);
  }
  return finish_asked_ns_;
}

/// Another generator that does not end.
void RunningLoad::end_if_late() {
  const auto patience = session_.workload().load.timeout;
  const bool is_late = finish_asked_ns_ != 0 && !was_signalled_ &&
                       std::chrono::nanoseconds(monotonic_ns() - finish_asked_ns_) > patience;
  if (!is_late) return;
  session_.run.report(
      {Severity::Warning, "load_stopped",
       "the other load generator still ran " + time_text(monotonic_ns() - finish_asked_ns_) +
           " after the window had closed, and was stopped; its result may be incomplete",
       "let it end sooner, or wait longer with pipeline.workload.load.timeout=SECONDS"});
  end();
}

void RunningLoad::note(ServerRecord& record) {
  progress_.take(progress_file_.more());
  ServerLoadRecord& load = record.load;
  for (const server::FinishedRequest& request : progress_.requests()) {
    load.end_ns = std::max(load.end_ns, request.end_ns);
    if (request.succeeded) continue;
    const bool is_late = record.window && request.end_ns >= record.window->open_asked_ns;
    if (is_late) ++load.failed_from_window_on;
  }
  load.finished = progress_.succeeded();
  load.failed = progress_.failed();
  if (!is_other()) return;
  load.command = join(*session_.workload().load.command, " ");
  load.start_ns = started_ns_;
  load.end_ns = ended_ns_ != 0 ? ended_ns_ : monotonic_ns();
}

}  // namespace profline::stages::internal
