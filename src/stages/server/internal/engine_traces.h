#pragma once

#include <cstdint>
#include <map>

#include "base/result.h"
#include "pipeline/stage.h"
#include "records/server.h"
#include "records/timeline.h"

/// The traces that a server's own profiler writes: one per worker, under names of the engine's.
namespace profline::stages::internal {

/// The engine names its traces itself: the largest one becomes the trace of the stage, and those of
/// several workers are kept, to be compared as ranks. None is a Problem, unless the server ended
/// before it could write them.
Result<void> adopt_traces(const pipeline::RunSetup& setup, bool server_survived,
                          pipeline::StageRun& run);

/// Adds the kernels and copies that each process launched; 0 for one that launched none.
void count_work(const Timeline& timeline, std::map<std::int64_t, std::uint64_t>& work);

/// The same for all traces that were kept. They are read only if a process that had a GPU open is
/// not in `shown`, the one that became the stage's. A trace that cannot be read is left out.
std::map<std::int64_t, std::uint64_t> work_of_engine(const pipeline::RunSetup& setup,
                                                     const ServerRecord& record,
                                                     const Timeline& shown);

}  // namespace profline::stages::internal
