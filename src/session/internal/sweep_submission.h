#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "session/sweep.h"
#include "sweep/sweep.h"

/// The launch of a sweep as an array job of Slurm.
namespace profline::session::internal {

/// What launchers run for a job, whose number follows. Built once for all jobs of a launch: our
/// program may be replaced meanwhile, and then its path names another file.
std::vector<std::string> task_command(const std::filesystem::path& folder, std::int64_t submission);

/// Where the batch script and Slurm's output go; below the sweep's folder even if that got another
/// name than the config's.
std::filesystem::path slurm_folder(const sweep::Sweep& record, const std::filesystem::path& folder,
                                   const std::filesystem::path& wanted_folder);

Result<std::string> script_for(const sweep::Sweep& record, const sweep::Submission& submission,
                               const std::filesystem::path& folder,
                               const std::filesystem::path& output);

/// Submits an array job; the record has the submission before Slurm does. An interrupt does not
/// part the two. After an Error there are no jobs, unless may_have_jobs().
Result<FinishedJobs> submit(const std::filesystem::path& folder,
                            const std::filesystem::path& output, sweep::Sweep record,
                            const sweep::SweepLock& lock, const Services& services);
bool may_have_jobs(const Error& error);

/// Undoes the launch of a sweep that has not started.
void remove_launch(const std::filesystem::path& folder, const std::filesystem::path& output);

}  // namespace profline::session::internal
