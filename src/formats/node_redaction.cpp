#include "formats/node_redaction.h"

#include <optional>
#include <string>

namespace profline {
namespace {

/// What a scalar says as text; nothing for what cannot be a secret.
std::optional<std::string> secret_text(const Node& value) {
  switch (value.kind()) {
    case Node::Kind::Int:
      return std::to_string(value.as_int());
    case Node::Kind::BigInt:
      return value.as_big_int();
    case Node::Kind::Float:
      return std::to_string(value.as_float());
    case Node::Kind::String:
      return value.as_string();
    case Node::Kind::Bytes:
      return value.as_bytes();
    default:
      return std::nullopt;
  }
}

std::string key_text(const Node& key) {
  return key.is_string() ? key.as_string() : "";
}

/// How each value of a tree is marked by what stands before it.
enum class Marked { No, Secret };

Node replaced(const Node& tree, const Redactor& redactor, Marked marked);

Node replaced_list(const Node& tree, const Redactor& redactor, Marked marked) {
  Node list = Node::list();
  std::string before;
  for (const Node& item : tree.as_list()) {
    const bool is_word = item.is_string() && marked == Marked::No;
    if (is_word) {
      list.as_list().push_back(Node::string(redactor.word(before, item.as_string())));
    } else {
      const bool is_secret = marked == Marked::Secret || announces_secret(before);
      list.as_list().push_back(replaced(item, redactor, is_secret ? Marked::Secret : Marked::No));
    }
    before = item.is_string() ? item.as_string() : "";
  }
  return list;
}

Node replaced_map(const Node& tree, const Redactor& redactor, Marked marked) {
  NodeMap map;
  for (const NodeMap::Entry& entry : tree.as_map()) {
    const bool is_secret = marked == Marked::Secret || is_secret_name(key_text(entry.key));
    map.set(entry.key, replaced(entry.value, redactor, is_secret ? Marked::Secret : Marked::No));
  }
  return Node::map(std::move(map));
}

Node replaced(const Node& tree, const Redactor& redactor, Marked marked) {
  if (tree.is_map()) return replaced_map(tree, redactor, marked);
  if (tree.is_list()) return replaced_list(tree, redactor, marked);
  if (marked == Marked::Secret) {
    const auto text = secret_text(tree);
    return text && !gives_nothing_away(*text) ? Node::string(std::string(kRedacted)) : tree;
  }
  return tree.is_string() ? Node::string(redactor.text(tree.as_string())) : tree;
}

void collect(const Node& tree, Redactor& redactor, bool is_secret) {
  if (tree.is_map()) {
    for (const NodeMap::Entry& entry : tree.as_map()) {
      collect(entry.value, redactor, is_secret || is_secret_name(key_text(entry.key)));
    }
    return;
  }
  if (!tree.is_list()) {
    const auto text = is_secret ? secret_text(tree) : std::nullopt;
    if (text) redactor.know(*text);
    return;
  }
  std::string before;
  for (const Node& item : tree.as_list()) {
    const bool is_option = item.is_string() && item.as_string().starts_with("-");
    collect(item, redactor, is_secret || (announces_secret(before) && !is_option));
    before = item.is_string() ? item.as_string() : "";
  }
}

}  // namespace

Node redacted(const Node& tree, const Redactor& redactor) {
  return replaced(tree, redactor, Marked::No);
}

void know_secrets(const Node& tree, Redactor& redactor) {
  collect(tree, redactor, false);
}

Node redacted_part(const Node& tree, const Node& redacted) {
  if (!tree.is_map() || !redacted.is_map()) return tree == redacted ? Node() : tree;
  NodeMap part;
  for (const NodeMap::Entry& entry : tree.as_map()) {
    const Node* other = redacted.as_map().find(entry.key);
    if (other == nullptr || *other == entry.value) continue;
    part.set(entry.key, redacted_part(entry.value, *other));
  }
  return part.empty() ? Node() : Node::map(std::move(part));
}

void restore(Node& tree, const Node& part) {
  if (part.is_null()) return;
  if (!tree.is_map() || !part.is_map()) {
    tree = part;
    return;
  }
  for (const NodeMap::Entry& entry : part.as_map()) {
    if (Node* value = tree.as_map().find(entry.key)) restore(*value, entry.value);
  }
}

}  // namespace profline
