#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace profline::tokenizer::internal {

/// Where a pattern matches, in bytes.
struct Match {
  std::size_t begin;
  std::size_t end;
  bool operator==(const Match&) const = default;
};

/// A compiled pattern over UTF-8 with Unicode's character classes; immutable.
class Regex {
 public:
  /// `oniguruma` is in Oniguruma's syntax: see pcre_pattern().
  static Result<Regex> compile(std::string_view oniguruma);
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

 private:
  friend class RegexScanner;
  struct Code;
  explicit Regex(std::unique_ptr<const Code> code);

  std::unique_ptr<const Code> code_;
};

/// What matching needs besides the pattern; one per thread, for any number of patterns and texts.
class RegexScanner {
 public:
  RegexScanner();
  ~RegexScanner();
  RegexScanner(const RegexScanner&) = delete;
  RegexScanner& operator=(const RegexScanner&) = delete;

  /// Appends all matches in `text`, which is UTF-8, from left to right; an empty one never directly
  /// follows a match. A pattern that takes more than a fixed amount of work is an Error.
  Result<void> find_all(const Regex& regex, std::string_view text, std::vector<Match>& matches);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Translates a pattern for the Oniguruma library (Ruby's syntax), which tokenizer.json uses, to
/// one for PCRE2 with the same meaning. Where the two read the same text differently it is
/// rewritten:
///
///   \s \w \b   Unicode's White_Space and word characters (PCRE2 adds U+180E, leaves out marks)
///   [:alpha:]  and a few others by property
///   \h         a hexadecimal digit (PCRE2: a blank)
///   {,n}       {0,n};  \uHHHH  one character;  (?m)  the point matches line feeds
///
/// `^` and `$` match at every line, which compile_regex() requests from PCRE2. What cannot be
/// rewritten is an Error that names it: a class within a class, `&&`, `{m,n}+`, `[:punct:]`, `\Q`,
/// verbs such as (*FAIL).
Result<std::string> pcre_pattern(std::string_view oniguruma);

}  // namespace profline::tokenizer::internal
