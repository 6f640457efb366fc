#pragma once

#include <filesystem>

#include "base/result.h"
#include "records/timeline.h"

namespace profline::trace_report {

/// Reads a capture that any tool wrote; its kind is found by its content: a Kineto or Chrome trace
/// (plain or gzip), or what nsys exported as SQLite. A file of which nothing could be used is an
/// Error that says what is in it.
Result<Timeline> read_capture(const std::filesystem::path& file);

/// Whether the file begins as a Kineto or Chrome trace does (plain or gzip). A pipe, which can be
/// read only once, is taken for one.
Result<bool> looks_like_trace(const std::filesystem::path& file);

}  // namespace profline::trace_report
