#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "process/runner.h"

namespace profline::e2e {

/// The outcome of a run of the built profline.
struct Outcome {
  int code = -1;  ///< exit code; -1 when it ended otherwise
  std::string out;
  std::string err;
};

/// Runs build/bin/profline with these arguments, in its own folder unless `base` is given.
Outcome run_profline(std::vector<std::string> arguments, Command base = {});

/// Runs any program with captured stdout and stderr and a time limit.
Outcome run_command(Command command);

/// The built profline.
std::filesystem::path profline_program();

/// Runs build/bin/profline in a given folder.
Outcome run_profline_in(const std::filesystem::path& folder, std::vector<std::string> arguments);

/// Writes files with the folders they are in; paths are relative to `root`.
void write_files(const std::filesystem::path& root,
                 const std::vector<std::pair<std::string, std::string>>& files);

}  // namespace profline::e2e
