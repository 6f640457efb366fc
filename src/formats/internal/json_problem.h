#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace profline::internal {

/// What is wrong with a JSON text, and where.
struct JsonProblem {
  std::size_t offset = 0;  ///< in bytes
  std::string message;
  bool truncated = false;  ///< the only problem is that the text ends
};

/// What JSON's grammar allows after the tokens read so far.
enum class JsonExpected {
  Value,
  ValueOrListEnd,
  KeyOrMapEnd,
  Colon,
  CommaOrListEnd,
  CommaOrMapEnd,
  End,
};

/// Explains why a text was refused that is well-formed up to `offset`, where a token of the
/// `expected` kind should follow.
JsonProblem explain_json_problem(std::string_view text, std::size_t offset, JsonExpected expected);

/// Why `text` is not one JSON value; nothing when it is. Duplicate keys are allowed here.
std::optional<JsonProblem> find_json_problem(std::string_view text);

}  // namespace profline::internal
