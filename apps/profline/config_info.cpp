#include "config_info.h"

#include <algorithm>

#include "base/terminal_text.h"
#include "formats/json_write.h"
#include "formats/yaml_write.h"

namespace profline {
namespace {

using Row = std::vector<std::string>;

std::string titled(const std::string& title) {
  return title + '\n' + std::string(title.size(), '*') + '\n';
}

std::string row_text(const Row& row, const std::vector<std::size_t>& widths) {
  std::string text = "|";
  for (std::size_t i = 0; i < row.size(); ++i) text += " " + pad_width(row[i], widths[i]) + " |";
  return text + '\n';
}

/// The first row is the head.
std::string table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  const std::string head = row_text(rows.front(), widths);
  const std::string line = std::string(display_width(head.substr(0, head.size() - 1)), '-') + '\n';
  std::string text = head + line;
  for (std::size_t i = 1; i < rows.size(); ++i) text += row_text(rows[i], widths);
  return text + line;
}

std::string search_path_text(const config::Composition& composition) {
  std::vector<Row> rows = {{"Provider", "Search path"}};
  for (const config::SearchPath::Entry& entry : composition.search_path.entries()) {
    rows.push_back({entry.provider, entry.location()});
  }
  return titled("Config search path") + table(rows);
}

std::string defaults_text(const config::Composition& composition) {
  std::vector<Row> rows = {{"Config path", "Package", "_self_", "Parent"}};
  for (const config::ResolvedDefault& entry : composition.defaults.entries) {
    rows.push_back(
        {entry.config, entry.package, entry.is_self ? "True" : "False", entry.parent.value_or("")});
  }
  return titled("Defaults List") + table(rows);
}

std::string item_text(const config::DefaultItem& item) {
  if (item.is_root()) return "<root>";
  if (item.is_group()) return item.override_key() + ": " + item.name().value_or("null");
  return item.config_path();
}

std::string tree_text(const config::DefaultsTree& tree, std::size_t depth) {
  std::string text = std::string(2 * depth, ' ') + item_text(tree.item);
  text += tree.children.empty() ? "\n" : ":\n";
  for (const auto& child : tree.children) text += tree_text(*child, depth + 1);
  return text;
}

std::string defaults_tree_text(const config::Composition& composition) {
  const std::string title = titled("Defaults Tree");
  return composition.defaults.tree ? title + tree_text(*composition.defaults.tree, 0) : title;
}

std::string config_text(const config::Composition& composition) {
  return titled("Config") + write_yaml(composition.config);
}

Node search_path_json(const config::Composition& composition) {
  Node list = Node::list();
  for (const config::SearchPath::Entry& entry : composition.search_path.entries()) {
    NodeMap one;
    one.set("provider", Node::string(entry.provider));
    one.set("location", Node::string(entry.location()));
    list.as_list().push_back(Node::map(std::move(one)));
  }
  return list;
}

Node defaults_json(const config::Composition& composition) {
  Node list = Node::list();
  for (const config::ResolvedDefault& entry : composition.defaults.entries) {
    NodeMap one;
    one.set("config", Node::string(entry.config));
    one.set("package", Node::string(entry.package));
    one.set("self", Node::boolean(entry.is_self));
    one.set("parent", entry.parent ? Node::string(*entry.parent) : Node());
    list.as_list().push_back(Node::map(std::move(one)));
  }
  return list;
}

Node tree_json(const config::DefaultsTree& tree) {
  NodeMap one;
  one.set("name", Node::string(item_text(tree.item)));
  Node children = Node::list();
  for (const auto& child : tree.children) children.as_list().push_back(tree_json(*child));
  one.set("children", std::move(children));
  return Node::map(std::move(one));
}

Node defaults_tree_json(const config::Composition& composition) {
  return composition.defaults.tree ? tree_json(*composition.defaults.tree) : Node();
}

Node config_json(const config::Composition& composition) {
  return composition.config;
}

struct Topic {
  const char* name;
  const char* key;  ///< in JSON
  std::string (*text)(const config::Composition&);
  Node (*json)(const config::Composition&);
};

/// In the order in which `all` tells them.
constexpr Topic kTopics[] = {
    {"searchpath", "searchpath", search_path_text, search_path_json},
    {"defaults-tree", "defaults_tree", defaults_tree_text, defaults_tree_json},
    {"defaults", "defaults", defaults_text, defaults_json},
    {"config", "config", config_text, config_json},
};

/// As in Hydra, `config` is told with all that led to it.
bool is_asked_for(const Topic& topic, const std::string& what) {
  return what == "all" || what == "config" || what == topic.name;
}

}  // namespace

std::vector<std::string> info_names() {
  std::vector<std::string> names = {"all"};
  for (const Topic& topic : kTopics) names.emplace_back(topic.name);
  std::sort(names.begin(), names.end());
  return names;
}

std::string info_text(const Configuration& configuration, const std::string& what) {
  std::string text;
  for (const Topic& topic : kTopics) {
    if (!is_asked_for(topic, what)) continue;
    if (!text.empty()) text += '\n';
    text += topic.text(configuration.composition());
  }
  return printable_lines(text);  // paths are anybody's
}

Result<std::string> info_json(const Configuration& configuration, const std::string& what) {
  NodeMap document;
  document.set("schema", Node::string("profline.config_info/1"));
  for (const Topic& topic : kTopics) {
    if (is_asked_for(topic, what)) document.set(topic.key, topic.json(configuration.composition()));
  }
  return write_json(Node::map(std::move(document)),
                    {.bytes_as_base64 = true, .scalar_keys_as_text = true});
}

}  // namespace profline
