#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace profline::schema {

/// Everything that is wrong with a tree. Warnings (deprecated keys) do not make it unusable.
class Problems {
 public:
  void add(Error error) { errors_.push_back(std::move(error)); }
  void warn(Error warning) { warnings_.push_back(std::move(warning)); }

  /// No errors; there may be warnings.
  bool empty() const { return errors_.empty(); }
  const std::vector<Error>& errors() const { return errors_; }
  const std::vector<Error>& warnings() const { return warnings_; }
  /// All errors as one; there is at least one.
  Error to_error() const { return Error::all(errors_); }

 private:
  std::vector<Error> errors_;
  std::vector<Error> warnings_;
};

/// Its address identifies the type.
template <typename T>
inline constexpr char kTypeTag = 0;
using TypeTag = const char*;

/// The failures of rules over several fields of a struct. Such rules are one pure function next to
/// the struct; reading calls it for every struct that was given and is otherwise valid:
///
///   Checks validate(const Options& options) {
///     Checks checks;
///     if (options.capture_range == CaptureRange::Nvtx && !options.nvtx_capture) {
///       checks.fail(options.nvtx_capture, "must name a range when capture_range is nvtx");
///     }
///     return checks;
///   }
class Checks {
 public:
  struct Failure {
    const void* member;  ///< null: the struct as a whole
    TypeTag type;
    std::string message;
  };

  /// `member` is a field of the struct under validation, a field of a nested struct, or the value
  /// of an optional field: the message gets its key and its place in the input. Anything else, such
  /// as an item of a list, is attributed to the struct as a whole.
  template <typename Member>
  void fail(const Member& member, std::string message) {
    failures_.push_back({&member, &kTypeTag<Member>, std::move(message)});
  }
  /// The problem is with the struct as a whole.
  void fail(std::string message) { failures_.push_back({nullptr, nullptr, std::move(message)}); }

  const std::vector<Failure>& failures() const { return failures_; }

 private:
  std::vector<Failure> failures_;
};

}  // namespace profline::schema

namespace profline {
using schema::Checks;
}  // namespace profline
