#include "config/overrides/override.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "formats/python_number.h"

namespace profline::config {

OverrideValue::OverrideValue() = default;
OverrideValue::OverrideValue(Node scalar) : value_(std::move(scalar)) {}
OverrideValue::OverrideValue(Variant value) : value_(std::move(value)) {}
OverrideValue::OverrideValue(const OverrideValue&) = default;
OverrideValue::OverrideValue(OverrideValue&&) noexcept = default;
OverrideValue& OverrideValue::operator=(const OverrideValue&) = default;
OverrideValue& OverrideValue::operator=(OverrideValue&&) noexcept = default;
OverrideValue::~OverrideValue() = default;

bool OverrideValue::operator==(const OverrideValue& other) const {
  return value_ == other.value_;
}

bool ChoiceSweep::operator==(const ChoiceSweep&) const = default;
bool GlobSweep::operator==(const GlobSweep&) const = default;

std::string_view value_type_name(const OverrideValue& value) {
  if (const auto* choice = value.get<ChoiceSweep>()) {
    return choice->simple ? "SIMPLE_CHOICE_SWEEP" : "CHOICE_SWEEP";
  }
  if (value.get<RangeSweep>() != nullptr) return "RANGE_SWEEP";
  if (value.get<IntervalSweep>() != nullptr) return "INTERVAL_SWEEP";
  if (value.get<GlobSweep>() != nullptr) return "GLOB_CHOICE_SWEEP";
  return "ELEMENT";
}

std::string Override::key_element() const {
  constexpr std::array<std::string_view, 4> kPrefixes = {"", "+", "++", "~"};
  std::string out(kPrefixes.at(static_cast<std::size_t>(type)));
  out += key;
  if (package) out += '@' + *package;
  return out;
}

std::optional<std::string_view> Override::value_text() const {
  const std::size_t equal = text.find('=');
  if (equal == std::string::npos) return std::nullopt;
  return std::string_view(text).substr(equal + 1);
}

Error Override::error(std::string message, std::uint32_t column) const {
  column = std::max(column, 1U);
  Position position = place;
  position.column = column;
  return Error(ErrorKind::Config, std::move(message), std::move(position))
      .with_excerpt(text, column);
}

namespace {

using Source = std::shared_ptr<const std::string>;

Result<Node> node_of(const OverrideValue& value, const Source& source);

Result<Node> list_of(const OverrideValue::List& items, const Source& source) {
  Node out = Node::list();
  for (const OverrideValue& item : items) out.as_list().push_back(PL_TRY(node_of(item, source)));
  return out;
}

Result<Node> map_of(const OverrideValue::Dict& entries, const Source& source) {
  Node out = Node::map();
  for (const OverrideValue::Entry& entry : entries) {
    out.as_map().set(entry.key, PL_TRY(node_of(entry.value, source)));
  }
  return out;
}

Error sweep_inside(const OverrideValue& value, const Source& source) {
  return Error(ErrorKind::Config,
               "a sweep (choice, range, interval, glob) cannot be part of a value: it must be "
               "the whole value, as in key=choice(a,b)",
               {source ? *source : std::string(), 1, value.column()})
      .with_reason("validation");
}

Result<Node> unmarked(const OverrideValue& value, const Source& source) {
  if (const auto* scalar = value.get<Node>()) return *scalar;
  if (const auto* quoted = value.get<QuotedString>()) return Node::string(quoted->text);
  if (const auto* list = value.get<OverrideValue::List>()) return list_of(*list, source);
  if (const auto* dict = value.get<OverrideValue::Dict>()) return map_of(*dict, source);
  return sweep_inside(value, source);
}

Result<Node> node_of(const OverrideValue& value, const Source& source) {
  Node node = PL_TRY(unmarked(value, source));
  if (source) node.set_mark({source, 1, value.column()});
  return node;
}

}  // namespace

Result<Node> to_node(const OverrideValue& value, std::string source) {
  Source shared;
  if (!source.empty()) shared = std::make_shared<const std::string>(std::move(source));
  return node_of(value, shared);
}

namespace {

constexpr std::string_view kMustBeEscaped = "\\()[]{}:=, \t";

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (kMustBeEscaped.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

/// Backslashes are doubled only before a quote, including the closing one.
std::string with_quotes(const QuotedString& quoted) {
  const char quote = quoted.quote == Quote::Single ? '\'' : '"';
  std::string out(1, quote);
  std::size_t backslashes = 0;  // at the end of the output so far
  for (const char c : quoted.text) {
    if (c == quote) out.append(backslashes + 1, '\\');
    backslashes = c == '\\' ? backslashes + 1 : 0;
    out += c;
  }
  out.append(backslashes, '\\');
  return out + quote;
}

std::string scalar_text(const Node& scalar) {
  switch (scalar.kind()) {
    case Node::Kind::Null:
      return "null";
    case Node::Kind::Bool:
      return scalar.as_bool() ? "True" : "False";
    case Node::Kind::Int:
      return std::to_string(scalar.as_int());
    case Node::Kind::BigInt:
      return scalar.as_big_int();
    case Node::Kind::Float:
      return python_repr(scalar.as_float());
    default:
      return escaped(scalar.as_string());
  }
}

Result<void> append(std::string& out, const OverrideValue& value);

Result<void> append_list(std::string& out, const std::vector<OverrideValue>& items) {
  out += '[';
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ',';
    PL_TRY(append(out, items[i]));
  }
  out += ']';
  return {};
}

Result<void> append_dict(std::string& out, const OverrideValue::Dict& entries) {
  out += '{';
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i > 0) out += ',';
    out += scalar_text(entries[i].key) + ':';
    PL_TRY(append(out, entries[i].value));
  }
  out += '}';
  return {};
}

Error not_one_value() {
  return Error(ErrorKind::Config, "a sweep cannot be written as one value")
      .with_reason("validation");
}

bool is_pattern(const OverrideValue& value) {
  const auto* scalar = value.get<Node>();
  return scalar != nullptr && !scalar->is_null();
}

Result<void> append_glob(std::string& out, const GlobSweep& glob) {
  if (!std::all_of(glob.include.begin(), glob.include.end(), is_pattern) ||
      !std::all_of(glob.exclude.begin(), glob.exclude.end(), is_pattern)) {
    return not_one_value();
  }
  OverrideValue::Dict patterns;
  patterns.push_back({Node::string("include"), OverrideValue(glob.include)});
  patterns.push_back({Node::string("exclude"), OverrideValue(glob.exclude)});
  return append_dict(out, patterns);
}

Result<void> append(std::string& out, const OverrideValue& value) {
  if (const auto* scalar = value.get<Node>()) {
    out += scalar_text(*scalar);
  } else if (const auto* quoted = value.get<QuotedString>()) {
    out += with_quotes(*quoted);
  } else if (const auto* list = value.get<OverrideValue::List>()) {
    return append_list(out, *list);
  } else if (const auto* dict = value.get<OverrideValue::Dict>()) {
    return append_dict(out, *dict);
  } else if (const auto* glob = value.get<GlobSweep>()) {
    return append_glob(out, *glob);
  } else {
    return not_one_value();
  }
  return {};
}

}  // namespace

Result<std::string> print_value(const OverrideValue& value) {
  std::string out;
  PL_TRY(append(out, value));
  return out;
}

}  // namespace profline::config
