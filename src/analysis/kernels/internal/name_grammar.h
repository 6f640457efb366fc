#pragma once

#include <cctype>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"

namespace profline::kernels::internal {

/// The demangled form of `_Z...`; nothing if it is not a mangled name, or if its text could become
/// far larger than real names: 200 bytes of repetitions can stand for a gigabyte, which the
/// library's demangler would write out.
std::optional<std::string> demangled(std::string_view mangled);

/// A demangled name in a single spelling, with marks around what tools leave out.
struct ParsedName {
  /// With kPathBegin path kPathEnd before each name in a namespace, and what only some tools show
  /// between kExtraBegin and kExtraEnd.
  std::string marked;
  std::string function;                ///< of the outermost name
  std::vector<std::string> mentioned;  ///< names inside its template arguments, in order
};

inline constexpr char kPathBegin = '\x01';
inline constexpr char kPathEnd = '\x02';
inline constexpr char kExtraBegin = '\x03';
inline constexpr char kExtraEnd = '\x04';

/// Nothing if the text is not what a demangler writes: unbalanced brackets (a truncated name),
/// control characters, deeper nesting than real names have.
std::optional<ParsedName> parse_name(std::string_view text);

// The parser; used only by its two source files.

inline constexpr int kDeepestName = 160;
inline constexpr std::string_view kAnonymous = "(anonymous namespace)";

inline bool is_word_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '~' ||
         static_cast<unsigned char>(c) >= 0x80U;
}
inline bool is_word(char c) {
  return is_word_start(c) || is_digit(c) || c == '.' || c == '@';
}

/// One part of a qualified name: `foo<int>(float)`, `{lambda(int)#1}`.
struct Component {
  std::string name;  // without arguments
  std::string args;  // `<...>`, marked
  std::string params;
  bool has_args = false;
  bool has_params = false;
  bool is_plain = true;  // may be a namespace
  std::vector<std::string> arg_list;
};

/// A type, a value or a function: the text between two commas.
struct Entity {
  std::string base;
  std::string tail;  // pointers, references, what follows
  bool is_const = false;
  bool is_function = false;

  void add_word(const std::string& word) {
    if (base.empty() && tail == "&") {  // the address of a function
      base = '&' + word;
      tail.clear();
    } else if (!tail.empty()) {
      tail += ' ' + word;
    } else {
      base += (base.empty() ? "" : " ") + word;
    }
  }
  std::string text() const { return (is_const ? "const " : "") + base + tail; }
};

class NameParser {
 public:
  explicit NameParser(std::string_view text) : text_(text) {}

  std::optional<ParsedName> run() {
    Entity entity = parse_entity();
    skip_clones();
    if (failed_ || at_ != text_.size()) return std::nullopt;
    parsed_.marked = entity.text();
    if (parsed_.marked.empty()) return std::nullopt;
    // Words without parameters or arguments are a description (`wait for peers`), not a function
    // with its return type.
    if (!entity.is_function && parsed_.marked.find_first_of("<(") == std::string::npos &&
        parsed_.marked.find(' ') != std::string::npos) {
      parsed_.function.clear();
    }
    return std::move(parsed_);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool looking_at(std::string_view text) const { return text_.substr(at_).starts_with(text); }
  bool take(std::string_view text) {
    if (!looking_at(text)) return false;
    at_ += text.size();
    return true;
  }
  void blanks() {
    while (peek() == ' ') ++at_;
  }
  std::string fail() {
    failed_ = true;
    return {};
  }

  Entity parse_entity();
  bool parse_part(Entity& entity);
  void parse_paren(Entity& entity);
  void parse_brackets(Entity& entity);
  void parse_number(Entity& entity);
  void parse_word_name(Entity& entity);
  bool parse_keyword(Entity& entity);
  bool at_name() const;

  std::string parse_qualified(bool& is_function);
  Component parse_component();
  using Scopes = std::deque<std::vector<std::string>>;
  void parse_suffixes(Component& component, Scopes& kept);
  std::string nameless();
  std::string unnamed();
  std::string llvm_lambda();
  std::string word();
  std::string operator_name();
  std::string lambda(std::string_view close);
  std::string lambda_text();
  std::vector<std::string> parse_list(char close);
  void parse_params(Component& component);
  void parse_args(Component& component);
  std::string placeholder(const std::string& name) const;
  static std::string marked(const Component& component);
  std::string join_components(const std::vector<Component>& components) const;
  void skip_clones();
  void mention(const Component& component);

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
  std::size_t written_ = 0;                              // by placeholders
  std::vector<const std::vector<std::string>*> scopes_;  // arguments that T1 may refer to
  ParsedName parsed_;
};

}  // namespace profline::kernels::internal
