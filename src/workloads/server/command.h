#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "process/runner.h"
#include "settings/pipeline.h"

/// The command that starts a server.
namespace profline::server {

/// The user's command with `server.flags` that it does not have already.
std::vector<std::string> server_argv(const settings::Workload& workload);

/// Variables that every server gets: where the stage keeps traces, where the run is.
inline constexpr const char* kTraceFolder = "PROFLINE_TRACE_DIR";
inline constexpr const char* kRunFolder = "PROFLINE_RUN_DIR";
/// The variables that another load generator gets.
inline constexpr const char* kServerUrl = "PROFLINE_SERVER_URL";

/// `cwd`: where profline was started. A `{traces}` in flags, variables and bodies is the stage's
/// folder.
Command server_command(const settings::Workload& workload, const std::filesystem::path& cwd,
                       const std::filesystem::path& run_folder,
                       const std::filesystem::path& stage_folder);

/// `text` with the stage's folder where it says `{traces}`.
std::string with_traces(std::string text, const std::filesystem::path& stage_folder);

}  // namespace profline::server
