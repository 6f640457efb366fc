#include "process/runner.h"

namespace profline {

Result<Exit> ProcessRunner::run(const Command& command) {
  PL_TRY(check(command));
  return run_checked(command, nullptr);
}

Result<Exit> ProcessRunner::run(const Command& command, RunObserver& observer) {
  PL_TRY(check(command));
  return run_checked(command, &observer);
}

}  // namespace profline
