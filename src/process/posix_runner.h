#pragma once

#include <chrono>

#include "process/interrupt.h"
#include "process/runner.h"

namespace profline {

/// How long each way of stopping a child may take before the next one is used.
struct StopRules {
  std::chrono::milliseconds interrupt_grace{std::chrono::seconds(10)};  ///< after SIGINT
  std::chrono::milliseconds terminate_grace{std::chrono::seconds(5)};   ///< after SIGTERM
  /// After SIGKILL, which only a process stuck in the kernel or of another user survives; then we
  /// give up and report it, rather than wait forever.
  std::chrono::milliseconds kill_wait{std::chrono::seconds(5)};
  /// How long processes that outlive the child may take to end by themselves: helpers that are
  /// about to exit are not worth mentioning.
  std::chrono::milliseconds settle{100};
};

/// Runs real child processes, each under its own guardian process (see internal/guardian.h): in
/// their own process group, without a terminal and with an empty stdin. They and all their
/// descendants are dead when run() returns or we die.
///
/// To stop: SIGINT to the child's group, interrupt_grace, SIGTERM, terminate_grace, SIGKILL.
/// Processes that outlive the child get SIGTERM, terminate_grace, SIGKILL, and are listed in the
/// Exit. An interrupt in a hurry goes to SIGKILL at once.
///
/// Makes this program a child subreaper, permanently. Several threads may run commands at once; but
/// if a guardian is killed, every child of this program that is younger than it is treated as its
/// orphan and ended, so start children only through runners.
class PosixRunner final : public ProcessRunner {
 public:
  explicit PosixRunner(const Interrupt& interrupt, StopRules rules = {});

 private:
  Result<Exit> run_checked(const Command& command, RunObserver* observer) override;

  const Interrupt& interrupt_;
  StopRules rules_;
};

}  // namespace profline
