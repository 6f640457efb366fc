#include "schema/container_codecs.h"

#include "base/strings.h"
#include "schema/scalar_codecs.h"
#include "schema/value_text.h"

namespace profline::schema::internal {
namespace {

std::string enclosed(const std::string& text) {
  const bool several =
      text.find(" or ") != std::string::npos || text.find(", ") != std::string::npos;
  return several ? '(' + text + ')' : text;
}

}  // namespace

std::string list_text(const std::string& item) {
  return "list of " + enclosed(item);
}

std::string map_text(const std::string& value) {
  return "map from name to " + enclosed(value);
}

std::string text_list_text(char separator) {
  if (separator == '\0') return "string or list of string";
  return std::string("list of string or '") + separator + "'-separated string";
}

std::vector<std::string> read_text_list(const Node& node, char separator, Reader& reader) {
  std::vector<std::string> items;
  if (node.is_list()) {
    Codec<std::vector<std::string>>::read(node, items, reader);
    return items;
  }
  const std::string& text = node.as_string();
  if (trim(text).empty()) return items;
  if (separator == '\0') return {text};
  for (const std::string_view part : split(text, separator)) {
    if (trim(part).empty()) {
      reader.problem(node, "has an empty item: " + shown(node));
      return items;
    }
    items.emplace_back(trim(part));
  }
  return items;
}

Node write_text_list(const std::vector<std::string>& items) {
  return Codec<std::vector<std::string>>::write(items);
}

}  // namespace profline::schema::internal
