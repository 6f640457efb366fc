#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "analysis/kernels/classify.h"
#include "analysis/ranks/job.h"
#include "base/result.h"

namespace profline::trace_report {

/// What is kept of captures for comparing ranks: one per file or, for an SQLite export of nsys, one
/// per process that used a device, without helpers. Captures are read two at a time, and none of
/// them is kept.
Result<ranks::Job> read_ranks(std::span<const std::string> files,
                              const kernels::Classifier& classes);

/// Whether captures are of the ranks of one program: each states a rank of its own, and they took
/// part in the same collectives, or state the size of the same job. Two captures of one program by
/// different tools are not.
bool are_ranks(std::span<const ranks::Capture> captures);

}  // namespace profline::trace_report
