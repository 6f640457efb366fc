#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "profline_binary.h"
#include "records/run_record.h"

namespace profline::e2e {

/// A run of the tiny model that takes a second a stage, with these overrides; every stage is off
/// that is not asked for.
std::vector<std::string> tiny_run(const std::vector<std::string>& overrides);

/// A run of a program of the user's own, its baseline alone.
std::vector<std::string> own_command_run(const std::string& command,
                                         const std::vector<std::string>& overrides = {});

/// run.json; a test failure when it cannot be read.
RunRecord record_of(const std::filesystem::path& run);
StageState state_of(const RunRecord& run, const std::string& stage);

/// All that is wrong with a run's folder, whatever became of the run: a JSON file that does not
/// parse or has no schema, a file that differs from its digest in run.json, a temporary.
std::vector<std::string> damage_in(const std::filesystem::path& run);

/// A program that does `script` (of sh; `$REAL "$@"` is the true workload) in the workload's place.
std::filesystem::path workload_script(const std::filesystem::path& folder,
                                      const std::string& script);

}  // namespace profline::e2e
