#include "formats/internal/json_problem.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/strings.h"
#include "formats/json.h"

namespace profline::internal {
namespace {

constexpr std::string_view kBlank = " \t\r\n";
constexpr std::size_t kLongestShownWord = 24;

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string in_quotes(std::string_view text) {
  return '\'' + std::string(text) + '\'';
}

/// `U+000A`, or `0xFF` for a byte that is not a character.
std::string hex(std::string_view prefix, unsigned value, int digits) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text(prefix);
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    text += kDigits[(value >> static_cast<unsigned>(shift)) & 0xFU];
  }
  return text;
}

std::string_view describe(JsonExpected expected) {
  switch (expected) {
    case JsonExpected::Value:
      return "a value";
    case JsonExpected::ValueOrListEnd:
      return "a value or ']'";
    case JsonExpected::KeyOrMapEnd:
      return "a key in double quotes or '}'";
    case JsonExpected::Colon:
      return "':' after the key";
    case JsonExpected::CommaOrListEnd:
      return "',' or ']'";
    case JsonExpected::CommaOrMapEnd:
      return "',' or '}'";
    case JsonExpected::End:
      return "nothing after the value";
  }
  return "a value";
}

/// Reads the token that the parser rejected.
class Diagnosis {
 public:
  Diagnosis(std::string_view text, std::size_t offset) : text_(text), at_(offset) {}

  JsonProblem explain(JsonExpected expected);

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool at_end() const { return at_ >= text_.size(); }
  void skip_blank() { at_ = std::min(text_.find_first_not_of(kBlank, at_), text_.size()); }
  /// The word at `offset`, cut to a displayable length.
  std::string_view word(std::size_t offset) const;
  /// The character at `at_` as a message shows it.
  std::string character() const;

  JsonProblem here(std::string message) const { return {at_, std::move(message), false}; }
  JsonProblem ends(std::string message) const { return {text_.size(), std::move(message), true}; }

  JsonProblem explain_token(std::string_view expected);
  JsonProblem explain_string();
  std::optional<JsonProblem> explain_escape();
  std::optional<JsonProblem> explain_unicode_escape();
  JsonProblem explain_number();
  JsonProblem missing_digit(std::size_t number, std::string_view where) const;
  JsonProblem explain_word(std::string_view expected) const;

  std::string_view text_;
  std::size_t at_;
};

std::string_view Diagnosis::word(std::size_t offset) const {
  std::size_t end = offset;
  while (end < text_.size() && is_word(text_[end]) && end - offset < kLongestShownWord) ++end;
  return text_.substr(offset, end - offset);
}

std::string Diagnosis::character() const {
  const auto byte = static_cast<unsigned char>(peek());
  if (byte < 0x20U || byte == 0x7FU) return hex("U+", byte, 4);
  std::size_t length = 1;
  while ((static_cast<unsigned char>(peek(length)) & 0xC0U) == 0x80U) ++length;
  const std::string_view shown = text_.substr(at_, length);
  if (first_invalid_utf8(shown)) return "byte " + hex("0x", byte, 2) + ", which is not valid UTF-8";
  return in_quotes(shown);
}

JsonProblem Diagnosis::explain(JsonExpected expected) {
  skip_blank();
  const std::size_t separator = at_;
  const bool colon = expected == JsonExpected::Colon && peek() == ':';
  const bool comma = peek() == ',' && (expected == JsonExpected::CommaOrListEnd ||
                                       expected == JsonExpected::CommaOrMapEnd);
  if (!colon && !comma) {
    if (at_end() && expected == JsonExpected::Value)
      return ends("the text is empty, expected a value");
    return explain_token(describe(expected));
  }
  ++at_;
  skip_blank();
  const bool in_list = expected == JsonExpected::CommaOrListEnd;
  if (comma && peek() == (in_list ? ']' : '}')) {
    return {separator, std::string("trailing comma before '") + peek() + '\'', false};
  }
  return explain_token(comma && !in_list ? "a key in double quotes" : "a value");
}

JsonProblem Diagnosis::explain_token(std::string_view expected) {
  if (at_end()) return ends("unexpected end, expected " + std::string(expected));
  const char first = peek();
  // `01` is read as 0, then a 1 that is not allowed there.
  if (is_digit(first) && at_ > 0 && text_[at_ - 1] == '0') {
    --at_;
    return here("a number has no leading zeros");
  }
  const bool takes_value = expected.starts_with("a value");
  if (first == '"' && (takes_value || expected.starts_with("a key"))) return explain_string();
  if (takes_value && (is_digit(first) || (first == '-' && !is_word(peek(1))) ||
                      (first == '-' && is_digit(peek(1))))) {
    return explain_number();
  }
  if (first == '\'') return here("unexpected ''', strings and keys take double quotes");
  if (first == '/' || first == '#') {
    return here("unexpected " + character() + ", JSON has no comments");
  }
  return explain_word(expected);
}

