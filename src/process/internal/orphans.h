#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <vector>

#include "process/exit.h"
#include "process/posix_runner.h"
#include "process/process_table.h"

namespace profline::internal {

/// Waits for a child of ours; false when it has not ended in time (or is not ours).
bool wait_for_child(pid_t pid, std::chrono::milliseconds at_most, int& status, rusage& usage);

/// Ends and reaps what a guardian that was killed left to us: our children that are younger than it
/// and no guardians themselves, with all their descendants. SIGTERM, a grace, SIGKILL.
/// `main` is the guardian's own child, seen to elsewhere.
std::vector<Leftover> end_orphans(const ProcessStat& guardian, pid_t main, const StopRules& rules);

}  // namespace profline::internal
