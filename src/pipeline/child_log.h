#pragma once

#include <cstdint>
#include <filesystem>

#include "base/redaction.h"
#include "base/result.h"

namespace profline::pipeline {

/// Makes the log of a child that has ended fit to be kept: of a long one the beginning and the end
/// (process/log_limits.h) with a line between them that says so, and none of the redactor's
/// secrets. A log that needs neither is left alone, as is one that is gone. Returns how many bytes
/// were left out.
Result<std::uint64_t> settle_log(const std::filesystem::path& log, const Redactor& redactor);

}  // namespace profline::pipeline
