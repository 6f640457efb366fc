#include "process/posix_runner.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "process/internal/guardian.h"
#include "process/internal/supervision.h"

namespace profline {
namespace {

using internal::Guardian;
using internal::GuardianNews;

Result<FileDescriptor> empty_input() {
  FileDescriptor file = above_stdio(FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)));
  if (!file.is_open())
    return Error(ErrorKind::Io, std::string("cannot open '/dev/null': ") + strerror(errno));
  return file;
}

StopRules rules_for(const Command& command, const StopRules& usual) {
  constexpr std::chrono::milliseconds kBrief{100};
  if (!command.stop_briefly) return usual;
  StopRules brief = usual;
  brief.interrupt_grace = std::min(brief.interrupt_grace, kBrief);
  brief.terminate_grace = std::min(brief.terminate_grace, kBrief);
  return brief;
}

/// The first news from every guardian: whether there is a child at all.
Result<GuardianNews> child_of(const Guardian& guardian, const std::string& program) {
  const std::optional<GuardianNews> news = guardian.next_news();
  const std::string start = "cannot run '" + program + "': ";
  if (!news) return Error(ErrorKind::Io, start + "its guardian process was killed immediately");
  if (news->kind == GuardianNews::Kind::ForkFailed) {
    return Error(ErrorKind::Io, start + "cannot create a process: " + strerror(news->error));
  }
  return *news;
}

}  // namespace

PosixRunner::PosixRunner(const Interrupt& interrupt, StopRules rules)
    : interrupt_(interrupt), rules_(rules) {
  PL_ASSERT(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0, "Linux has had subreapers since 3.4");
}

Result<Exit> PosixRunner::run_checked(const Command& command, RunObserver* observer) {
  const std::string& program = command.argv.front();
  if (interrupt_.requested()) {
    return Error(ErrorKind::Cancelled, "cancelled before '" + program + "' was started");
  }
  const Interrupt::OrderlyStop stops_the_child(interrupt_);
  const StopRules rules = rules_for(command, rules_);
  const auto image = PL_TRY(internal::ExecImage::of(command));
  auto log = PL_TRY(internal::OutputLog::open(command.log));
  const FileDescriptor input = PL_TRY(empty_input());
  FileDescriptor out;
  if (!command.out.empty()) out = PL_TRY(internal::create_output(command.out));

  internal::LaunchPlan plan;
  image.describe_to(plan);
  plan.stdio = {input.get(), out.is_open() ? out.get() : log.fd(), log.fd()};
  plan.terminate_grace = rules.terminate_grace;
  plan.kill_wait = rules.kill_wait;
  Guardian guardian = PL_TRY(Guardian::start(plan));
  const auto failure = guardian.wait_for_exec();
  if (failure) return image.error_of(*failure);
  const GuardianNews started = PL_TRY(child_of(guardian, program));
  out.reset();

  if (observer != nullptr) observer->started({started.pid, started.start_ticks});
  return internal::Supervision({guardian, log, interrupt_, rules, command.timeout, observer},
                               started)
      .run();
}

}  // namespace profline
