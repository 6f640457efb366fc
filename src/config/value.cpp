#include "config/value.h"

#include "config/key_path.h"
#include "config/python_text.h"

namespace profline::config {
namespace {

/// Places do not keep their keys, because only messages want them. What a resolver made is below
/// its parent without being in it, and has no key.
std::string with_step(std::string key, const Node& parent, const Node* node) {
  if (parent.is_map()) {
    for (const NodeMap::Entry& entry : parent.as_map()) {
      if (&entry.value == node) return join_key(key, python_str(entry.key));
    }
  } else if (parent.is_list()) {
    for (std::size_t i = 0; i < parent.as_list().size(); ++i) {
      if (&parent.as_list()[i] == node) return join_key(key, i);
    }
  }
  return key;
}

}  // namespace

std::string full_key(const Place& place) {
  std::vector<const Place*> way;
  for (const Place* at = &place; at->parent != nullptr; at = at->parent) way.push_back(at);
  std::string key;
  for (auto step = way.rbegin(); step != way.rend(); ++step) {
    key = with_step(std::move(key), *(*step)->parent->node, (*step)->node);
  }
  return key;
}

Position written_at(const Place& place) {
  const Place* at = &place;
  while (at->node->mark().line == 0 && at->parent != nullptr) at = at->parent;
  return at->node->position();
}

const Place* Value::place() const {
  const auto* place = std::get_if<const Place*>(&content_);
  return place == nullptr ? nullptr : *place;
}

const Place* Value::container() const {
  const Place* at = place();
  return at != nullptr && !at->node->is_scalar() ? at : nullptr;
}

const Node* Value::node() const {
  if (const Place* at = place()) return at->node;
  return std::get_if<Node>(&content_);
}

const std::string* Value::text() const {
  const Node* value = node();
  return value != nullptr && value->is_string() ? &value->as_string() : nullptr;
}

bool Value::is_null() const {
  const Node* value = node();
  return value != nullptr && value->is_null();
}

std::string_view Value::described() const {
  if (const Node* value = node()) return describe(value->kind());
  return describe(items() != nullptr ? Node::Kind::List : Node::Kind::Map);
}

std::string Value::str() const {
  const std::string* plain = text();
  return plain != nullptr ? *plain : repr();
}

std::string Value::repr() const {
  if (const Node* value = node()) return python_repr(*value);
  std::string out;
  if (items() != nullptr) {
    for (const Value& item : *items()) out += (out.empty() ? "" : ", ") + item.repr();
    return '[' + out + ']';
  }
  for (const auto& [key, value] : *entries()) {
    out += (out.empty() ? "" : ", ") + python_repr(key) + ": " + value.repr();
  }
  return '{' + out + '}';
}

bool is_missing(const Node& node) {
  return node.is_string() && node.as_string() == "???";
}

}  // namespace profline::config
