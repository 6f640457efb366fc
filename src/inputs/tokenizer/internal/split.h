#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "inputs/tokenizer/internal/regex.h"

namespace profline::tokenizer::internal {

/// What becomes of the parts that a pattern matches.
enum class Behavior { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };

/// One Split stage of a pre-tokenizer.
struct Split {
  std::variant<Regex, std::string> pattern;  // a string matches itself
  Behavior behavior;
  bool invert;  // what lies between the matches counts as matched, and the other way round
};

/// Appends the pieces of `text`; none is empty.
Result<void> split_text(const Split& split, std::string_view text, RegexScanner& scanner,
                        std::vector<std::string_view>& pieces);

}  // namespace profline::tokenizer::internal
