#pragma once

#include <string>
#include <vector>

#include "settings/root.h"

namespace profline::pipeline {

/// The NVTX ranges that the built-in workload opens with these settings, docs/formats/workload.md
/// has them; none for a user's command, of which nobody can say.
std::vector<std::string> workload_ranges(const settings::Root& settings);

}  // namespace profline::pipeline
