#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace profline::config {

/// The tokens of Hydra's override grammar. Blanks beside a separator belong to it, as in the
/// grammar: `[a , b]` is five tokens, while the blank of `a b` is one of its own.
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
  Bad  // here no token begins
};

struct Token {
  TokenKind kind = TokenKind::End;
  std::uint32_t begin = 0;  // byte offsets
  std::uint32_t end = 0;
};

enum class LexerMode : std::uint8_t { Key, Value };

/// Splits `text`, of less than 4 GiB, by longest match; the last token is End or Bad, and there is
/// no other of those.
std::vector<Token> lex_override(std::string_view text, LexerMode mode);

}  // namespace profline::config
