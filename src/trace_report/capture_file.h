#pragma once

#include <filesystem>

#include "base/result.h"
#include "records/timeline.h"

namespace profline::trace_report {

/// Reads a capture, whose kind is detected from its content: a Kineto or Chrome trace (plain or
/// gzip), or an SQLite export of nsys. A file without anything usable is an Error that says what is
/// in it.
Result<Timeline> read_capture(const std::filesystem::path& file);

/// Whether the file starts like a Kineto or Chrome trace (plain or gzip). A pipe, which can be read
/// only once, is assumed to be one.
Result<bool> looks_like_trace(const std::filesystem::path& file);

}  // namespace profline::trace_report
