#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/strings.h"
#include "formats/internal/yaml_parts.h"
#include "formats/python_number.h"

namespace profline {
namespace {

constexpr std::string_view kCoreTags = "tag:yaml.org,2002:";

/// Matches from the front and removes what it matched from `rest`.
struct Matcher {
  std::string_view rest;

  bool done() const { return rest.empty(); }
  bool take(char c) {
    if (rest.empty() || rest[0] != c) return false;
    rest.remove_prefix(1);
    return true;
  }
  bool take_one_of(std::string_view set) {
    if (rest.empty() || set.find(rest[0]) == std::string_view::npos) return false;
    rest.remove_prefix(1);
    return true;
  }
  /// Returns how many of those characters it took.
  std::size_t take_all_of(std::string_view set) {
    const std::size_t count = std::min(rest.find_first_not_of(set), rest.size());
    rest.remove_prefix(count);
    return count;
  }
  bool take_digits(std::size_t least, std::size_t most) {
    std::size_t count = 0;
    while (count < most && take_one_of("0123456789")) ++count;
    return count >= least;
  }
};

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kDigitsAndUnderscore = "0123456789_";

bool one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

/// `yes`, `Yes`, `YES` and so on: only these spellings, not any mixture of cases.
bool is_bool(std::string_view text) {
  return one_of(text, {"yes", "Yes", "YES", "no", "No", "NO", "true", "True", "TRUE", "false",
                       "False", "FALSE", "on", "On", "ON", "off", "Off", "OFF"});
}

/// `:20:30`: one or more base-60 digits, each after a colon.
bool take_sexagesimal_places(Matcher& text) {
  bool any = false;
  while (text.take(':')) {
    const bool tens = text.take_one_of("012345");
    if (!text.take_one_of(kDigits) && !tens) return false;
    any = true;
  }
  // A first digit of 6 to 9 stands alone: `1:7`, not `1:70`.
  return any;
}

bool is_int(std::string_view text) {
  Matcher match{text};
  match.take_one_of("+-");
  if (match.take('0')) {
    if (match.done()) return true;
    if (match.take('b')) return match.take_all_of("01_") > 0 && match.done();
    if (match.take('x')) return match.take_all_of("0123456789abcdefABCDEF_") > 0 && match.done();
    return match.take_all_of("01234567_") > 0 && match.done();
  }
  if (!match.take_one_of("123456789")) return false;
  match.take_all_of(kDigitsAndUnderscore);
  return match.done() || (take_sexagesimal_places(match) && match.done());
}

/// `e+3`; without its sign (`e3`) only where `sign_optional`.
bool take_exponent(Matcher& text, bool sign_optional) {
  if (!text.take_one_of("eE")) return false;
  if (!text.take_one_of("+-") && !sign_optional) return false;
  return text.take_all_of(kDigits) > 0;
}

/// Digits in groups with single underscores between them: OmegaConf requires this, while PyYAML
/// allows underscores anywhere after the first digit.
bool has_tidy_underscores(std::string_view digits) {
  return digits.back() != '_' && digits.find("__") == std::string_view::npos;
}

/// What follows `12` in a float: `.5`, `.5e3`, `e3`, `:30.5`.
bool is_rest_of_float(std::string_view whole, Matcher rest) {
  const bool tidy = has_tidy_underscores(whole);
  if (rest.take('.')) {
    rest.take_all_of(kDigitsAndUnderscore);
    return rest.done() || (take_exponent(rest, tidy) && rest.done());
  }
  if (!rest.done() && rest.rest[0] == ':') {
    if (!take_sexagesimal_places(rest) || !rest.take('.')) return false;
    rest.take_all_of(kDigitsAndUnderscore);
    return rest.done();
  }
  return tidy && take_exponent(rest, true) && rest.done();
}

bool is_float(std::string_view text) {
  if (one_of(text, {".nan", ".NaN", ".NAN"})) return true;
  Matcher match{text};
  const bool has_sign = match.take_one_of("+-");
  if (one_of(match.rest, {".inf", ".Inf", ".INF"})) return true;
  if (!has_sign && match.take('.')) {
    // `.5` allows no sign in front, and an exponent only with a sign: `-.5` and `.5e3` are strings.
    if (!match.take_one_of(kDigits)) return false;
    match.take_all_of(kDigitsAndUnderscore);
    return match.done() || (take_exponent(match, false) && match.done());
  }
  const std::string_view from_digits = match.rest;
  if (!match.take_one_of(kDigits)) return false;
  const std::size_t length = 1 + match.take_all_of(kDigitsAndUnderscore);
  return is_rest_of_float(from_digits.substr(0, length), match);
}

std::string without(std::string_view text, char unwanted) {
  std::string out;
  out.reserve(text.size());
  std::copy_if(text.begin(), text.end(), std::back_inserter(out),
               [&](char c) { return c != unwanted; });
  return out;
}

Error not_a(std::string_view text, std::string_view what) {
  constexpr std::size_t kShown = 60;
  std::string shown(text.substr(0, kShown));
  if (text.size() > kShown) shown += "…";
  return {ErrorKind::Parse, "'" + shown + "' is not " + std::string(what)};
}

Result<Node> bool_node(std::string_view text) {
  const std::string lower = profline::lower(text);
  if (one_of(lower, {"yes", "true", "on"})) return Node::boolean(true);
  if (one_of(lower, {"no", "false", "off"})) return Node::boolean(false);
  return not_a(text, "a boolean (yes, no, true, false, on or off)");
}

std::optional<std::string> int_digits(std::string_view text) {
  if (text == "0") return "0";
  if (text.starts_with("0b")) return python_int(text.substr(2), 2);
  if (text.starts_with("0x")) return python_int(text.substr(2), 16);
  if (text.starts_with('0')) return python_int(text, 8);
  if (text.find(':') != std::string_view::npos) return sexagesimal_int(text);
  return python_int(text, 10);
}

Node integer_of_digits(std::string digits) {
  std::int64_t value = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (parsed.ec == std::errc()) return Node::integer(value);
  return Node::big_integer(std::move(digits));
}

Result<Node> int_node(std::string_view text) {
  const std::string joined = without(text, '_');
  std::string_view rest = joined;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  std::optional<std::string> digits = rest.empty() ? std::nullopt : int_digits(rest);
  if (!digits && text.size() > kMaxIntegerDigits / 4) {
    return not_a(text, "an integer of at most " + std::to_string(kMaxIntegerDigits) + " digits");
  }
  if (!digits) return not_a(text, "an integer");
  // The digits may have their own sign: `!!int --5` is 5.
  const bool has_sign = digits->starts_with('-');
  if (negative && has_sign) digits->erase(0, 1);
  if (negative && !has_sign && *digits != "0") digits->insert(0, 1, '-');
  return integer_of_digits(std::move(*digits));
}

/// `190:20:30.15`; adds the lowest place first, as PyYAML does, so that it rounds alike.
std::optional<double> sexagesimal_float(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ':');
  double total = 0;
  double place = 1;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    const std::optional<double> digit = python_float(*part);
    if (!digit || std::isinf(place)) return std::nullopt;
    total += *digit * place;
    place *= 60;
  }
  return total;
}

