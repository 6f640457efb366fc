#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/progress.h"
#include "base/redaction.h"
#include "base/result.h"

namespace profline::pipeline {

/// Passes what a child prints on to our own progress: the last line it said, or the count it has
/// come to. Lines of the built-in workload lose the name it puts in front; its warnings are left
/// out, as they come back as findings.
class ChildOutput {
 public:
  explicit ChildOutput(Progress& progress) : progress_(progress) {}

  /// What came, in pieces of any size; without a line's end, that line is not over. Nothing: time
  /// went by.
  void take(std::string_view bytes);

 private:
  void tell(std::string_view line);

  Progress& progress_;
  std::string begun_;
};

/// What of a line is worth showing: without the name in front of a count; empty: nothing.
std::string_view shown_part(std::string_view line);

/// Makes the log of a child that has ended fit to be kept: of a long one the beginning and the end
/// (process/log_limits.h) with a line between them that says so, and none of the redactor's
/// secrets. A log that needs neither is left alone, as is one that is gone. Returns how many bytes
/// were left out.
Result<std::uint64_t> settle_log(const std::filesystem::path& log, const Redactor& redactor);

}  // namespace profline::pipeline
