#pragma once

#include <filesystem>
#include <vector>

#include "base/clock.h"
#include "base/redaction.h"
#include "base/result.h"
#include "process/command.h"
#include "records/run_record.h"

namespace profline::run {

/// Every finished file below `folder` (temporaries and links aside) with size and digest, sorted;
/// paths relative to `run`. What vanishes meanwhile is left out.
Result<std::vector<ArtifactRecord>> digest_files(const std::filesystem::path& folder,
                                                 const std::filesystem::path& run);

/// Those files, sorted, as above.
Result<std::vector<ArtifactRecord>> digest_each(std::vector<std::filesystem::path> files,
                                                const std::filesystem::path& run);

/// The files of the run itself: those directly in its folder, but for run.json and run.log, which
/// still change.
Result<std::vector<ArtifactRecord>> digest_run_files(const std::filesystem::path& run);

/// Takes reports of nsys and ncu below `folder` from the eyes of others: they hold the command line
/// and the environment of the program, as they were.
void make_captures_private(const std::filesystem::path& folder);

/// Writes the command as a text for people, for its owner alone and without its secrets.
Result<void> write_command_file(const std::filesystem::path& file, const Command& command,
                                const Redactor& redactor);

/// Removes what writers that were killed left unfinished, in `folder` and all below it.
Result<void> remove_temporaries(const std::filesystem::path& folder, const Clock& clock);

/// Puts the digests of files of the run into its run.json, and leaves those of others as they are.
Result<void> record_digests(const std::filesystem::path& run,
                            const std::vector<std::filesystem::path>& names);

}  // namespace profline::run
