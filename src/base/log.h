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

/// The log that a run keeps, one line per event:
///
///   2026-11-15T10:20:30.123Z info  stage nsys: 3 of 3 reports exported
///
/// Each line reaches the file as it is written, in one piece, so a program killed later loses none
/// and two programs may share a log. Untrusted text is safe: characters that would break or forge a
/// line are escaped. Copies write to the same file.
class Log {
 public:
  /// Opens the file at its end, creating it readable by its owner alone if it does not exist.
  /// `redactor` removes secrets from every line. The clock must outlive the log.
  static Result<Log> open(const std::filesystem::path& path, LogLevel least, const Clock& clock,
                          Redactor redactor = {});
  /// A log that discards everything.
  static Log null();

  /// The same log, with `context` (`stage nsys`) and a colon at the start of each line.
  Log with_context(std::string_view context) const;

  void debug(std::string_view text) const { write(LogLevel::Debug, text); }
  void info(std::string_view text) const { write(LogLevel::Info, text); }
  void warning(std::string_view text) const { write(LogLevel::Warning, text); }
  void error(std::string_view text) const { write(LogLevel::Error, text); }
  void write(LogLevel level, std::string_view text) const;

  /// Ok if every line so far is in the file; otherwise why the first lost line was lost. Logging
  /// itself never fails: a full disk must not end a measurement.
  Result<void> health() const;

 private:
  struct File;
  Log(std::shared_ptr<File> file, std::string context);

  // Shared: stages hold copies with their own contexts, and the last one closes the file.
  std::shared_ptr<File> file_;
  std::string context_;
};

}  // namespace profline
