#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/stage.h"
#include "process/exit.h"
#include "records/ncu_kernels.h"
#include "records/ncu_regions.h"
#include "stages/ncu/internal/files.h"
#include "tools/ncu/messages.h"

/// What the user is told about a capture of ncu's, before it and after it.
namespace profline::stages::internal {

std::vector<pipeline::Finding> ncu_preflight(const pipeline::StageContext& context);

/// Translations and bounds, for the plan.
std::vector<std::string> ncu_notes(const pipeline::StageContext& context);

/// What ncu said in a try: its own log, and what it printed among the program's lines.
ncu::Messages messages_of(const NcuFiles& files, const Attempt& attempt);

/// What is to be said of how ncu ended; nothing when all is well, or when others tell.
std::optional<pipeline::Finding> capture_end(const pipeline::StageContext& context,
                                             const pipeline::PlannedCommand& planned,
                                             const Exit& exit, const Attempt& attempt);

/// Why nothing was profiled, in words: `no kernel was launched in the ranges decode/ ...`.
std::string why_nothing(const pipeline::StageContext& context, const ncu::Messages& messages,
                        bool gated);

/// What files and logs say about the capture.
std::vector<pipeline::Finding> check_capture(const pipeline::StageContext& context);

/// Which launches the first attempt captured when their number reached the bound, so that later
/// ones are missing; nothing when it did not.
std::optional<pipeline::Finding> bound_reached(const pipeline::StageContext& context,
                                               const NcuKernels& kernels);

/// Ranges that were to be replayed and are not in the table.
std::vector<pipeline::Finding> ranges_not_replayed(const pipeline::StageContext& context,
                                                   const NcuRegions& regions);

}  // namespace profline::stages::internal
