#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace profline::config {

/// The tokens of Hydra's override grammar. Blanks next to a separator belong to it, as in the
/// grammar: `[a , b]` is five tokens, while the blank in `a b` is a separate token.
enum class TokenKind : std::uint8_t {
  // Before the first '='.
  Tilde,
  Plus,
  At,
  Slash,
  KeySpecial,  // `$a`
  DotPath,     // `a.b.0`
  // On both sides of it.
  Equal,
  Colon,
  Id,
  // After it.
  ParenOpen,
  ParenClose,
  Comma,
  BracketOpen,
  BracketClose,
  BraceOpen,
  BraceClose,
  Float,
  Int,
  Bool,
  Null,
  UnquotedChar,   // one of /-\+.$%*@?|
  Escape,         // `\,\ ` and so on, a run of pairs
  Blank,          // spaces and tabs inside a value
  Quoted,         // with its quotes
  Interpolation,  // `${` to the next '}'
  // Always the last one.
  End,
  Bad  // no token begins here
};

struct Token {
  TokenKind kind = TokenKind::End;
  std::uint32_t begin = 0;  // byte offsets
  std::uint32_t end = 0;
};

enum class LexerMode : std::uint8_t { Key, Value };

/// Splits `text`, of less than 4 GiB, by longest match; the last token, and no other, is End or
/// Bad.
std::vector<Token> lex_override(std::string_view text, LexerMode mode);

/// The text that a run of escapes represents: every second character, without the backslashes.
std::string unescaped(std::string_view escapes);

/// The content of a quoted text (passed with its quotes): of the backslashes before a quote every
/// second one is removed, others stay.
std::string unquoted(std::string_view quoted);

/// The first character of a text, for messages: `'#'`, or the code of an unprintable one.
std::string shown_character(std::string_view text);

/// `text` in quotes unless it has some, for messages; long texts are cut.
std::string shown_text(std::string_view text);

/// Columns of byte offsets, from 1, counted in characters. Linear time if queried from left to
/// right.
class Columns {
 public:
  explicit Columns(std::string_view text) : text_(text) {}
  std::uint32_t of(std::size_t offset);

 private:
  std::string_view text_;
  std::size_t offset_ = 0;
  std::uint32_t column_ = 1;
};

/// How far Hydra's parser has read when it notices that a token is wrong. It matters for texts with
/// two mistakes: a character that no token begins with is reported only if it was reached.
enum class Read : std::uint8_t { Token, Next, Rest };

/// The tokens of one override, read from left to right, and the Errors that point at them.
class OverrideTokens {
 public:
  OverrideTokens(std::string_view text, std::string label)
      : text_(text),
        label_(std::move(label)),
        columns_(text),
        tokens_(lex_override(text, LexerMode::Key)) {}

  /// Index of the current token, and the token at an index.
  std::size_t at() const { return at_; }
  const Token& operator[](std::size_t number) const { return tokens_[number]; }

  /// The kind of the current token or of one after it.
  TokenKind kind(std::size_t ahead = 0) const { return tokens_[number_of(ahead)].kind; }
  bool is(TokenKind wanted) const { return kind() == wanted; }
  const Token& current() const { return tokens_[at_]; }
  /// Returns the current token and advances; the last one is never passed.
  Token next() {
    const Token token = current();
    at_ = number_of(1);
    return token;
  }
  /// Advances if the current token is a `wanted` one.
  bool take(TokenKind wanted) {
    if (!is(wanted)) return false;
    next();
    return true;
  }

  std::string_view text() const { return text_; }
  std::string_view text_of(const Token& token) const {
    return text_.substr(token.begin, token.end - token.begin);
  }
  /// Where the current token begins, from 1, in characters.
  std::uint32_t column() { return columns_.of(current().begin); }

  /// An Error with its caret under a token, or under a column.
  Error error_at(const Token& token, const char* reason, std::string message);
  Error error_at(std::uint32_t column, const char* reason, std::string message) const;
  /// The Error for the token `ahead` where `expected` should be: `syntax`, or `lexer` if the text
  /// has a character that begins no token and Hydra's parser would have reached it.
  Error unexpected(std::string_view expected, Read read, std::size_t ahead = 0);

 private:
  std::size_t number_of(std::size_t ahead) const {
    return std::min(at_ + ahead, tokens_.size() - 1);
  }
  Error bad_character();

  std::string_view text_;
  std::string label_;
  Columns columns_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace profline::config
