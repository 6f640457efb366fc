#pragma once

#include <string>

#include "config/overrides/override.h"
#include "formats/python_number.h"

namespace profline::config {

/// A value as one line that shows its types, for tests: `[1, 1.0, <text>, 'quoted', {<key>:
/// null}]`.
std::string shown(const OverrideValue& value);

inline std::string shown_items(const std::vector<OverrideValue>& items) {
  std::string out;
  for (const OverrideValue& item : items) out += (out.empty() ? "" : ", ") + shown(item);
  return out;
}

inline std::string shown_scalar(const Node& scalar) {
  if (scalar.is_string()) return "<" + scalar.as_string() + ">";
  return print_value(scalar).value_or("");
}

inline std::string shown_tags(const std::set<std::string>& tags) {
  std::string out;
  for (const std::string& tag : tags) out += " #" + tag;
  return out;
}

inline std::string shown_sweep(const OverrideValue& value) {
  if (const auto* choice = value.get<ChoiceSweep>()) {
    return std::string(choice->simple ? "simple" : "choice") + "(" + shown_items(choice->items) +
           ")" + (choice->shuffle ? " shuffled" : "") + shown_tags(choice->tags);
  }
  if (const auto* range = value.get<RangeSweep>()) {
    return "range(" + shown_scalar(range->start) + ", " + shown_scalar(range->stop) + ", " +
           shown_scalar(range->step) + ")" + (range->shuffle ? " shuffled" : "") +
           shown_tags(range->tags);
  }
  if (const auto* interval = value.get<IntervalSweep>()) {
    return "interval(" + shown_scalar(interval->start) + ", " + shown_scalar(interval->end) + ")" +
           shown_tags(interval->tags);
  }
  const auto* glob = value.get<GlobSweep>();
  return "glob([" + shown_items(glob->include) + "], [" + shown_items(glob->exclude) + "])";
}

inline std::string shown(const OverrideValue& value) {
  if (const auto* scalar = value.get<Node>()) return shown_scalar(*scalar);
  if (const auto* quoted = value.get<QuotedString>()) {
    const char* quote = quoted->quote == Quote::Single ? "'" : "\"";
    return quote + quoted->text + quote;
  }
  if (const auto* list = value.get<OverrideValue::List>()) return "[" + shown_items(*list) + "]";
  const auto* dict = value.get<OverrideValue::Dict>();
  if (dict == nullptr) return shown_sweep(value);
  std::string out;
  for (const OverrideValue::Entry& entry : *dict) {
    out += (out.empty() ? "" : ", ") + shown_scalar(entry.key) + ": " + shown(entry.value);
  }
  return "{" + out + "}";
}

/// The value of an override, or its Error: reason, then the whole text.
inline std::string parsed(std::string_view text) {
  const auto override = parse_override(text);
  if (!override) {
    return std::string(override.error().reason()) + ": " + override.error().to_string();
  }
  return override->value ? shown(*override->value) : "none";
}

}  // namespace profline::config
