// Qualified names and their parts: arguments, parameters, lambdas, operators.
// Types, values and functions: the text between two commas of a name.
#include <algorithm>
#include <array>
#include <utility>

#include "analysis/kernels/internal/name_grammar.h"

namespace profline::kernels::internal {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& these) {
  return std::find(these.begin(), these.end(), text) != these.end();
}

// Placeholders are expanded as long as the name stays this small.
constexpr std::size_t kLongestMarked = std::size_t{1} << 20U;
constexpr std::size_t kMostMentioned = 64;

/// Namespaces that libraries add for their versions.
bool is_version_namespace(std::string_view name) {
  if (name == "__cxx11" || name == "_V2") return true;
  if (name.starts_with("CUB_") || name.starts_with("THRUST_")) return name.ends_with("_NS");
  if (!name.starts_with("__") || name.size() < 3) return false;
  return std::all_of(name.begin() + 2, name.end(), [](char c) { return is_digit(c) || c == '_'; });
}

bool is_anonymous(std::string_view name) {
  return name.starts_with("_GLOBAL__N_") || name.starts_with("_INTERNAL_");
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

std::string NameParser::word() {
  const std::size_t start = at_;
  while (is_word(peek())) ++at_;
  return std::string(text_.substr(start, at_ - start));
}

/// The rest of an operator's name, after the word `operator`.
std::string NameParser::operator_name() {
  blanks();
  constexpr std::array<std::string_view, 20> kSymbols = {
      "()", "[]", "<<=", ">>=", "<=>", "<<", ">>", "<=", ">=", "==",
      "!=", "&&", "||",  "++",  "--",  "->", "+=", "-=", "*=", "/="};
  for (const std::string_view symbol : kSymbols) {
    if (take(symbol)) return "operator" + std::string(symbol);
  }
  if (!is_word_start(peek()) && peek() != '\0') return std::string("operator") + text_[at_++];
  return "operator " + word();  // a conversion
}

/// The parameters and number of a lambda, after the word, in any of these forms:
///   {lambda(int)#1}   [lambda(int) (instance 1)]   'lambda'(int)   'lambda0'(int)
std::string NameParser::lambda_text() {
  Component component;
  if (peek() == '(') parse_params(component);
  return component.params.empty() ? "()" : component.params;
}

std::string NameParser::lambda(std::string_view close) {
  std::string params = lambda_text();
  blanks();
  std::string number = "1";
  if (take("#") || take("(instance ")) {
    const std::size_t start = at_;
    while (is_digit(peek())) ++at_;
    number = std::string(text_.substr(start, at_ - start));
    if (peek() == ')') ++at_;
  }
  if (!take(close)) return fail();
  return "{lambda" + params + '#' + number + '}';
}

/// LLVM leaves the first one without a number: 'lambda'(int), 'lambda0'(int), 'lambda1'(int).
std::string NameParser::llvm_lambda() {
  const std::size_t start = at_;
  while (is_digit(peek())) ++at_;
  const std::string number(text_.substr(start, std::min<std::size_t>(at_ - start, 6)));
  if (!take("'")) return fail();
  return "{lambda" + lambda_text() + '#' +
         std::to_string(number.empty() ? 1 : std::stoi(number) + 2) + '}';
}

/// `{unnamed type#1}`, `(lambda at file.cu:3:5)`: unchanged.
std::string NameParser::unnamed() {
  const char open = peek();
  const char close = open == '(' ? ')' : open == '{' ? '}' : '\'';
  const std::size_t end = text_.find(close, at_ + 1);
  if (end == std::string_view::npos) return fail();
  const std::size_t start = std::exchange(at_, end + 1);
  return std::string(text_.substr(start, at_ - start));
}

/// An entity without a name; empty if a name follows.
std::string NameParser::nameless() {
  if (take("{lambda")) return lambda("}");
  if (take("[lambda")) return lambda("]");
  if (take("<lambda")) return lambda(">");
  if (take("'lambda")) return llvm_lambda();
  if (looking_at("(lambda at ") || looking_at("{unnamed") || looking_at("'unnamed")) {
    return unnamed();
  }
  return {};
}

Component NameParser::parse_component() {
  Component component;
  // ncu 2025.3 shortens `at::native::<unnamed>::f` to `unnamed>::f`.
  const bool is_cut = looking_at("unnamed>::") && take("unnamed>");
  if (is_cut || take(kAnonymous) || take("<unnamed>") || take("{anonymous}")) {
    component.name = kAnonymous;
    return component;
  }
  component.name = nameless();
  if (!component.name.empty() || failed_) {
    component.is_plain = false;
    return component;
  }
  component.name = word();
  if (component.name.empty()) fail();
  if (is_anonymous(component.name)) component.name = kAnonymous;
  if (component.name == "operator") {
    component.name = operator_name();
    component.is_plain = false;
  }
  return component;
}

std::vector<std::string> NameParser::parse_list(char close) {
  std::vector<std::string> parts;
  if (++depth_ > kDeepestName) {
    fail();
    return parts;
  }
  blanks();
  while (!failed_ && peek() != close) {
    parts.push_back(parse_entity().text());
    blanks();
    if (peek() == ',') {
      ++at_;
      blanks();
    } else if (peek() != close) {
      fail();
    }
  }
  if (!failed_) ++at_;
  --depth_;
  return parts;
}

/// Parameters after a name: `(float const*, T1)`, followed by `const` for members.
void NameParser::parse_params(Component& component) {
  ++at_;
  std::vector<std::string> parts = parse_list(')');
  if (parts.size() == 1 && parts.front() == "void") parts.clear();
  component.params = '(';
  for (std::size_t i = 0; i < parts.size(); ++i) {
    component.params += (i > 0 ? ", " : "") + parts[i];
  }
  component.params += ')';
  component.has_params = true;
  const std::size_t before = at_;
  blanks();
  if (take("const") && !is_word(peek())) {
    component.params += " const";
  } else {
    at_ = before;
  }
}

void NameParser::parse_args(Component& component) {
  component.arg_list = parse_list('>');
  component.has_args = true;
  component.is_plain = false;
  component.args = '<';
  for (std::size_t i = 0; i < component.arg_list.size(); ++i) {
    component.args += (i > 0 ? ", " : "") + component.arg_list[i];
  }
  component.args += '>';
}

/// What `T3` refers to: the third argument of its template.
std::string NameParser::placeholder(const std::string& name) const {
  if (scopes_.empty() || name.size() < 2 || name.size() > 4 || name.front() != 'T' ||
      !std::all_of(name.begin() + 1, name.end(), is_digit)) {
    return {};
  }
  const auto number = static_cast<std::size_t>(std::stoi(name.substr(1)));
  const std::vector<std::string>& args = *scopes_.back();
  if (number == 0 || number > args.size() || written_ > kLongestMarked) return {};
  return args[number - 1];
}

void NameParser::mention(const Component& component) {
  if (depth_ == 0) {
    const bool is_name = component.name.front() != '{' && !component.name.starts_with("operator");
    if (is_name) parsed_.function = component.name;
  } else if (parsed_.mentioned.size() < kMostMentioned && component.name.front() != '{') {
    parsed_.mentioned.push_back(component.name);
  }
}

/// What may follow a name: arguments, which later placeholders refer to, and parameters.
void NameParser::parse_suffixes(Component& component, Scopes& kept) {
  if (peek() == '<' && !looking_at("<unnamed>") && !looking_at("<lambda")) {
    ++at_;
    parse_args(component);
    kept.push_back(component.arg_list);
    scopes_.push_back(&kept.back());
  }
  if (take("[abi:")) {
    while (peek() != ']' && peek() != '\0') ++at_;
    take("]");
  }
  if (peek() == '(' && peek(1) != '*' && component.name != "decltype") {
    parse_params(component);
    component.is_plain = false;
  }
}

/// `at::native::foo<int>(float)::{lambda(int)#1}`
std::string NameParser::parse_qualified(bool& is_function) {
  std::vector<Component> components;
  const std::size_t scopes = scopes_.size();
  Scopes kept;  // where scopes_ points to
  take("::");
  do {
    Component component = parse_component();
    if (failed_) break;
    if (!looking_at("::")) mention(component);
    parse_suffixes(component, kept);
    is_function = is_function || component.has_params;
    components.push_back(std::move(component));
  } while (!failed_ && take("::"));
  scopes_.resize(scopes);
  if (failed_) return {};
  const Component& first = components.front();
  const bool is_bare = components.size() == 1 && !first.has_args && !first.has_params;
  std::string stands_for = is_bare ? placeholder(first.name) : std::string();
  if (stands_for.empty()) return join_components(components);
  written_ += stands_for.size();
  return stands_for;
}

/// The name with its arguments and parameters, marked.
std::string NameParser::marked(const Component& component) {
  if (!component.has_params) return component.name + component.args;
  if (!component.has_args) return component.name + component.params;
  // The parameters of a template follow from its arguments, and tools write them differently.
  return component.name + component.args + kExtraBegin + component.params + kExtraEnd;
}

std::string NameParser::join_components(const std::vector<Component>& components) const {
  std::string path;
  std::string name;
  for (std::size_t i = 0; i < components.size(); ++i) {
    const Component& component = components[i];
    const bool is_last = i + 1 == components.size();
    if (component.is_plain && !is_last) {
      if (is_version_namespace(component.name)) continue;
      path += (path.empty() ? "" : "::") + component.name;
      continue;
    }
    if (!path.empty()) name += kPathBegin + std::exchange(path, {}) + kPathEnd;
    name += marked(component);
    if (!is_last) name += "::";
  }
  return name;
}

}  // namespace profline::kernels::internal
