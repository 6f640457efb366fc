#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace profline::tokenizer::internal {

/// A pattern of the Oniguruma library (Ruby's syntax), which tokenizer.json is written for, as one
/// of PCRE2's with the same meaning. Where both read the same text differently it is rewritten:
///
///   \s \w \b   Unicode's White_Space and word characters (PCRE2 adds U+180E, leaves out marks)
///   [:alpha:]  and a few others by property
///   \h         a hexadecimal digit (PCRE2: a blank)
///   {,n}       {0,n};  \uHHHH  one character;  (?m)  the point matches line feeds
///
/// `^` and `$` match at every line, which compile_regex() asks of PCRE2. What cannot be rewritten
/// is an Error that names it: a class within a class, `&&`, `{m,n}+`, `[:punct:]`, `\Q`, verbs such
/// as (*FAIL).
Result<std::string> pcre_pattern(std::string_view oniguruma);

}  // namespace profline::tokenizer::internal