Result<Node> float_node(std::string_view text) {
  const std::string joined = lower(without(text, '_'));
  std::string_view rest = joined;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  std::optional<double> value;
  if (rest == ".inf") {
    value = std::numeric_limits<double>::infinity();
  } else if (rest == ".nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (rest.find(':') != std::string_view::npos) {
    value = sexagesimal_float(rest);
  } else {
    value = python_float(rest);
  }
  if (!value) return not_a(text, "a float");
  return Node::real(negative ? -*value : *value);
}

}  // namespace

std::optional<YamlTag> yaml_tag(std::string_view tag) {
  if (!tag.starts_with(kCoreTags)) return std::nullopt;
  tag.remove_prefix(kCoreTags.size());
  struct Named {
    std::string_view name;
    YamlTag tag;
  };
  constexpr Named kNamed[] = {
      {"null", YamlTag::Null},
      {"bool", YamlTag::Bool},
      {"int", YamlTag::Int},
      {"float", YamlTag::Float},
      {"str", YamlTag::Str},
      {"binary", YamlTag::Binary},
      {"timestamp", YamlTag::Timestamp},
      {"merge", YamlTag::Merge},
      {"value", YamlTag::Value},
      {"seq", YamlTag::Seq},
      {"map", YamlTag::Map},
      {"set", YamlTag::Set},
      {"omap", YamlTag::OrderedMap},
      {"pairs", YamlTag::Pairs},
  };
  for (const Named& named : kNamed) {
    if (named.name == tag) return named.tag;
  }
  return std::nullopt;
}

