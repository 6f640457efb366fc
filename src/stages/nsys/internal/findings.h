#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/stage.h"
#include "process/exit.h"
#include "stages/nsys/internal/captures.h"

/// What the user is told about a capture of nsys', before it and after it.
namespace profline::stages::internal {

std::vector<pipeline::Finding> nsys_preflight(const pipeline::StageContext& context);

/// What is captured when, for the plan.
std::vector<std::string> capture_notes(const pipeline::RunSetup& setup);

/// What is to be said of how `nsys profile` ended; nothing when all is well, or when others tell.
std::optional<pipeline::Finding> capture_end(const pipeline::StageContext& context,
                                             const NsysRegion& region,
                                             const pipeline::PlannedCommand& planned,
                                             const Exit& exit);

pipeline::Finding export_failure(const NsysReport& report, const Exit& exit, const Error& error);

/// What a region's files and log say about its capture.
std::vector<pipeline::Finding> check_region(const pipeline::StageContext& context,
                                            const NsysRegion& region);

}  // namespace profline::stages::internal
