#include "config/interpolation/load.h"

#include "config/interpolation/expression.h"
#include "config/interpolation/value.h"
#include "formats/yaml.h"

namespace profline::config {
namespace {

/// A level of the tree on the path to the node that is checked, for messages.
struct Level {
  const Level* above = nullptr;
  const Node* key = nullptr;
  std::size_t index = 0;
};

std::string key_of(const Level* level) {
  if (level == nullptr) return {};
  const std::string above = key_of(level->above);
  return level->key != nullptr ? join_key(above, python_str(*level->key))
                               : join_key(above, level->index);
}

std::string under_key(const Level* level, const std::string& message) {
  const std::string key = key_of(level);
  return key.empty() ? message : key + ": " + message;
}

Result<void> check_text(const Node& node, const Level* level) {
  const std::string& text = node.as_string();
  if (!holds_interpolation(text)) return {};
  const Result<Expression> parsed = parse_text(text);
  if (parsed) return {};
  const Error& problem = parsed.error();
  const Position within = problem.position().value_or(Position{"", 1, 1});
  return Error(ErrorKind::Parse, under_key(level, problem.message()), node.position())
      .with_excerpt(line_of(text, within.line), within.column)
      .with_reason("grammar");
}

Result<void> check(const Node& node, const Level* level) {
  if (node.is_string()) return check_text(node, level);
  if (node.is_list()) {
    Level below{level, nullptr, 0};
    for (const Node& item : node.as_list()) {
      PL_TRY(check(item, &below));
      ++below.index;
    }
  }
  if (node.is_map()) {
    for (const NodeMap::Entry& entry : node.as_map()) {
      if (entry.key.is_null()) {
        return Error(ErrorKind::Config, under_key(level, "null cannot be a key"),
                     entry.key.position())
            .with_reason("key_type");
      }
      const Level below{level, &entry.key, 0};
      PL_TRY(check(entry.value, &below));
    }
  }
  return {};
}

Result<Node> checked(Node tree) {
  PL_TRY(check(tree, nullptr));
  return tree;
}

Error root_error(const Node& root) {
  return Error(ErrorKind::Config,
               "a config must be a map or a list, not " + std::string(describe(root.kind())),
               root.position())
      .with_reason("yaml_root_type");
}

Result<Node> read_yaml(std::string_view text, std::string source) {
  Result<Node> root = parse_yaml(text, std::move(source));
  if (root || !root.error().reason().empty()) return root;
  return std::move(root).error().with_reason("yaml");
}

Node empty_map(const Node& instead_of) {
  Node map = Node::map();
  map.set_mark(instead_of.mark());
  return map;
}

}  // namespace

Result<Node> load_config(std::string_view text, std::string source) {
  Node root = PL_TRY(read_yaml(text, source));
  if (root.is_null()) return empty_map(root);
  if (root.is_string()) return create_config(root.as_string(), std::move(source));
  if (root.is_scalar()) return root_error(root);
  return checked(std::move(root));
}

Result<Node> create_config(std::string_view text, std::string source) {
  Node root = PL_TRY(read_yaml(text, std::move(source)));
  if (root.is_null()) return empty_map(root);
  if (root.is_string()) {
    Node map = empty_map(root);
    map.as_map().set(std::move(root), Node());
    return map;
  }
  if (root.is_scalar()) return root_error(root);
  return checked(std::move(root));
}

Result<void> check_config(const Node& tree) {
  return check(tree, nullptr);
}

}  // namespace profline::config
