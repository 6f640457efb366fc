// The lexer of OmegaConf's grammar with its modes: at each place the longest token wins, and among
// equally long ones the first in the grammar.

#include "config/interpolation/internal/lexer.h"

#include <algorithm>

#include "base/strings.h"
#include "config/interpolation/expression.h"

namespace profline::config::internal {
namespace {

enum class Mode : std::uint8_t { Text, Value, Interpolation, SingleQuoted, DoubleQuoted };

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
bool is_one_of(char c, std::string_view set) {
  return set.find(c) != std::string_view::npos;
}

/// Length of the digits at the front of `text`, with single underscores allowed between them.
std::size_t digits(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size()) {
    if (is_digit(text[length])) {
      ++length;
    } else if (length > 0 && text[length] == '_' && length + 1 < text.size() &&
               is_digit(text[length + 1])) {
      length += 2;
    } else {
      break;
    }
  }
  return length;
}

/// Length of an integer without sign: `0`, or digits that do not start with 0.
std::size_t unsigned_integer(std::string_view text) {
  if (text.empty()) return 0;
  return text.front() == '0' ? 1 : digits(text);
}

/// Length of `1.`, `1.5` or `.5`, or 0.
std::size_t point_float(std::string_view text) {
  const std::size_t whole = unsigned_integer(text);
  if (whole >= text.size() || text[whole] != '.') return 0;
  const std::size_t fraction = digits(text.substr(whole + 1));
  return whole + fraction == 0 ? 0 : whole + 1 + fraction;
}

/// Length of `e+3` or 0.
std::size_t exponent(std::string_view text) {
  if (text.empty() || !is_one_of(text.front(), "eE")) return 0;
  const std::size_t sign = text.size() > 1 && is_one_of(text[1], "+-") ? 1 : 0;
  const std::size_t power = digits(text.substr(1 + sign));
  return power == 0 ? 0 : 1 + sign + power;
}

bool starts_with_word(std::string_view text, std::string_view lower_word) {
  if (text.size() < lower_word.size()) return false;
  return std::equal(lower_word.begin(), lower_word.end(), text.begin(), [](char want, char have) {
    return want == (is_letter(have) ? static_cast<char>(have | 0x20) : have);
  });
}

struct Match {
  TokenKind kind = TokenKind::End;
  std::size_t length = 0;

  /// Takes the other one if it is longer: among equally long ones the earlier stays.
  void offer(TokenKind other_kind, std::size_t other_length) {
    if (other_length > length) *this = {other_kind, other_length};
  }
};

void offer_number(std::string_view text, Match& best) {
  const std::size_t sign = !text.empty() && is_one_of(text.front(), "+-") ? 1 : 0;
  const std::string_view body = text.substr(sign);
  const std::size_t whole = unsigned_integer(body);
  const std::size_t point = point_float(body);
  const std::size_t mantissa = std::max(whole, point);
  const std::size_t power = mantissa == 0 ? 0 : exponent(body.substr(mantissa));
  if (point > 0 || power > 0) best.offer(TokenKind::Float, sign + mantissa + power);
  if (starts_with_word(body, "inf") || starts_with_word(body, "nan")) {
    best.offer(TokenKind::Float, sign + 3);
  }
  if (whole > 0) best.offer(TokenKind::Int, sign + whole);
}

std::size_t id_length(std::string_view text) {
  if (text.empty() || !(is_letter(text.front()) || text.front() == '_')) return 0;
  std::size_t length = 1;
  while (length < text.size() && (is_letter(text[length]) || is_digit(text[length]) ||
                                  text[length] == '_' || text[length] == '-')) {
    ++length;
  }
  return length;
}

std::size_t escape_length(std::string_view text) {
  std::size_t length = 0;
  while (length + 1 < text.size() && text[length] == '\\' &&
         is_one_of(text[length + 1], "\\()[]{}:=, \t")) {
    length += 2;
  }
  return length;
}

class Lexer {
 public:
  Lexer(std::string_view text, LexerStart start)
      : text_(text), modes_{start == LexerStart::Text ? Mode::Text : Mode::Value} {}

