#include <optional>
#include <random>
#include <unordered_map>
#include <utility>

#include "config/overrides/internal/functions.h"
#include "config/overrides/internal/lexer.h"
#include "config/overrides/override.h"
#include "formats/python_number.h"

namespace profline::config {
namespace {

bool is_in_primitive(TokenKind kind) {
  switch (kind) {
    case TokenKind::Id:
    case TokenKind::Null:
    case TokenKind::Int:
    case TokenKind::Float:
    case TokenKind::Bool:
    case TokenKind::Interpolation:
    case TokenKind::UnquotedChar:
    case TokenKind::Colon:
    case TokenKind::Escape:
    case TokenKind::Blank:
      return true;
    default:
      return false;
  }
}

bool is_in_dict_key(TokenKind kind) {
  return is_in_primitive(kind) && kind != TokenKind::Colon && kind != TokenKind::Interpolation;
}

bool begins_element(TokenKind kind) {
  return is_in_primitive(kind) || kind == TokenKind::Quoted || kind == TokenKind::BracketOpen ||
         kind == TokenKind::BraceOpen;
}

class Parser {
 public:
  Parser(std::string_view text, const OverrideParsing& parsing)
      : parsing_(parsing), tokens_(text, parsing.label) {}

  Result<Override> override_rule();

 private:
  using Places = std::unordered_map<std::string, std::size_t>;  // of a dict's keys

  // Rules, each named after the grammar's.
  Result<void> key(Override& out);
  Result<std::string> package();
  Result<void> optional_value(Override& out);
  Result<OverrideValue> value();
  Result<OverrideValue> element();
  Result<OverrideValue> list();
  Result<OverrideValue> dict();
  Result<void> pair(OverrideValue::Dict& out, Places& places);
  Result<OverrideValue> function();
  Result<void> argument(FunctionCall& call);
  template <typename Item>
  Result<void> items(TokenKind close, const char* close_text, const Item& item);
  OverrideValue primitive(std::size_t first, std::size_t end);
  OverrideValue single(const Token& token);

  Result<void> enter();
  bool begins_key() const;
  Error unexpected(std::string_view expected, Read read, std::size_t ahead = 0) {
    return tokens_.unexpected(expected, in_first_element_ ? Read::Rest : read, ahead);
  }
  template <typename Place>
  void remember(const Place& place, const char* reason, std::string message) {
    if (evaluation_problem_) return;
    evaluation_problem_ = tokens_.error_at(place, reason, std::move(message));
  }

