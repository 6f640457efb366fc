#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/progress.h"
#include "base/redaction.h"
#include "base/result.h"

namespace profline::pipeline {

/// Passes what a child prints on to our own progress: its last line, or its current count. Lines of
/// the built-in workload lose their name prefix, and its warnings are left out because they come
/// back as findings.
class ChildOutput {
 public:
  explicit ChildOutput(Progress& progress) : progress_(progress) {}

  /// Takes output in pieces of any size; a line ends only with its newline. Empty: time has passed
  /// without output.
  void take(std::string_view bytes);

 private:
  void show(std::string_view line);

  Progress& progress_;
  std::string begun_;
};

/// The part of a line that is worth showing: a count without the name in front of it; empty:
/// nothing.
std::string_view shown_part(std::string_view line);

/// Prepares the log of a child that has ended for keeping: of a long one only the beginning and the
/// end (process/log_limits.h) with a line between them that says so, and without the redactor's
/// secrets. A log that needs neither is left alone, and so is one that no longer exists. Returns
/// the number of bytes left out.
Result<std::uint64_t> settle_log(const std::filesystem::path& log, const Redactor& redactor);

}  // namespace profline::pipeline
