#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "formats/node.h"

/// Trees as literals, with places as if they had been read from a YAML file in block style.
namespace profline::schema::testing {

/// `Tree{{"a", 1}, {"b", list({1.5, "x"})}}`.
class Tree {
 public:
  Tree(Node node) : node_(std::move(node)) {}  // NOLINT(google-explicit-constructor)
  Tree(std::nullptr_t) {}                      // NOLINT(google-explicit-constructor)
  Tree(std::same_as<bool> auto value)          // NOLINT(google-explicit-constructor)
      : node_(Node::boolean(value)) {}
  Tree(int value) : node_(Node::integer(value)) {}           // NOLINT(google-explicit-constructor)
  Tree(std::int64_t value) : node_(Node::integer(value)) {}  // NOLINT(google-explicit-constructor)
  Tree(double value) : node_(Node::real(value)) {}           // NOLINT(google-explicit-constructor)
  Tree(const char* value) : node_(Node::string(value)) {}    // NOLINT(google-explicit-constructor)
  Tree(std::initializer_list<std::pair<Tree, Tree>> entries) : node_(Node::map()) {
    for (const auto& [key, value] : entries) node_.as_map().set(key.node_, value.node_);
  }

  const Node& node() const { return node_; }

 private:
  Node node_;
};

inline Tree list(std::initializer_list<Tree> items) {
  Node::List nodes;
  for (const Tree& item : items) nodes.push_back(item.node());
  return Node::list(std::move(nodes));
}

/// Gives every node the place it would have in
///
///   a: 1
///   b:
///     - 1.5
///     - x
class Layout {
 public:
  explicit Layout(std::string source)
      : source_(std::make_shared<const std::string>(std::move(source))) {}

  Node place(const Node& node) { return placed(node, 1); }

 private:
  Mark mark(std::size_t column) const {
    return {source_, line_, static_cast<std::uint32_t>(column)};
  }

  Node placed(const Node& node, std::size_t column) {
    if (node.is_map() && !node.as_map().empty()) return placed_map(node.as_map(), column);
    if (node.is_list() && !node.as_list().empty()) return placed_list(node.as_list(), column);
    Node out = node;
    out.set_mark(mark(column));
    ++line_;
    return out;
  }

  Node placed_map(const NodeMap& entries, std::size_t column) {
    const Mark start = mark(column);
    NodeMap out;
    for (const auto& [key, value] : entries) {
      Node placed_key = key;
      placed_key.set_mark(mark(column));
      const bool nested = !value.is_scalar();
      const std::size_t key_width = key.is_string() ? key.as_string().size() : 4;
      if (nested) ++line_;
      out.set(std::move(placed_key), placed(value, nested ? column + 2 : column + key_width + 2));
    }
    Node map = Node::map(std::move(out));
    map.set_mark(start);
    return map;
  }

  Node placed_list(const Node::List& items, std::size_t column) {
    const Mark start = mark(column);
    Node::List out;
    for (const Node& item : items) out.push_back(placed(item, column + 2));
    Node list = Node::list(std::move(out));
    list.set_mark(start);
    return list;
  }

  std::shared_ptr<const std::string> source_;
  std::uint32_t line_ = 1;
};

/// The tree as it would have been read from `a.yaml`.
inline Node yaml(const Tree& tree) {
  return Layout("a.yaml").place(tree.node());
}

}  // namespace profline::schema::testing
