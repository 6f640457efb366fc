#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "inputs/tokenizer/tokenizer.h"

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

/// A token that is cut out of the text before any other processing.
struct AddedToken {
  TokenId id = 0;
  std::string content;
  bool single_word = false;  ///< does not match inside a word
  bool lstrip = false;       ///< includes preceding white space
  bool rstrip = false;       ///< includes following white space
  bool normalized = true;    ///< searched for after those that are not
  bool special = false;
};

/// A stretch of text: one added token, or the text between two.
struct Segment {
  std::string_view text;
  const AddedToken* token;  // null: ordinary text
};

/// Finds added tokens: from left to right, at each place the longest.
class AddedTokens {
 public:
  static Result<AddedTokens> build(std::vector<AddedToken> tokens);

  /// Cuts `text` at tokens with or without `normalized`.
  Result<std::vector<Segment>> cut(std::string_view text, bool normalized,
                                   RegexScanner& scanner) const;
  const std::vector<AddedToken>& all() const { return tokens_; }

 private:
  /// A tree of the tokens' bytes.
  struct TreeNode {
    unsigned char byte = 0;
    std::int32_t child = -1;  // the first; the others follow by `sibling`
    std::int32_t sibling = -1;
    std::int32_t token = -1;  // the one that ends here
  };
  AddedTokens(Regex word, Regex space) : word_(std::move(word)), space_(std::move(space)) {}
  void insert(std::size_t tree, std::string_view content, std::int32_t token);
  const AddedToken* longest_at(std::string_view text, std::size_t tree) const;
  Result<bool> breaks_word(std::string_view text, const Match& match, RegexScanner& scanner) const;
  Result<void> take_space(std::string_view text, const AddedToken& token, std::size_t done,
                          Match& match, RegexScanner& scanner) const;

  std::vector<AddedToken> tokens_;
  std::vector<TreeNode> nodes_;  // 0 and 1 are the roots: without and with `normalized`
  Regex word_;
  Regex space_;
};

/// What happens to the parts that a pattern matches.
enum class Behavior { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };

/// One Split stage of a pre-tokenizer.
struct Split {
  std::variant<Regex, std::string> pattern;  // a string matches itself
  Behavior behavior;
  bool invert;  // swaps matches and the text between them
};

/// Appends the pieces of `text`; none is empty.
Result<void> split_text(const Split& split, std::string_view text, RegexScanner& scanner,
                        std::vector<std::string_view>& pieces);

}  // namespace profline::tokenizer::internal
