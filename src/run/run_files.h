#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/redaction.h"
#include "base/result.h"
#include "process/runner.h"
#include "records/run_record.h"

namespace profline::run {

/// Inserts a suffix into a file name, ahead of the first `before`: `raw-nested1.csv` for raw.csv. A
/// name without that character gets it at its end.
std::string with_suffix(std::string_view name, std::string_view suffix, char before = '.');

/// Every finished file below `folder` (except temporaries and links) with size and digest, sorted;
/// paths are relative to `run`. Files that vanish meanwhile are left out.
Result<std::vector<ArtifactRecord>> digest_files(const std::filesystem::path& folder,
                                                 const std::filesystem::path& run);

/// The same for the given files.
Result<std::vector<ArtifactRecord>> digest_each(std::vector<std::filesystem::path> files,
                                                const std::filesystem::path& run);

/// The files of the run itself: those directly in its folder, except run.json and run.log, which
/// still change.
Result<std::vector<ArtifactRecord>> digest_run_files(const std::filesystem::path& run);

/// Makes reports of nsys and ncu below `folder` readable by their owner only: they contain the
/// command line and the environment of the program, unredacted.
void make_captures_private(const std::filesystem::path& folder);

/// Writes the command as text for people, without its secrets and readable by its owner only.
Result<void> write_command_file(const std::filesystem::path& file, const Command& command,
                                const Redactor& redactor);

/// Where a tool writes a file that is renamed once it is complete: `.raw.csv` for raw.csv.
std::filesystem::path unfinished(const std::filesystem::path& file);

/// Removes unfinished files of killed writers, in `folder` and all folders below it.
Result<void> remove_temporaries(const std::filesystem::path& folder, const Clock& clock);

/// Puts the digests of files of the run into its run.json, whose record is `record`, and leaves
/// other digests unchanged.
Result<void> record_digests(const std::filesystem::path& run, RunRecord record,
                            const std::vector<std::filesystem::path>& names);

}  // namespace profline::run
