#include "schema/enum_codec.h"

#include <algorithm>
#include <vector>

#include "base/assert.h"
#include "base/strings.h"

namespace profline::schema::internal {

std::string enum_text(std::span<const EnumEntry> names) {
  std::vector<std::string> texts;
  texts.reserve(names.size());
  for (const EnumEntry& entry : names) texts.emplace_back(entry.name);
  return "one of " + join(texts, ", ");
}

std::optional<std::int64_t> read_enum(const Node& node, std::span<const EnumEntry> names,
                                      Reader& reader) {
  const std::string_view given =
      node.is_bool() ? (node.as_bool() ? "true" : "false") : std::string_view(node.as_string());
  std::vector<std::string> strings;
  std::string hint;
  for (const EnumEntry& entry : names) {
    if (entry.name == given && entry.is_boolean == node.is_bool()) return entry.value;
    if (entry.name == given && entry.is_boolean) hint = " (without quotes)";
    if (!entry.is_boolean) strings.emplace_back(entry.name);
  }
  if (hint.empty() && node.is_string()) hint = did_you_mean(given, strings);
  reader.mismatch(node, hint);
  return std::nullopt;
}

const EnumEntry& enum_entry(std::int64_t value, std::span<const EnumEntry> names) {
  const auto entry = std::find_if(names.begin(), names.end(),
                                  [&](const EnumEntry& each) { return each.value == value; });
  PL_ASSERT(entry != names.end(), "names() of an enum lists every value that is used");
  return *entry;
}

Node write_enum(std::int64_t value, std::span<const EnumEntry> names) {
  const EnumEntry& entry = enum_entry(value, names);
  return entry.is_boolean ? Node::boolean(entry.name == "true")
                          : Node::string(std::string(entry.name));
}

}  // namespace profline::schema::internal