YamlTag implicit_yaml_tag(std::string_view text) {
  if (one_of(text, {"", "~", "null", "Null", "NULL"})) return YamlTag::Null;
  if (text == "<<") return YamlTag::Merge;
  if (text == "=") return YamlTag::Value;
  const char first = text[0];
  if (first == '+' || first == '-' || first == '.' || (first >= '0' && first <= '9')) {
    if (is_int(text)) return YamlTag::Int;
    return is_float(text) ? YamlTag::Float : YamlTag::Str;
  }
  return is_bool(text) ? YamlTag::Bool : YamlTag::Str;
}

bool looks_like_timestamp(std::string_view text) {
  Matcher match{text};
  if (!match.take_digits(4, 4) || !match.take('-')) return false;
  const std::string_view after_year = match.rest;
  if (!match.take_digits(1, 2) || !match.take('-') || !match.take_digits(1, 2)) return false;
  if (match.done()) return after_year.size() == 5;  // a date alone needs two digits each: `01-02`
  if (!match.take_one_of("Tt") && match.take_all_of(" \t") == 0) return false;
  if (!match.take_digits(1, 2) || !match.take(':') || !match.take_digits(2, 2)) return false;
  if (!match.take(':') || !match.take_digits(2, 2)) return false;
  if (match.take('.')) match.take_all_of(kDigits);
  if (match.done()) return true;
  match.take_all_of(" \t");
  if (match.take('Z')) return match.done();
  if (!match.take_one_of("+-") || !match.take_digits(1, 2)) return false;
  return match.done() || (match.take(':') && match.take_digits(2, 2) && match.done());
}

Result<Node> yaml_scalar(YamlTag tag, std::string text) {
  switch (tag) {
    case YamlTag::Null:
      return Node();  // whatever the text: `!!null x` is null
    case YamlTag::Bool:
      return bool_node(text);
    case YamlTag::Int:
      return int_node(text);
    case YamlTag::Float:
      return float_node(text);
    case YamlTag::Str:
      return Node::string(std::move(text));
    case YamlTag::Binary: {
      std::optional<std::string> bytes = decode_base64(text);
      if (!bytes) return not_a(text, "base64 of whole bytes");
      return Node::bytes(std::move(*bytes));
    }
    case YamlTag::Merge:
      return Error(ErrorKind::Parse, "'<<' merges maps and is allowed only as a key: quote it");
    case YamlTag::Value:
      return Error(ErrorKind::Parse, "a plain '=' is reserved in YAML 1.1: quote it");
    case YamlTag::Timestamp:
      return Error(ErrorKind::Parse, "!!timestamp is not supported: leave the tag out")
          .with_reason("validation");
    case YamlTag::Seq:
    case YamlTag::OrderedMap:
    case YamlTag::Pairs:
      return not_a(text, "a list, which its tag asks for");
    case YamlTag::Map:
    case YamlTag::Set:
      return not_a(text, "a map, which its tag asks for");
  }
  return not_a(text, "of a known type");
}

}  // namespace profline
