#pragma once

#include <string>
#include <vector>

#include "run/run.h"

namespace profline::run {

namespace folders {
/// In the torch profiler's stage: the traces of a server's own profiler, one per worker.
inline constexpr const char* kEngineTraces = "engine";
}  // namespace folders

/// The traces that the processes of one program left in the torch profiler's stage, by name: those
/// of a server's own profiler, otherwise those of profline. Empty unless there are several.
std::vector<std::string> process_traces(const Run& run);

}  // namespace profline::run
