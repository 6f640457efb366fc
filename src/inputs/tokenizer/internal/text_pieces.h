#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "inputs/tokenizer/internal/regex.h"
#include "inputs/tokenizer/tokenizer.h"

namespace profline::tokenizer::internal {

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
