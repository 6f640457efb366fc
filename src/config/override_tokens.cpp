#include "config/internal/override_tokens.h"

#include "base/strings.h"

namespace profline::config {

Error OverrideTokens::error_at(const Token& token, const char* reason, std::string message) {
  return error_at(columns_.of(token.begin), reason, std::move(message));
}

Error OverrideTokens::error_at(std::uint32_t column, const char* reason,
                               std::string message) const {
  return Error(ErrorKind::Parse, std::move(message), {label_, 1, column})
      .with_excerpt(text_, column)
      .with_reason(reason);
}

Error OverrideTokens::bad_character() {
  const std::size_t offset = tokens_.back().begin;
  const bool in_value = std::any_of(tokens_.begin(), tokens_.end(), [](const Token& token) {
    return token.kind == TokenKind::Equal;
  });
  const char character = text_[offset];
  const std::string shown = shown_character(text_.substr(offset));
  if (!in_value) {
    return error_at(tokens_.back(), "lexer",
                    shown +
                        " cannot stand here: a key is a path such as db.user or list.0, or a "
                        "group such as db/engine");
  }
  if (character == '\'' || character == '"') {
    return error_at(tokens_.back(), "lexer", "this quote is never closed");
  }
  return error_at(tokens_.back(), "lexer", shown + " cannot stand in a value without quotes");
}

Error OverrideTokens::unexpected(std::string_view expected, Read read, std::size_t ahead) {
  const std::size_t at = number_of(ahead);
  const std::size_t last = tokens_.size() - 1;
  std::size_t reached = at;
  if (read == Read::Next) reached = at + 1;
  if (read == Read::Rest) reached = last;
  if (reached >= last && tokens_.back().kind == TokenKind::Bad) return bad_character();
  const Token& token = tokens_[at];
  std::string found = "the end";
  if (token.kind != TokenKind::End) {
    const std::string_view shown = trim(text_of(token));
    found = shown.empty() ? "a blank" : shown_text(shown);
  }
  return error_at(token, "syntax", "expected " + std::string(expected) + ", found " + found);
}

}  // namespace profline::config
