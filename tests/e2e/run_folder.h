#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "profline_binary.h"
#include "records/request.h"
#include "records/run_record.h"

namespace profline::e2e {

/// A run of the tiny model that takes one second per stage, with these overrides; stages that are
/// not requested are off.
std::vector<std::string> tiny_run(const std::vector<std::string>& overrides);

/// A run of a user's program, only its baseline.
std::vector<std::string> own_command_run(const std::string& command,
                                         const std::vector<std::string>& overrides = {});

/// run.json; a test failure if it cannot be read.
RunRecord record_of(const std::filesystem::path& run);
StageState state_of(const RunRecord& run, const std::string& stage);

/// Everything that is wrong with a run's folder, however the run ended: a JSON file that does not
/// parse or has no schema, a file that differs from its digest in run.json, a temporary file.
std::vector<std::string> damage_in(const std::filesystem::path& run);

/// requests.jsonl in a folder; a test failure if it cannot be read.
std::vector<Request> requests_in(const std::filesystem::path& folder);

/// The lines of a log that begin with `prefix`. A profiler prints into the same log, and a line of
/// the program may follow its progress without a line feed.
std::vector<std::string> printed(const std::string& log, const std::string& prefix);

/// A program that runs `script` (for sh; `$REAL "$@"` is the real workload) in place of the
/// workload.
std::filesystem::path workload_script(const std::filesystem::path& folder,
                                      const std::string& script);

}  // namespace profline::e2e
