#pragma once

#include <array>
#include <string>

#include "base/error.h"
#include "schema/field.h"

namespace profline {

enum class Severity {
  Note,     ///< worth knowing: a limit, a translation
  Warning,  ///< the result is valid, but lacks something
  Problem,  ///< the result is invalid; in a preflight: the stage cannot run
};
constexpr auto names(std::type_identity<Severity>) {
  using schema::named;
  return std::array{named(Severity::Note, "note"), named(Severity::Warning, "warning"),
                    named(Severity::Problem, "problem")};
}

/// One thing the user should know about a stage: shown in the terminal, in status.json, in run.json
/// and in the report.
struct Finding {
  Severity severity = Severity::Note;
  std::string code;   ///< stable, for programs: `range_never_opened`
  std::string text;   ///< what was found: lower case, no full stop
  std::string fix{};  ///< what to do about it; empty: nothing to do
  /// For a Problem before anything runs: chooses the exit code, like that of an Error. Not written.
  ErrorKind kind = ErrorKind::NotFound;

  bool operator==(const Finding&) const = default;
};
constexpr auto fields(std::type_identity<Finding>) {
  using schema::field;
  return field_list(field("severity", &Finding::severity, "how much it matters").required(),
                    field("code", &Finding::code, "stable name, for programs").required(),
                    field("text", &Finding::text, "what was found").required(),
                    field("fix", &Finding::fix, "what to do about it; may be empty"));
}

}  // namespace profline
