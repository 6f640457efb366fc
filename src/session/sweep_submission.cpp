#include "session/internal/sweep_submission.h"

#include <fmt/core.h>

#include "base/atomic_file.h"
#include "base/digests.h"
#include "process/runner.h"
#include "run/names/artifact_names.h"
#include "session/internal/sweep_task.h"

namespace profline::session {
namespace {

namespace fs = std::filesystem;
using sweep::Submission;
using sweep::Sweep;

fs::path own_program() {
  std::error_code failure;
  return fs::read_symlink("/proc/self/exe", failure);
}

/// The path below a folder; nothing if it is not below it.
std::optional<fs::path> path_below(const fs::path& folder, const fs::path& path) {
  const fs::path inside = path.lexically_normal().lexically_relative(folder);
  if (inside.empty() || *inside.begin() == "..") return std::nullopt;
  return inside;
}

/// The name of a batch script. Sweeps may share the folder that scripts go to.
std::string script_name(const fs::path& folder, const fs::path& output, std::int64_t submission) {
  constexpr std::size_t kShort = 12;
  const std::string whose =
      path_below(folder, output) ? "" : sha256_hex(folder.string()).substr(0, kShort) + "-";
  return fmt::format("batch-{}{}.sh", whose, submission);
}

/// Takes an array job back whose id could not be recorded.
Error not_recorded(const Error& error, const Submission& submission, const std::string& id,
                   ProcessRunner& runner) {
  std::vector<std::size_t> all;
  for (const std::int64_t job : submission.jobs) all.push_back(static_cast<std::size_t>(job));
  const auto cancelled = slurm::cancel(runner, id, all);
  const std::string why = "the sweep cannot be recorded: " + error.to_string();
  if (cancelled) return Error(ErrorKind::Io, why + "; Slurm job " + id + " was cancelled");
  return Error(ErrorKind::Io, why + "; Slurm job " + id +
                                  " runs without a record: " + cancelled.error().to_string())
      .with_reason(slurm::kMayHaveJobs);
}

}  // namespace

namespace internal {

std::vector<std::string> task_command(const fs::path& folder, std::int64_t submission) {
  return {own_program().string(), "sweep",        "run",
          folder.string(),        "--submission", std::to_string(submission)};
}

fs::path slurm_folder(const Sweep& record, const fs::path& folder, const fs::path& wanted_folder) {
  fs::path given = record.settings.submitit_folder;
  if (given.empty()) given = folder / ".submitit";
  const fs::path cwd = record.command_line.cwd;
  const auto inside = path_below(wanted_folder, cwd / given);
  // Only what was given may hold placeholders, and not the folders that it is in.
  const fs::path fixed =
      inside ? folder / slurm::fixed_folder(*inside) : cwd / slurm::fixed_folder(given);
  return fixed.lexically_normal();
}

Result<std::string> script_for(const Sweep& record, const Submission& submission,
                               const fs::path& folder, const fs::path& output) {
  slurm::ArrayJob array;
  for (const std::int64_t job : submission.jobs) {
    array.indexes.push_back(static_cast<std::size_t>(job));
  }
  array.command = task_command(folder, submission.number);
  array.folder = output;
  return slurm::batch_script(record.settings, array);
}

Result<FinishedJobs> submit(const fs::path& folder, const fs::path& output, Sweep record,
                            const sweep::SweepLock& lock, const Services& services) {
  const Interrupt::OrderlyStop until_recorded(services.interrupt);
  if (services.interrupt.requested()) {
    return Error(ErrorKind::Cancelled, "stopped before the sweep was submitted");
  }
  Submission& submission = record.submissions.back();
  PL_TRY(create_folders(output));
  const fs::path script = output / script_name(folder, output, submission.number);
  const std::string text = PL_TRY(script_for(record, submission, folder, output));
  PL_TRY(write_file_atomic(script, text));
  PL_TRY(write_report(folder, record, lock));
  // An interrupt must not come between the array job and the record of its id.
  const Interrupt undisturbed;
  PosixRunner runner(undisturbed);
  const auto id = slurm::submit(runner, script, text);
  if (!id) return id.error().during("submitting the sweep");
  submission.slurm_job = *id;
  const auto recorded = lock.write(record);
  if (!recorded) return not_recorded(recorded.error(), submission, *id, runner);
  FinishedJobs finished;
  finished.sweep = folder;
  finished.slurm_job = *id;
  if (services.interrupt.requested()) {
    finished.worst = ExitCode::Interrupted;
    services.remarks.problem(
        "interrupted too late: the jobs are in Slurm's queue; "
        "'profline sweep cancel' takes them out");
  }
  return finished;
}

bool may_have_jobs(const Error& error) {
  return error.reason() == slurm::kMayHaveJobs;
}

void remove_launch(const fs::path& folder, const fs::path& output) {
  std::error_code failure;
  for (const char* name : {run::files::kSweep, run::files::kSweepReport, run::files::kSweepPage}) {
    fs::remove(folder / name, failure);
  }
  fs::remove_all(folder / run::folders::kSweepTasks, failure);
  fs::remove(output / script_name(folder, output, 1), failure);
  fs::remove(output, failure);  // only if it is empty
}

}  // namespace internal
}  // namespace profline::session
