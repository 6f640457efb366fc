#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace profline::config::internal {

/// The tokens of OmegaConf's value grammar. White space next to `,` `:` `[` `]` `{` `}` is part of
/// that token.
enum class TokenKind : std::uint8_t {
  InterOpen,   ///< `${`
  InterClose,  ///< the `}` of `${a.b}`
  Dot,
  BracketOpen,
  BracketClose,
  BraceOpen,
  BraceClose,  ///< the `}` of a map, and of `${f:x}`
  Comma,
  Colon,
  SingleQuoteOpen,
  DoubleQuoteOpen,
  QuoteClose,
  Id,        ///< `abc-1`
  Key,       ///< part of a key that is not an Id: `x@y`, `10`
  Null,      ///< `null`
  Bool,      ///< `true`
  Int,       ///< `1_000`
  Float,     ///< `1e3`, `inf`
  Unquoted,  ///< one of `/-\+.$%*@?|`
  Space,
  Any,           ///< free text
  Escape,        ///< backslashes and the character they escape: `\\`, `\,`, `\'`
  EscInter,      ///< `\${`, with backslashes in front
  TopEscape,     ///< an even number of backslashes in free text
  QuotedEscape,  ///< an even number of backslashes in quotes
  End,
};

struct Token {
  TokenKind kind;
  std::size_t offset;
  std::size_t length;
};

/// Free text, or a value as in resolver arguments.
enum class LexerStart : std::uint8_t { Text, Value };

/// A failure at a byte of the text.
struct Problem {
  std::size_t offset = 0;
  std::string message;
};

/// Splits all of `text`; the last token is End. False if it cannot be split, with `problem` set.
bool tokenize(std::string_view text, LexerStart start, std::vector<Token>& tokens,
              Problem& problem);

/// The Error for a problem in `text`.
Error grammar_error(std::string_view text, const Problem& problem);

}  // namespace profline::config::internal