  bool run(std::vector<Token>& tokens, Problem& problem) {
    // There are no more tokens than bytes, and far fewer in most texts.
    tokens.reserve(std::min<std::size_t>(text_.size() + 1, 16));
    while (at_ < text_.size()) {
      const Match match = next();
      if (match.length == 0) {
        problem = unexpected();
        return false;
      }
      tokens.push_back({match.kind, at_, match.length});
      at_ += match.length;
      if (!change_mode(match.kind)) {
        problem = {at_ - 1, "this '}' closes nothing"};
        return false;
      }
    }
    tokens.push_back({TokenKind::End, at_, 0});
    return true;
  }

 private:
  Match next() const {
    const std::string_view rest = text_.substr(at_);
    switch (modes_.back()) {
      case Mode::Text:
        return next_in_text(rest, '\0');
      case Mode::SingleQuoted:
        return next_in_text(rest, '\'');
      case Mode::DoubleQuoted:
        return next_in_text(rest, '"');
      case Mode::Interpolation:
        return next_in_interpolation(rest);
      case Mode::Value:
        return next_in_value(rest);
    }
    return {};
  }

  /// `${` and the blanks after it.
  static std::size_t inter_open(std::string_view rest) {
    if (rest.substr(0, 2) != "${") return 0;
    return 2 + blanks(rest.substr(2));
  }

  static std::size_t blanks(std::string_view rest) {
    return std::min(rest.find_first_not_of(" \t"), rest.size());
  }

  /// Free text (quote 0), or text inside quotes.
  static Match next_in_text(std::string_view rest, char quote) {
    const char stops[] = {'$', quote};
    const std::string_view stop_set(stops, quote == '\0' ? 1 : 2);
    const std::size_t run = std::min(rest.find_first_of(stop_set), rest.size());
    const std::size_t solid = rest.substr(0, run).find_last_not_of('\\');
    if (solid != std::string_view::npos) return {TokenKind::Any, solid + 1};

    // Backslashes only, if any, then `$`, a quote or the end.
    const std::string_view after = rest.substr(run);
    if (run % 2 == 1) {
      if (after.substr(0, 2) == "${") return {TokenKind::EscInter, run + 2};
      if (quote != '\0' && !after.empty() && after.front() == quote) {
        return {TokenKind::Escape, run + 1};
      }
      return {TokenKind::Any, run};
    }
    if (run > 0) return {quote == '\0' ? TokenKind::TopEscape : TokenKind::QuotedEscape, run};
    if (after.front() == quote && quote != '\0') return {TokenKind::QuoteClose, 1};
    const std::size_t open = inter_open(after);
    return open > 0 ? Match{TokenKind::InterOpen, open} : Match{TokenKind::Any, 1};
  }

  static Match next_in_interpolation(std::string_view rest) {
    const std::size_t space = blanks(rest);
    const char mark = space < rest.size() ? rest[space] : '\0';
    if (mark == ':') return {TokenKind::Colon, space + 1 + blanks(rest.substr(space + 1))};
    if (mark == '}') return {TokenKind::InterClose, space + 1};
    if (const std::size_t open = inter_open(rest); open > 0) return {TokenKind::InterOpen, open};
    switch (rest.front()) {
      case '.':
        return {TokenKind::Dot, 1};
      case '[':
        return {TokenKind::BracketOpen, 1};
      case ']':
        return {TokenKind::BracketClose, 1};
      default:
        break;
    }
    Match best;
    best.offer(TokenKind::Id, id_length(rest));
    best.offer(TokenKind::Key, std::min(rest.find_first_of("\\{}()[]:. \t'\""), rest.size()));
    return best;
  }

  static Match next_in_value(std::string_view rest) {
    if (const Match mark = punctuation(rest); mark.length > 0) return mark;
    Match best;
    offer_number(rest, best);
    if (starts_with_word(rest, "true")) best.offer(TokenKind::Bool, 4);
    if (starts_with_word(rest, "false")) best.offer(TokenKind::Bool, 5);
    if (starts_with_word(rest, "null")) best.offer(TokenKind::Null, 4);
    if (is_one_of(rest.front(), "/-\\+.$%*@?|")) best.offer(TokenKind::Unquoted, 1);
    best.offer(TokenKind::Id, id_length(rest));
    best.offer(TokenKind::Escape, escape_length(rest));
    best.offer(TokenKind::Space, blanks(rest));
    return best;
  }