  const OverrideParsing& parsing_;
  OverrideTokens tokens_;
  std::size_t depth_ = 0;
  // Two rules differ in whether commas follow the first element, so Hydra's parser looks through
  // all of it before choosing one.
  bool in_first_element_ = false;
  // Functions are evaluated during parsing, but Hydra reports their errors only if the whole text
  // is well formed.
  std::optional<Error> evaluation_problem_;
};

bool Parser::begins_key() const {
  return tokens_.is(TokenKind::Id) || tokens_.is(TokenKind::KeySpecial) ||
         tokens_.is(TokenKind::DotPath) || tokens_.is(TokenKind::At) ||
         tokens_.is(TokenKind::Equal);
}

Result<void> Parser::enter() {
  if (++depth_ <= kMaxOverrideNesting) return {};
  return tokens_.error_at(
      tokens_.current(), "syntax",
      "brackets are nested more than " + std::to_string(kMaxOverrideNesting) + " deep");
}

Result<Override> Parser::override_rule() {
  Override out;
  out.text = std::string(tokens_.text());
  out.place = {parsing_.label, 1, 1};
  const bool is_prefix = tokens_.is(TokenKind::Tilde) || tokens_.is(TokenKind::Plus);
  if (!is_prefix && !begins_key()) return unexpected("a key", Read::Next);
  if (tokens_.take(TokenKind::Tilde)) {
    out.type = OverrideType::Delete;
  } else if (tokens_.take(TokenKind::Plus)) {
    out.type = tokens_.take(TokenKind::Plus) ? OverrideType::ForceAdd : OverrideType::Add;
    if (out.type == OverrideType::Add && !begins_key()) return unexpected("a key", Read::Next);
  }
  PL_TRY(key(out));
  if (tokens_.take(TokenKind::Equal)) {
    PL_TRY(optional_value(out));
  } else if (out.type != OverrideType::Delete) {
    return unexpected("'=' and a value", Read::Next);
  } else if (!tokens_.is(TokenKind::End)) {
    return unexpected("'=' or the end", Read::Next);
  }
  if (evaluation_problem_) return *evaluation_problem_;
  return out;
}

Result<void> Parser::key(Override& out) {
  out.key_column = tokens_.column();
  if (tokens_.is(TokenKind::Id) && tokens_.kind(1) == TokenKind::Slash) {
    const std::size_t begin = tokens_.next().begin;
    while (tokens_.take(TokenKind::Slash)) {
      if (!tokens_.take(TokenKind::Id)) return unexpected("the name of a group", Read::Next);
    }
    out.key = std::string(tokens_.text().substr(begin, tokens_[tokens_.at() - 1].end - begin));
  } else {
    out.key = PL_TRY(package());
  }
  if (tokens_.take(TokenKind::At)) {
    out.package_column = tokens_.column();
    out.package = PL_TRY(package());
  }
  return {};
}

/// A path, or nothing if the key has ended.
Result<std::string> Parser::package() {
  if (tokens_.is(TokenKind::Id) || tokens_.is(TokenKind::KeySpecial) ||
      tokens_.is(TokenKind::DotPath)) {
    return std::string(tokens_.text_of(tokens_.next()));
  }
  if (tokens_.is(TokenKind::End) || tokens_.is(TokenKind::Equal) || tokens_.is(TokenKind::At))
    return std::string();
  return unexpected("a key", Read::Rest);
}

/// What follows '=', up to the end; nothing is the empty string.
Result<void> Parser::optional_value(Override& out) {
  if (begins_element(tokens_.kind())) {
    out.value = PL_TRY(value());
    if (tokens_.is(TokenKind::End)) return {};
    const bool is_equal = tokens_.is(TokenKind::Equal);
    return unexpected(is_equal ? "',' or the end of the value (write \\= or quote the value)"
                               : "',' or the end of the value",
                      Read::Next);
  }
  if (!tokens_.is(TokenKind::End)) return unexpected("a value", Read::Next);
  out.value = OverrideValue(Node::string(""));
  out.value->set_column(tokens_.column());
  return {};
}

Result<OverrideValue> Parser::value() {
  const std::uint32_t begin = tokens_.column();
  in_first_element_ = true;
  OverrideValue first = PL_TRY(element());
  in_first_element_ = false;
  if (!tokens_.is(TokenKind::Comma)) return first;
  ChoiceSweep choice;
  choice.simple = true;
  choice.items.push_back(std::move(first));
  while (tokens_.take(TokenKind::Comma)) choice.items.push_back(PL_TRY(element()));
  OverrideValue out(std::move(choice));
  out.set_column(begin);
  return out;
}

Result<OverrideValue> Parser::element() {
  if (!begins_element(tokens_.kind())) return unexpected("a value", Read::Next);
  const std::uint32_t begin = tokens_.column();
  OverrideValue out;
  if (tokens_.is(TokenKind::BracketOpen)) {
    out = PL_TRY(list());
  } else if (tokens_.is(TokenKind::BraceOpen)) {
    out = PL_TRY(dict());
  } else if (tokens_.is(TokenKind::Id) && tokens_.kind(1) == TokenKind::ParenOpen) {
    out = PL_TRY(function());
  } else {
    const std::size_t first = tokens_.at();
    if (!tokens_.take(TokenKind::Quoted)) {
      while (is_in_primitive(tokens_.kind())) tokens_.next();
    }
    out = primitive(first, tokens_.at());
  }
  out.set_column(begin);
  return out;
}

/// `item , item … close`, or `close` at once.
template <typename Item>
Result<void> Parser::items(TokenKind close, const char* close_text, const Item& item) {
  tokens_.next();  // the opening bracket
  if (tokens_.take(close)) return {};
  const std::string expected = std::string("',' or '") + close_text + "'";
  for (Read read = Read::Next;; read = Read::Token) {
    PL_TRY(item());
    if (tokens_.take(close)) return {};
    if (!tokens_.take(TokenKind::Comma)) return unexpected(expected, read);
  }
}

Result<OverrideValue> Parser::list() {
  PL_TRY(enter());
  OverrideValue::List out;
  const auto item = [&]() -> Result<void> {
    out.push_back(PL_TRY(element()));
    return {};
  };
  PL_TRY(items(TokenKind::BracketClose, "]", item));
  --depth_;
  return OverrideValue(std::move(out));
}

Result<OverrideValue> Parser::dict() {
  PL_TRY(enter());
  OverrideValue::Dict out;
  Places places;
  PL_TRY(items(TokenKind::BraceClose, "}", [&] { return pair(out, places); }));
  --depth_;
  return OverrideValue(std::move(out));
}

/// `key: value`. An existing key keeps its place and gets the new value.
Result<void> Parser::pair(OverrideValue::Dict& out, Places& places) {
  if (!is_in_dict_key(tokens_.kind())) return unexpected("a key without quotes", Read::Next);
  const std::size_t first = tokens_.at();
  while (is_in_dict_key(tokens_.kind())) tokens_.next();
  const OverrideValue key = primitive(first, tokens_.at());
  if (!tokens_.take(TokenKind::Colon)) return unexpected("':' after the key", Read::Next);
  OverrideValue value = PL_TRY(element());
  const Node& name = *key.get<Node>();  // a key does not begin with a quote
  const std::string identity = key_identity(name);
  const auto [place, is_new] = places.try_emplace(identity, out.size());
  if (!identity.empty() && !is_new) {
    out[place->second].value = std::move(value);
  } else {
    out.push_back({name, std::move(value)});
  }
  return {};
}

Result<OverrideValue> Parser::function() {
  PL_TRY(enter());
  const Token name = tokens_.next();
  FunctionCall call{std::string(tokens_.text_of(name)), {}, {}};
  PL_TRY(items(TokenKind::ParenClose, ")", [&] { return argument(call); }));
  --depth_;
  if (evaluation_problem_) return OverrideValue();
  auto value = evaluate(std::move(call), parsing_.random_below);
  if (value) return value;
  const Error& problem = value.error();
  const std::uint32_t argument_column = problem.position()->column;
  if (argument_column > 0) {
    remember(argument_column, problem.reason().data(), problem.message());
  } else {
    remember(name, problem.reason().data(), problem.message());
  }
  return OverrideValue();
}

/// `value` or `name=value`.
Result<void> Parser::argument(FunctionCall& call) {
  if (tokens_.is(TokenKind::Id) && tokens_.kind(1) == TokenKind::Equal) {
    std::string name(tokens_.text_of(tokens_.next()));
    tokens_.next();
    call.named.emplace_back(std::move(name), PL_TRY(element()));
    return {};
  }
  // A name here belongs to an argument or a value, which Hydra's parser decides by the next token:
  // if that fits neither, it is reported after the whole text was read.
  const TokenKind next = tokens_.kind(1);
  const bool fits = is_in_primitive(next) || next == TokenKind::ParenOpen ||
                    next == TokenKind::Comma || next == TokenKind::ParenClose;
  if (tokens_.is(TokenKind::Id) && !fits) return unexpected("',' or ')'", Read::Rest, 1);
  if (!call.named.empty()) {
    remember(tokens_.current(), "reserved_arg_order",
             call.name + "(): an argument without a name follows one with a name");
  }
  call.positional.push_back(PL_TRY(element()));
  return {};
}

/// The value of the tokens from `first` up to `end`. A single token has its own type, several are a
/// string; blanks around them are ignored.
OverrideValue Parser::primitive(std::size_t first, std::size_t end) {
  if (tokens_[first].kind == TokenKind::Blank && end - first > 1) ++first;
  if (tokens_[end - 1].kind == TokenKind::Blank && end - first > 1) --end;
  if (end - first == 1) return single(tokens_[first]);
  std::string out;
  for (std::size_t i = first; i < end; ++i) {
    const std::string_view part = tokens_.text_of(tokens_[i]);
    if (tokens_[i].kind == TokenKind::Escape) {
      out += unescaped(part);
    } else {
      out += part;
    }
  }
  return Node::string(std::move(out));
}

OverrideValue Parser::single(const Token& token) {
  const std::string_view text = tokens_.text_of(token);
  switch (token.kind) {
    case TokenKind::Quoted:
      return OverrideValue(
          QuotedString{unquoted(text), text.front() == '"' ? Quote::Double : Quote::Single});
    case TokenKind::Int:
      if (auto number = parse_python_int(text)) return *std::move(number);
      remember(token, "syntax", "an integer has at most 4300 digits");
      return {};
    case TokenKind::Float:
      return Node::real(python_float(text).value_or(0));
    case TokenKind::Null:
      return {};
    case TokenKind::Bool:
      return Node::boolean(text.size() == std::string_view("true").size());
    case TokenKind::Escape:
      return Node::string(unescaped(text));
    default:
      return Node::string(std::string(text));
  }
}

}  // namespace

RandomBelow system_random() {
  return [](std::size_t bound) {
    std::random_device device;
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(device);
  };
}

Result<Override> parse_override(std::string_view text, const OverrideParsing& parsing) {
  return Parser(text, parsing).override_rule();
}

std::string override_label(std::size_t number) {
  return "override " + std::to_string(number);
}

Result<std::vector<Override>> parse_overrides(std::span<const std::string> texts,
                                              const RandomBelow& random_below) {
  std::vector<Override> out;
  out.reserve(texts.size());
  for (const std::string& text : texts) {
    out.push_back(PL_TRY(parse_override(text, {override_label(out.size() + 1), random_below})));
  }
  return out;
}

}  // namespace profline::config
