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
  /// give up and say so, rather than wait for ever.
  std::chrono::milliseconds kill_wait{std::chrono::seconds(5)};
  /// How long what the child leaves behind may take to end by itself, once the child has: helpers
  /// that are just exiting are not worth a word.
  std::chrono::milliseconds settle{100};
};

/// Runs children for real, each under a guardian process of its own (see internal/guardian.h): in
/// their own process group, with no terminal and an empty stdin, and dead with all their
/// descendants when run() returns or we die.
///
/// To stop: SIGINT to the child's group, interrupt_grace, SIGTERM, terminate_grace, SIGKILL. What
/// the child leaves behind gets SIGTERM, terminate_grace, SIGKILL, and is listed in the Exit. An
/// interrupt in a hurry goes to SIGKILL at once.
///
/// Makes this program a child subreaper, for good. Several threads may run commands at once; but if
/// a guardian is killed, every child of this program that is younger than it is taken for an orphan
/// of its and ended, so start children through runners only.
class PosixRunner final : public ProcessRunner {
 public:
  explicit PosixRunner(const Interrupt& interrupt, StopRules rules = {});

 private:
  Result<Exit> run_checked(const Command& command, RunObserver* observer) override;

  const Interrupt& interrupt_;
  StopRules rules_;
};

}  // namespace profline
