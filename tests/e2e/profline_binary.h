#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "process/command.h"

namespace profline::e2e {

/// What a run of the built profline gave back.
struct Outcome {
  int code = -1;  ///< exit code; -1 when it ended otherwise
  std::string out;
  std::string err;
};

/// Runs build/bin/profline with these arguments, in a folder of its own unless `base` says so.
Outcome run_profline(std::vector<std::string> arguments, Command base = {});

/// Runs any program; stdout, stderr and a time limit are seen to.
Outcome run_command(Command command);

/// The built profline.
std::filesystem::path profline_program();

/// Runs build/bin/profline in a given folder.
Outcome run_profline_in(const std::filesystem::path& folder, std::vector<std::string> arguments);

/// Writes files with the folders they are in; paths are relative to `root`.
void write_files(const std::filesystem::path& root,
                 const std::vector<std::pair<std::string, std::string>>& files);

}  // namespace profline::e2e
