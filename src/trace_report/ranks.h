#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "analysis/kernels/classify.h"
#include "analysis/ranks/capture.h"
#include "base/result.h"

namespace profline::trace_report {

/// What is kept of captures for comparing ranks: one per file or, for an SQLite export of nsys, one
/// per process that used a device. Captures are read two at a time, and none of them is kept.
Result<std::vector<ranks::Capture>> read_ranks(std::span<const std::string> files,
                                               const kernels::Classifier& classes);

/// The processes in a capture that used a device, if there are several and they communicated with
/// each other; else nothing.
std::vector<ranks::Capture> processes_of(const Timeline& timeline,
                                         const kernels::Classifier& classes);

/// Whether captures are of the ranks of one program: each states a rank of its own, and they took
/// part in the same collectives, or state the size of the same job. Two captures of one program by
/// different tools are not.
bool are_ranks(std::span<const ranks::Capture> captures);

}  // namespace profline::trace_report
