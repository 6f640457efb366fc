#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "profline_binary.h"

namespace profline::e2e {

/// The built profline-workload: whether it exists, and whether it opens NVTX ranges.
std::filesystem::path workload_program();
bool has_workload();
bool workload_has_nvtx();

/// The config that profline would pass to it: the tiny model (or the dummy network) on the CPU, one
/// thread and one small drawn page, changed by these overrides.
std::string tiny_config(const std::vector<std::string>& overrides);
std::string dummy_config(const std::vector<std::string>& overrides);

/// Runs build/bin/profline-workload with these arguments in a given folder.
Outcome run_workload_in(const std::filesystem::path& folder, std::vector<std::string> arguments);

}  // namespace profline::e2e
