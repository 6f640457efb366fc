#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "session/sweep.h"
#include "sweep/sweep.h"

/// One job of a sweep, in whichever process its launcher runs it, and the report after its end.
namespace profline::session::internal {

/// Now, as records have it.
std::string now_text();

/// Writes sweep.md, sweep.html and sweep.json.
Result<void> write_report(const std::filesystem::path& folder, sweep::Sweep& record,
                          const sweep::SweepLock& lock);

/// The attempt at a job that this process begins now.
sweep::Attempt this_attempt(std::int64_t submission);

/// After the end of a job, from what the jobs wrote. A report that cannot be written does not make
/// the job fail. Of many jobs that end together, a few report on all.
void report_progress(const std::filesystem::path& folder, const Remarks& remarks);

struct JobOutcome {
  ExitCode code = ExitCode::Done;
  sweep::End how = sweep::End::Done;
  std::optional<FinishedRun> run{};
};

/// Runs a claimed job and records the attempt. What keeps it from starting is reported and
/// recorded.
Result<JobOutcome> run_claimed(sweep::TaskClaim& claim, const RunRequest& request,
                               std::int64_t submission, const TimeLimitNotice* time_limit,
                               const Services& services);

/// The run of a job as the sweep's record has it; resumes what began before.
RunRequest request_for(const sweep::Sweep& record, const sweep::Job& job,
                       const std::filesystem::path& folder);

}  // namespace profline::session::internal
