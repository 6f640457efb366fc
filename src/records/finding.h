#pragma once

#include <array>
#include <string>

#include "base/error.h"
#include "schema/field.h"

namespace profline {

enum class Severity {
  Note,     ///< worth knowing: a limit, a translation
  Warning,  ///< the result stands, and lacks something
  Problem,  ///< the result does not stand; of a preflight: the stage cannot run
};
constexpr auto names(std::type_identity<Severity>) {
  using schema::named;
  return std::array{named(Severity::Note, "note"), named(Severity::Warning, "warning"),
                    named(Severity::Problem, "problem")};
}

/// One thing that the user is told about a stage: in the terminal, in status.json, in run.json and
/// in the report.
struct Finding {
  Severity severity = Severity::Note;
  std::string code;   ///< stable, for programs: `range_never_opened`
  std::string text;   ///< what was seen: lower case, no full stop
  std::string fix{};  ///< what to do about it; empty: nothing to do
  /// Of a Problem before anything runs: chooses the exit code, as an Error's does. Not written.
  ErrorKind kind = ErrorKind::NotFound;

  bool operator==(const Finding&) const = default;
};
constexpr auto fields(std::type_identity<Finding>) {
  using schema::field;
  return field_list(field("severity", &Finding::severity, "how much it matters").required(),
                    field("code", &Finding::code, "stable name, for programs").required(),
                    field("text", &Finding::text, "what was seen").required(),
                    field("fix", &Finding::fix, "what to do about it; may be empty"));
}

}  // namespace profline
