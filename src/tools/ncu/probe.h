#pragma once

#include <filesystem>

#include "base/result.h"
#include "process/runner.h"
#include "records/tool_version.h"

namespace profline::ncu {

/// An ncu that answered to its name.
struct Installation {
  std::filesystem::path program;
  ToolVersion version;
};

/// Asks `program` for its version.
Result<Installation> probe(ProcessRunner& runner, const std::filesystem::path& program);

}  // namespace profline::ncu
