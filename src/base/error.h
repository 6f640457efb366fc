#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace profline {

/// The category of a failure, which chooses the exit code. No code matches on message text.
enum class ErrorKind {
  Config,     ///< the input is contradictory or out of range
  NotFound,   ///< a named tool, file or device does not exist
  Io,         ///< the operating system refused or failed
  Parse,      ///< text or bytes do not follow their format
  Tool,       ///< another program failed
  Cancelled,  ///< the user stopped it
};

/// A place in an input. Lines and columns count from 1, columns in characters (code points); 0
/// means unknown. The source is a file name or a substitute (`override 3`, `<stdin>`).
struct Position {
  std::string source;
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  bool operator==(const Position&) const = default;
  /// `conf/a.yaml:4:3`, `conf/a.yaml`, `line 4, column 3`, `line 4`, or nothing.
  std::string to_string() const;
};

/// A failure as a value: good enough to print without rewording.
///
///   stage timeline: reading kernels.csv: line 1: no column 'Total Time (ns)'
///   conf/stage/nsys.yaml:4:3: unknown key 'timout' (did you mean 'timeout'?)
///
/// A message names the thing, what was wrong and what would be right; lower case, no full stop.
class Error {
 public:
  Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}
  Error(ErrorKind kind, std::string message, Position position)
      : kind_(kind), message_(std::move(message)), position_(std::move(position)) {}

  /// Several failures reported together, in order; `problems` is not empty. The kind is that of the
  /// first.
  static Error all(const std::vector<Error>& problems);

  /// Adds what was being done when this happened; the last activity added is printed first.
  Error during(std::string activity) &&;
  Error during(std::string activity) const&;

  /// Adds the offending line of the input, with a caret under `column` (from 1, in characters).
  /// Lines too long to read are cut around the caret.
  Error with_excerpt(std::string_view line, std::uint32_t column) &&;

  /// Adds a short, stable name of the reason (`key_not_in_config`), for programs: the message may
  /// be reworded, this may not. `reason` must outlive the Error; usually a literal.
  Error with_reason(const char* reason) &&;

  ErrorKind kind() const { return kind_; }
  /// The reason's name; empty if it was not set.
  std::string_view reason() const { return reason_; }
  const std::string& message() const { return message_; }
  const std::optional<Position>& position() const { return position_; }
  /// What was being done, outermost last.
  const std::vector<std::string>& activities() const { return activities_; }
  /// The failures that this Error combines, each printable on its own.
  std::vector<Error> each() const;

  /// `activity: activity: position: message`, then the excerpt; one such paragraph per problem.
  std::string to_string() const;

 private:
  ErrorKind kind_;
  const char* reason_ = "";
  std::string message_;
  std::optional<Position> position_;
  std::vector<std::string> activities_;
  std::string excerpt_;
  std::vector<Error> others_;
};

namespace internal {

[[noreturn]] void assertion_failed(const char* condition, const char* why, const char* file,
                                   int line);

}  // namespace internal

/// The exit codes of our programs. The only place that spells these numbers.
enum class ExitCode : int {
  Done = 0,
  Failed = 1,        ///< a stage failed, or a comparison found a regression
  BadInput = 2,      ///< the input is malformed or contradictory
  Absent = 3,        ///< a named tool, file or device does not exist
  Interrupted = 130  ///< stopped by the user
};

constexpr ExitCode exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Config:
    case ErrorKind::Parse:
      return ExitCode::BadInput;
    case ErrorKind::NotFound:
      return ExitCode::Absent;
    case ErrorKind::Cancelled:
      return ExitCode::Interrupted;
    case ErrorKind::Io:
    case ErrorKind::Tool:
      return ExitCode::Failed;
  }
  return ExitCode::Failed;
}

/// Why a system call failed, in words that can end a sentence: `no such file`, `permission denied`,
/// `no space left on device`.
std::string os_error_words(int error_number);

/// NotFound where the named thing cannot be used (absent, a directory, not readable by us, an
/// impossible name); Io where the system failed on something that exists.
ErrorKind os_error_kind(int error_number);

/// Whether the file system of `path` (or of its nearest existing parent) has space but no free
/// inodes, which the system also reports as `no space left on device`.
bool is_out_of_inodes(const std::filesystem::path& path);

/// `cannot read conf/x.yaml: no such file`, for the attempt `read`.
Error os_error(std::string_view attempt, const std::filesystem::path& path, int error_number);
/// The same with a cause in our own words.
Error os_error(std::string_view attempt, const std::filesystem::path& path, ErrorKind kind,
               std::string_view cause);

}  // namespace profline

/// States what the surrounding code relies on; enabled in every build. A failure is a bug in our
/// code and ends the program: user input never causes one.
#define PL_ASSERT(condition, why) \
  (static_cast<bool>(condition)   \
       ? static_cast<void>(0)     \
       : ::profline::internal::assertion_failed(#condition, why, __FILE__, __LINE__))
