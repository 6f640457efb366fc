#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/services.h"

namespace profline::session {

/// Runs the program of one rank as launch.json plans it, and writes rank.json when it starts and
/// when it ends. Returns the exit code of the rank: the program's, or 128 and the signal that ended
/// it.
Result<int> run_rank(const std::filesystem::path& launch_file,
                     const std::vector<std::string>& program, const Services& services);

}  // namespace profline::session
