#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/redaction.h"
#include "base/result.h"

namespace profline {

enum class LogLevel { Debug, Info, Warning, Error };

/// The record a run keeps of itself, one line an event:
///
///   2026-11-15T10:20:30.123Z info  stage nsys: 3 of 3 reports exported
///
/// Each line reaches the file as it is written, in one piece, so a program killed later loses none
/// and two programs may share a log. Text may come from anywhere: what would break or fake a line
/// is escaped. Handed to those who need it; copies write to the same file.
class Log {
 public:
  /// Opens the file at its end, creating it if need be, for its owner alone to read. What
  /// `redactor` takes for a secret does not reach it. The clock must outlive the log.
  static Result<Log> open(const std::filesystem::path& path, LogLevel least, const Clock& clock,
                          Redactor redactor = {});
  /// One that keeps nothing.
  static Log null();

  /// The same log, each line of it beginning with `context` (`stage nsys`) and a colon.
  Log with_context(std::string_view context) const;

  void debug(std::string_view text) const { write(LogLevel::Debug, text); }
  void info(std::string_view text) const { write(LogLevel::Info, text); }
  void warning(std::string_view text) const { write(LogLevel::Warning, text); }
  void error(std::string_view text) const { write(LogLevel::Error, text); }
  void write(LogLevel level, std::string_view text) const;

  /// Ok when the file has every line so far; otherwise why the first lost line was lost. Logging
  /// itself never fails: a full disk must not end a measurement.
  Result<void> health() const;

 private:
  struct File;
  Log(std::shared_ptr<File> file, std::string context);

  // Shared: stages hold copies with contexts of their own, and the last one closes the file.
  std::shared_ptr<File> file_;
  std::string context_;
};

}  // namespace profline
