// Types, values and functions: the text between two commas of a name.

#include <algorithm>
#include <array>

#include "analysis/kernels/internal/name_grammar.h"

namespace profline::kernels::internal {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& these) {
  return std::find(these.begin(), these.end(), text) != these.end();
}

}  // namespace

/// `[clone .kd]`, which compilers append, and blanks.
void NameParser::skip_clones() {
  blanks();
  while (looking_at("[clone ")) {
    const std::size_t end = text_.find(']', at_);
    if (end == std::string_view::npos) return;
    at_ = end + 1;
    blanks();
  }
}

Entity NameParser::parse_entity() {
  Entity entity;
  while (!failed_ && parse_part(entity)) {
  }
  return entity;
}

bool NameParser::at_name() const {
  return is_word_start(peek()) || looking_at(kAnonymous) || looking_at("<unnamed>") ||
         looking_at("{lambda") || looking_at("{unnamed") || looking_at("{anonymous}") ||
         looking_at("[lambda") || looking_at("<lambda") || looking_at("'lambda") ||
         looking_at("'unnamed") || looking_at("(lambda at ") || looking_at("::");
}

/// False at the end of the entity.
bool NameParser::parse_part(Entity& entity) {
  blanks();
  const char c = peek();
  constexpr std::string_view kEnds = ",>)]}";
  if (at_ >= text_.size() || kEnds.find(c) != std::string_view::npos) return false;
  if (looking_at("[clone ")) return false;
  if (at_name()) {
    parse_word_name(entity);
  } else if (is_digit(c) || (c == '-' && is_digit(peek(1)))) {
    parse_number(entity);
  } else if (c == '(') {
    parse_paren(entity);
  } else if (c == '[' || c == '{') {
    parse_brackets(entity);
  } else if (c == '<') {
    fail();
  } else {
    entity.tail += c;  // a pointer, a reference, or part of an expression
    ++at_;
  }
  return true;
}

/// `[3]`, `{1, 2}`
void NameParser::parse_brackets(Entity& entity) {
  const char open = text_[at_++];
  const char close = open == '[' ? ']' : '}';
  entity.tail += open;
  const std::vector<std::string> parts = parse_list(close);
  for (std::size_t i = 0; i < parts.size(); ++i) entity.tail += (i > 0 ? ", " : "") + parts[i];
  entity.tail += close;
}

/// A qualifier such as `const`; false, consuming nothing, if the next word is not one.
bool NameParser::parse_keyword(Entity& entity) {
  constexpr std::array<std::string_view, 9> kIgnored = {"struct",       "class",    "enum",
                                                        "union",        "typename", "__restrict",
                                                        "__restrict__", "restrict", "volatile"};
  const std::size_t start = at_;
  const std::string first = word();
  const bool stands_alone = peek() != ':' && peek() != '<' && peek() != '(';
  if (stands_alone && first == "const") {
    if (entity.tail.empty()) {
      entity.is_const = true;
    } else {
      entity.tail += "const";
    }
    return true;
  }
  if (stands_alone && (first == "true" || first == "false")) {
    entity.add_word(first == "true" ? "1" : "0");
    return true;
  }
  if (stands_alone && is_one_of(first, kIgnored)) return true;
  at_ = start;
  return false;
}

void NameParser::parse_word_name(Entity& entity) {
  if (is_word_start(peek()) && parse_keyword(entity)) return;
  bool is_function = false;
  const auto before = static_cast<std::ptrdiff_t>(parsed_.mentioned.size());
  const std::string name = parse_qualified(is_function);
  if (is_function && entity.tail != "&") {  // the text before it was the return type
    if (depth_ == 0) {
      parsed_.mentioned.erase(parsed_.mentioned.begin(), parsed_.mentioned.begin() + before);
    }
    entity = Entity();
    entity.is_function = true;
  }
  entity.add_word(name);
}

/// `128`, `128u`, `-1`, `2ul`, `0x1f`: without suffix.
void NameParser::parse_number(Entity& entity) {
  const std::size_t start = at_++;
  while (is_word(peek())) ++at_;
  std::string_view number = text_.substr(start, at_ - start);
  if (!number.starts_with("0x")) {
    while (!number.empty() && std::string_view("uUlLfF").find(number.back()) != number.npos) {
      number.remove_suffix(1);
    }
  }
  entity.add_word(std::string(number));
}

/// `(int)128` is 128, `&(void f<int>(T))` is &f<int>, `(*)(int)` stays.
void NameParser::parse_paren(Entity& entity) {
  ++at_;
  const std::size_t inside = at_;
  if (++depth_ > kDeepestName) return void(fail());
  std::vector<std::string> parts;
  bool one_function = false;
  blanks();
  while (!failed_ && peek() != ')') {
    const Entity part = parse_entity();
    one_function = part.is_function;
    parts.push_back(part.text());
    blanks();
    if (!take(",")) break;
  }
  --depth_;
  if (!take(")")) return void(fail());
  const bool is_cast = at_ - inside > 1 && (is_digit(peek()) || peek() == '-' ||
                                            looking_at("true") || looking_at("false"));
  if (is_cast) return;
  if (parts.size() == 1 && one_function) {
    entity.add_word(parts.front());
    return;
  }
  entity.tail += '(';
  for (std::size_t i = 0; i < parts.size(); ++i) entity.tail += (i > 0 ? ", " : "") + parts[i];
  entity.tail += ')';
}

std::optional<ParsedName> parse_name(std::string_view text) {
  const bool has_control = std::any_of(text.begin(), text.end(),
                                       [](char c) { return static_cast<unsigned char>(c) < ' '; });
  if (text.empty() || has_control) return std::nullopt;
  return NameParser(text).run();
}

}  // namespace profline::kernels::internal