JsonProblem Diagnosis::explain_word(std::string_view expected) const {
  const std::string wanted = ", expected " + std::string(expected);
  const bool is_signed = peek() == '-' || peek() == '+';
  const std::string_view rest = word(at_ + (is_signed ? 1 : 0));
  const std::string small = lower(rest);
  const std::string shown(text_.substr(at_, rest.size() + (is_signed ? 1 : 0)));
  if (small == "nan" || small == "inf" || small == "infinity") {
    return here(in_quotes(shown) + " is not JSON, numbers must be finite");
  }
  if (peek() == '+') return here("a number has no leading '+'");
  if (peek() == '.' && is_digit(peek(1))) {
    return here("a number begins with a digit or '-', write '0.' for '.'");
  }
  if (rest.empty()) return here("unexpected " + character() + wanted);
  constexpr std::array<std::string_view, 3> kWords = {"true", "false", "null"};
  for (const std::string_view literal : kWords) {
    if (at_ + rest.size() == text_.size() && literal.starts_with(rest)) {
      return ends("unexpected end inside '" + std::string(literal) + '\'');
    }
    if (small == literal || (small == "none" && literal == "null")) {
      return here("unexpected " + in_quotes(shown) + wanted + " (did you mean " +
                  in_quotes(literal) + "?)");
    }
  }
  return here("unexpected " + in_quotes(shown) + wanted);
}

JsonProblem Diagnosis::missing_digit(std::size_t number, std::string_view where) const {
  if (at_end()) return ends("unexpected end inside a number");
  const std::string_view shown = text_.substr(number, std::min(at_ - number, kLongestShownWord));
  return {number, "a digit must follow " + std::string(where) + " in " + in_quotes(shown), false};
}

JsonProblem Diagnosis::explain_number() {
  const std::size_t start = at_;
  const auto skip_digits = [&] {
    const std::size_t first = at_;
    while (is_digit(peek())) ++at_;
    return at_ - first;
  };
  if (peek() == '-') ++at_;
  const std::size_t digits = skip_digits();
  if (digits == 0) return missing_digit(start, "'-'");
  bool is_float = false;
  if (peek() == '.') {
    is_float = true;
    ++at_;
    if (skip_digits() == 0) return missing_digit(start, "'.'");
  }
  if (peek() == 'e' || peek() == 'E') {
    is_float = true;
    ++at_;
    if (peek() == '+' || peek() == '-') ++at_;
    if (skip_digits() == 0) return missing_digit(start, "the exponent");
  }
  if (is_float) {
    const std::string_view shown = text_.substr(start, std::min(at_ - start, kLongestShownWord));
    return {start, in_quotes(shown) + " is too large for a float", false};
  }
  return {start,
          "an integer of " + std::to_string(digits) + " digits, at most " +
              std::to_string(kJsonMaxIntegerDigits) + " are read",
          false};
}

JsonProblem Diagnosis::explain_string() {
  const std::size_t start = at_++;
  const std::size_t limit =
      start + 1 +
      first_invalid_utf8(text_.substr(start + 1)).value_or(text_.size());  // where UTF-8 goes wrong
  while (!at_end() && peek() != '"') {
    const auto byte = static_cast<unsigned char>(peek());
    if (at_ >= limit) return here("byte " + hex("0x", byte, 2) + " is not valid UTF-8");
    if (byte < 0x20U) {
      return here("control character " + hex("U+", byte, 4) + " in a string, write it as '\\u" +
                  hex("", byte, 4) + '\'');
    }
    if (byte == '\\') {
      if (auto problem = explain_escape()) return *std::move(problem);
    } else {
      ++at_;
    }
  }
  return {start, "the string that begins here is not closed", true};
}

/// Nothing, and `at_` after the escape, if it is valid.
std::optional<JsonProblem> Diagnosis::explain_escape() {
  constexpr std::string_view kEscapes = "\"\\/bfnrt";
  if (at_ + 1 >= text_.size()) return ends("unexpected end inside a string");
  if (peek(1) == 'u') return explain_unicode_escape();
  if (kEscapes.find(peek(1)) == std::string_view::npos) {
    const std::size_t backslash = at_++;
    return JsonProblem{backslash, "unknown escape: '\\' before " + character(), false};
  }
  at_ += 2;
  return std::nullopt;
}

std::optional<JsonProblem> Diagnosis::explain_unicode_escape() {
  // The value of the escape at `offset`; nothing when it is not one.
  const auto unit = [&](std::size_t offset) -> std::optional<unsigned> {
    if (text_.substr(offset, 2) != "\\u" || offset + 6 > text_.size()) return std::nullopt;
    unsigned value = 0;
    for (const char c : text_.substr(offset + 2, 4)) {
      if (std::isxdigit(static_cast<unsigned char>(c)) == 0) return std::nullopt;
      const char lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      value = value * 16 + static_cast<unsigned>(is_digit(c) ? c - '0' : lower - 'a' + 10);
    }
    return value;
  };
  const std::optional<unsigned> first = unit(at_);
  if (!first) return here("four hexadecimal digits must follow '\\u'");
  at_ += 6;
  if (*first < 0xD800U || *first > 0xDFFFU) return std::nullopt;
  const std::optional<unsigned> second = *first < 0xDC00U ? unit(at_) : std::nullopt;
  if (second && *second >= 0xDC00U && *second <= 0xDFFFU) {
    at_ += 6;
    return std::nullopt;
  }
  at_ -= 6;
  return here("'\\u" + hex("", *first, 4) +
              "' is half of a surrogate pair, its other half is missing");
}

}  // namespace

JsonProblem explain_json_problem(std::string_view text, std::size_t offset, JsonExpected expected) {
  return Diagnosis(text, offset).explain(expected);
}

}  // namespace profline::internal
