#pragma once

#include <filesystem>

#include "base/result.h"
#include "records/timeline.h"

namespace profline {

/// Reads a capture that any tool wrote; its kind is found by its content: a Kineto or Chrome trace
/// (plain or gzip), or what nsys exported as SQLite.
Result<Timeline> read_capture(const std::filesystem::path& file);

}  // namespace profline