  static Match punctuation(std::string_view rest) {
    const std::size_t space = blanks(rest);
    const char mark = space < rest.size() ? rest[space] : '\0';
    const auto and_blanks = [&](std::size_t length) {
      return length + blanks(rest.substr(length));
    };
    if (mark == ',') return {TokenKind::Comma, and_blanks(space + 1)};
    if (mark == ':') return {TokenKind::Colon, and_blanks(space + 1)};
    if (mark == ']') return {TokenKind::BracketClose, space + 1};
    if (mark == '}') return {TokenKind::BraceClose, space + 1};
    if (space > 0) return {};
    if (mark == '[') return {TokenKind::BracketOpen, and_blanks(1)};
    if (mark == '{') return {TokenKind::BraceOpen, and_blanks(1)};
    if (mark == '\'') return {TokenKind::SingleQuoteOpen, 1};
    if (mark == '"') return {TokenKind::DoubleQuoteOpen, 1};
    return {TokenKind::InterOpen, inter_open(rest)};
  }

  /// False if a closing brace has nothing to close.
  bool change_mode(TokenKind kind) {
    switch (kind) {
      case TokenKind::InterOpen:
        modes_.push_back(Mode::Interpolation);
        return true;
      case TokenKind::BraceOpen:
        modes_.push_back(Mode::Value);
        return true;
      case TokenKind::SingleQuoteOpen:
        modes_.push_back(Mode::SingleQuoted);
        return true;
      case TokenKind::DoubleQuoteOpen:
        modes_.push_back(Mode::DoubleQuoted);
        return true;
      case TokenKind::Colon:
        modes_.back() = Mode::Value;  // may already be Value
        return true;
      case TokenKind::InterClose:
      case TokenKind::BraceClose:
      case TokenKind::QuoteClose:
        modes_.pop_back();
        return !modes_.empty();
      default:
        return true;
    }
  }

  Problem unexpected() const {
    std::size_t length = 1;
    while (at_ + length < text_.size() &&
           (static_cast<unsigned char>(text_[at_ + length]) & 0xC0U) == 0x80U) {
      ++length;
    }
    const std::string shown =
        is_blank(text_[at_]) ? "a blank" : "'" + std::string(text_.substr(at_, length)) + "'";
    if (modes_.back() == Mode::Interpolation) {
      return {at_, shown + " is not allowed in the key of an interpolation"};
    }
    return {at_, shown + " is not allowed outside quotes here"};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Mode> modes_;
};

}  // namespace

bool tokenize(std::string_view text, LexerStart start, std::vector<Token>& tokens,
              Problem& problem) {
  return Lexer(text, start).run(tokens, problem);
}

Error grammar_error(std::string_view text, const Problem& problem) {
  const TextPlace place = place_in_text(text, problem.offset);
  return Error(ErrorKind::Parse, problem.message, Position{"", place.line, place.column})
      .with_excerpt(place.content, place.column)
      .with_reason("grammar");
}

}  // namespace profline::config::internal

namespace profline::config {

bool holds_interpolation(std::string_view text) {
  return text.find("${") != std::string_view::npos;
}

TextPlace place_in_text(std::string_view text, std::size_t offset) {
  TextPlace place;
  const std::string_view before = text.substr(0, offset);
  place.line += static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t line_break = before.find_last_of('\n');
  const std::size_t start = line_break == std::string_view::npos ? 0 : line_break + 1;
  for (const char c : before.substr(start)) {
    if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ++place.column;
  }
  place.content = text.substr(start, text.find('\n', start) - start);
  return place;
}

std::string_view line_of(std::string_view text, std::uint32_t line) {
  std::size_t start = 0;
  for (; line > 1; --line) start = std::min(text.find('\n', start), text.size() - 1) + 1;
  return text.substr(start, text.find('\n', start) - start);
}

}  // namespace profline::config
