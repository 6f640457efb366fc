#include "config/overrides/internal/lexer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/strings.h"

namespace profline::config {
namespace {

constexpr std::string_view kUnquotedChars = "/-\\+.$%*@?|";
constexpr std::string_view kEscapable = "\\()[]{}:=, \t";

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
bool is_one_of(char c, std::string_view set) {
  return set.find(c) != std::string_view::npos;
}

/// The rest of the text. Reading past its end returns '\0', which no rule of the grammar uses.
class Cursor {
 public:
  Cursor(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  std::size_t at() const { return at_; }
  void skip(std::size_t count) { at_ += count; }
  template <typename Predicate>
  std::size_t skip_while(const Predicate& matches) {
    const std::size_t start = at_;
    while (at_ < text_.size() && matches(text_[at_])) ++at_;
    return at_ - start;
  }
  std::string_view rest() const { return text_.substr(at_); }

 private:
  std::string_view text_;
  std::size_t at_;
};

/// Length of digits with single underscores between them.
std::size_t digits_length(std::string_view text) {
  Cursor cursor(text, 0);
  cursor.skip(is_digit(cursor.peek()) ? 1 : 0);
  while (cursor.at() > 0) {
    if (is_digit(cursor.peek())) {
      cursor.skip(1);
    } else if (cursor.peek() == '_' && is_digit(cursor.peek(1))) {
      cursor.skip(2);
    } else {
      break;
    }
  }
  return cursor.at();
}

/// The same for an integer: it ends after a leading 0.
std::size_t unsigned_int_length(std::string_view text) {
  return text.starts_with('0') ? 1 : digits_length(text);
}

/// Length of the exponent at the front (`e-5`), or 0.
std::size_t exponent_length(std::string_view text) {
  Cursor cursor(text, 0);
  if (!is_one_of(cursor.peek(), "eE")) return 0;
  cursor.skip(1);
  if (cursor.peek() == '+' || cursor.peek() == '-') cursor.skip(1);
  const std::size_t digits = digits_length(cursor.rest());
  return digits == 0 ? 0 : cursor.at() + digits;
}

bool starts_with_word(std::string_view text, std::string_view lower_case) {
  if (text.size() < lower_case.size()) return false;
  return std::equal(lower_case.begin(), lower_case.end(), text.begin(), [](char word, char c) {
    return word == c || (is_letter(c) && word == static_cast<char>(c | 0x20));
  });
}

struct Match {
  TokenKind kind = TokenKind::Bad;
  std::size_t length = 0;
};

/// An unsigned number at the front: its length, and whether a point or exponent makes it a float.
Match unsigned_number(std::string_view text) {
  const std::size_t whole = unsigned_int_length(text);
  std::size_t length = whole;
  bool is_float = false;
  if (text.substr(length).starts_with('.')) {
    const std::size_t fraction = digits_length(text.substr(length + 1));
    if (whole > 0 || fraction > 0) {
      length += 1 + fraction;
      is_float = true;
    }
  }
  if (length == 0) return {};
  const std::size_t exponent = exponent_length(text.substr(length));
  if (exponent > 0) return {TokenKind::Float, length + exponent};
  return {is_float ? TokenKind::Float : TokenKind::Int, length};
}

Match number(std::string_view text) {
  const std::size_t sign = text.starts_with('+') || text.starts_with('-') ? 1 : 0;
  const std::string_view rest = text.substr(sign);
  if (starts_with_word(rest, "inf") || starts_with_word(rest, "nan")) {
    return {TokenKind::Float, sign + 3};
  }
  Match match = unsigned_number(rest);
  if (match.length > 0) match.length += sign;
  return match;
}

/// A name, or one of the words with another meaning if they are alone.
Match word(std::string_view text) {
  Cursor cursor(text, 0);
  if (!is_letter(cursor.peek()) && cursor.peek() != '_') return {};
  const std::size_t length =
      cursor.skip_while([](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-'; });
  constexpr std::array<std::pair<std::string_view, TokenKind>, 3> kWords = {{
      {"true", TokenKind::Bool},
      {"false", TokenKind::Bool},
      {"null", TokenKind::Null},
  }};
  for (const auto& [spelling, kind] : kWords) {
    if (length == spelling.size() && starts_with_word(text, spelling)) return {kind, length};
  }
  return {TokenKind::Id, length};
}

Match escape(std::string_view text) {
  std::size_t length = 0;
  while (length + 1 < text.size() && text[length] == '\\' &&
         is_one_of(text[length + 1], kEscapable)) {
    length += 2;
  }
  return {TokenKind::Escape, length};
}

/// From a quote to the next one of its kind that follows an even number of backslashes.
Match quoted(std::string_view text) {
  bool escaped = false;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == text[0] && !escaped) return {TokenKind::Quoted, i + 1};
    escaped = text[i] == '\\' && !escaped;
  }
  return {};
}

Match interpolation(std::string_view text) {
  if (!text.starts_with("${") || text.substr(2).starts_with('}')) return {};
  return {TokenKind::Interpolation, text.find('}') + 1};  // 0 if it does not end
}

struct Separator {
  char character;
  TokenKind kind;
  bool blanks_before;
  bool blanks_after;
};
constexpr std::array<Separator, 9> kSeparators = {{
    {'(', TokenKind::ParenOpen, true, true},
    {')', TokenKind::ParenClose, true, false},
    {',', TokenKind::Comma, true, true},
    {'[', TokenKind::BracketOpen, false, true},
    {']', TokenKind::BracketClose, true, false},
    {'{', TokenKind::BraceOpen, false, true},
    {'}', TokenKind::BraceClose, true, false},
    {':', TokenKind::Colon, true, true},
    {'=', TokenKind::Equal, true, true},
}};

/// A separator with the blanks that belong to it, or blanks that belong to no separator.
Match separator_or_blank(std::string_view text) {
  Cursor cursor(text, 0);
  const std::size_t blanks = cursor.skip_while(is_blank);
  for (const Separator& separator : kSeparators) {
    if (cursor.peek() != separator.character) continue;
    if (blanks > 0 && !separator.blanks_before) break;
    cursor.skip(1);
    if (separator.blanks_after) cursor.skip_while(is_blank);
    return {separator.kind, cursor.at()};
  }
  return {TokenKind::Blank, blanks};
}

Match longer(const Match& a, const Match& b) {
  return b.length > a.length ? b : a;
}

/// The longest token at the front; of two with the same length the grammar's first. Interpolations
/// are searched for only if some '}' follows: searching the rest in vain for each `${` would take
/// quadratic time.
Match value_token(std::string_view text, bool brace_follows) {
  const char c = text.front();
  if (c == '\'' || c == '"') return quoted(text);
  Match best = longer(number(text), word(text));
  if (c == '\\') best = escape(text);
  if (c == '$' && brace_follows) best = interpolation(text);
  if (best.length == 0) best = separator_or_blank(text);
  if (best.length == 0 && is_one_of(c, kUnquotedChars)) return {TokenKind::UnquotedChar, 1};
  return best;
}

std::size_t key_special_length(std::string_view text) {
  Cursor cursor(text, 0);
  if (!is_letter(cursor.peek()) && !is_one_of(cursor.peek(), "_$")) return 0;
  return cursor.skip_while(
      [](char c) { return is_letter(c) || is_digit(c) || is_one_of(c, "_-$"); });
}

/// A name with or without '$', or several of them and of numbers with dots between.
Match key_word(std::string_view text) {
  const auto part_length = [](std::string_view rest) {
    return std::max(key_special_length(rest), unsigned_int_length(rest));
  };
  const std::size_t first = part_length(text);
  std::size_t length = first;
  while (length > 0 && text.substr(length).starts_with('.')) {
    const std::size_t next = part_length(text.substr(length + 1));
    if (next == 0) break;
    length += 1 + next;
  }
  if (length > first) return {TokenKind::DotPath, length};
  if (first == 0 || is_digit(text.front())) return {};
  const bool special = text.substr(0, first).find('$') != std::string_view::npos;
  return {special ? TokenKind::KeySpecial : TokenKind::Id, first};
}

Match key_token(std::string_view text) {
  switch (text.front()) {
    case '~':
      return {TokenKind::Tilde, 1};
    case '+':
      return {TokenKind::Plus, 1};
    case '@':
      return {TokenKind::At, 1};
    case ':':
      return {TokenKind::Colon, 1};
    case '/':
      return {TokenKind::Slash, 1};
    case '=':
      break;
    default:
      return key_word(text);
  }
  Cursor cursor(text, 1);
  cursor.skip_while(is_blank);
  return {TokenKind::Equal, cursor.at()};
}

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

}  // namespace

std::vector<Token> lex_override(std::string_view text, LexerMode mode) {
  std::vector<Token> tokens;
  const std::size_t last_brace = text.rfind('}');
  std::size_t at = 0;
  while (at < text.size()) {
    const std::string_view rest = text.substr(at);
    const bool brace_follows = last_brace != std::string_view::npos && at < last_brace;
    const Match match = mode == LexerMode::Key ? key_token(rest) : value_token(rest, brace_follows);
    const auto begin = static_cast<std::uint32_t>(at);
    if (match.length == 0) {
      tokens.push_back({TokenKind::Bad, begin, begin});
      return tokens;
    }
    at += match.length;
    tokens.push_back({match.kind, begin, static_cast<std::uint32_t>(at)});
    if (match.kind == TokenKind::Equal) mode = LexerMode::Value;
  }
  const auto end = static_cast<std::uint32_t>(text.size());
  tokens.push_back({TokenKind::End, end, end});
  return tokens;
}

std::string unescaped(std::string_view escapes) {
  std::string out;
  for (std::size_t i = 1; i < escapes.size(); i += 2) out += escapes[i];
  return out;
}

std::string unquoted(std::string_view quoted) {
  const char quote = quoted.front();
  const std::string_view inside = quoted.substr(1, quoted.size() - 2);
  std::string out;
  std::size_t i = 0;
  while (i < inside.size()) {
    const std::size_t end = std::min(inside.find_first_not_of('\\', i), inside.size());
    const std::size_t backslashes = end - i;
    const bool before_quote = end == inside.size() || inside[end] == quote;
    out.append(before_quote ? backslashes / 2 : backslashes, '\\');
    if (end < inside.size()) out += inside[end];
    i = end + 1;
  }
  return out;
}

std::string shown_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  std::size_t length = 1;
  while (length < text.size() && continues_character(text[length])) ++length;
  if (first >= 0x20U && first != 0x7FU) return "'" + std::string(text.substr(0, length)) + "'";
  if (first == '\n') return "a line feed";
  constexpr std::string_view kDigits = "0123456789abcdef";
  return std::string("the control character 0x") + kDigits[first >> 4U] + kDigits[first & 0xFU];
}

std::string shown_text(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::size_t end = std::min(text.size(), kLongest);
  while (end > 0 && end < text.size() && continues_character(text[end])) --end;
  const std::string shown = std::string(text.substr(0, end)) + (end < text.size() ? "…" : "");
  const bool has_quotes = text.starts_with('\'') || text.starts_with('"');
  return has_quotes ? shown : "'" + shown + "'";
}

std::uint32_t Columns::of(std::size_t offset) {
  if (offset < offset_) {
    offset_ = 0;
    column_ = 1;
  }
  for (; offset_ < offset; ++offset_) {
    const bool last = offset_ + 1 == text_.size();
    if (last || !continues_character(text_[offset_ + 1])) ++column_;
  }
  return column_;
}

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
                        " is not allowed here: a key is a path such as db.user or list.0, or a "
                        "group such as db/engine");
  }
  if (character == '\'' || character == '"') {
    return error_at(tokens_.back(), "lexer", "this quote is never closed");
  }
  return error_at(tokens_.back(), "lexer", shown + " is not allowed in a value without quotes");
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
