#include "config/override_print.h"

#include <algorithm>
#include <string_view>

#include "config/python_number.h"
#include "formats/python_number.h"

namespace profline::config {
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

/// Backslashes are doubled before a quote only, the closing one included.
std::string with_quotes(const QuotedString& quoted) {
  const char quote = quoted.quote == Quote::Single ? '\'' : '"';
  std::string out(1, quote);
  std::size_t backslashes = 0;  // at the end of what was written
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
