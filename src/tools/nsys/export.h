#pragma once

#include <filesystem>

#include "base/result.h"
#include "process/command.h"
#include "process/runner.h"

namespace profline::nsys {

/// `nsys export` of a report to SQLite.
Command export_command(const std::filesystem::path& program, const std::filesystem::path& report,
                       const std::filesystem::path& sqlite);

/// Runs it. An Error of kind Tool when it left no file: its exit code proves nothing.
Result<void> export_sqlite(ProcessRunner& runner, const std::filesystem::path& program,
                           const std::filesystem::path& report,
                           const std::filesystem::path& sqlite);

}  // namespace profline::nsys
