#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "mcp/internal/arguments.h"

namespace profline::mcp {
namespace {

std::string_view name_of(schema::Kinds kinds) {
  if (kinds.has(Node::Kind::List)) return "array";
  if (kinds.has(Node::Kind::Bool)) return "boolean";
  if (kinds.has(Node::Kind::Float)) return "number";
  if (kinds.has(Node::Kind::Int)) return "integer";
  return "string";
}

void set_limit(NodeMap& property, const char* key, const std::optional<schema::Number>& limit) {
  if (!limit) return;
  const auto* whole = std::get_if<std::int64_t>(&*limit);
  property.set(key,
               whole != nullptr ? Node::integer(*whole) : Node::real(std::get<double>(*limit)));
}

Node property_of(const schema::FieldEntry& entry) {
  NodeMap property;
  const std::string_view type = name_of(entry.type().kinds);
  property.set("type", Node::string(std::string(type)));
  if (type == "array") {
    NodeMap item;
    item.set("type", Node::string("string"));
    property.set("items", Node::map(std::move(item)));
  }
  set_limit(property, "minimum", entry.text.limits.at_least);
  set_limit(property, "maximum", entry.text.limits.at_most);
  property.set("description", Node::string(std::string(entry.text.help)));
  return Node::map(std::move(property));
}

}  // namespace

Node input_schema(const schema::StructType& structure) {
  NodeMap properties;
  Node required = Node::list();
  for (const schema::FieldEntry& entry : structure.fields) {
    const std::string name(entry.text.name);
    properties.set(name, property_of(entry));
    if (entry.text.required) required.as_list().push_back(Node::string(name));
  }
  NodeMap object;
  object.set("type", Node::string("object"));
  object.set("properties", Node::map(std::move(properties)));
  if (!required.as_list().empty()) object.set("required", std::move(required));
  object.set("additionalProperties", Node::boolean(false));
  return Node::map(std::move(object));
}

}  // namespace profline::mcp
