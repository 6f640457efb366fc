#include <algorithm>

#include "base/terminal_text.h"
#include "command_line.h"
#include "formats/json.h"
#include "formats/yaml.h"
#include "schema/docs.h"
#include "session/config_keys.h"
#include "session/configuration.h"
#include "standard_streams.h"
#include "verb.h"

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

/// The first row is the heading.
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

/// In the order in which `all` prints them.
constexpr Topic kTopics[] = {
    {"searchpath", "searchpath", search_path_text, search_path_json},
    {"defaults-tree", "defaults_tree", defaults_tree_text, defaults_tree_json},
    {"defaults", "defaults", defaults_text, defaults_json},
    {"config", "config", config_text, config_json},
};

/// As in Hydra, `config` is printed together with everything that led to it.
bool is_asked_for(const Topic& topic, const std::string& what) {
  return what == "all" || what == "config" || what == topic.name;
}

std::vector<std::string> info_names() {
  std::vector<std::string> names = {"all"};
  for (const Topic& topic : kTopics) names.emplace_back(topic.name);
  std::sort(names.begin(), names.end());
  return names;
}

/// One of the topics, laid out as Hydra does; `all` is each of them in turn, and so is `config`.
std::string info_text(const session::Configuration& configuration, const std::string& what) {
  std::string text;
  for (const Topic& topic : kTopics) {
    if (!is_asked_for(topic, what)) continue;
    if (!text.empty()) text += '\n';
    text += topic.text(configuration.composition());
  }
  return printable_lines(text);  // paths may contain anything
}

/// The same for programs: docs/formats/config.md.
Result<std::string> info_json(const session::Configuration& configuration,
                              const std::string& what) {
  NodeMap document;
  document.set("schema", Node::string("profline.config_info/1"));
  for (const Topic& topic : kTopics) {
    if (is_asked_for(topic, what)) document.set(topic.key, topic.json(configuration.composition()));
  }
  return write_json(Node::map(std::move(document)),
                    {.bytes_as_base64 = true, .scalar_keys_as_text = true});
}

Node problems_json(const std::vector<Error>& problems) {
  Node list = Node::list();
  for (const Error& problem : problems) {
    NodeMap entry;
    entry.set("message", Node::string(problem.message()));
    session::set_position(problem.position().value_or(Position{}), entry);
    list.as_list().push_back(Node::map(std::move(entry)));
  }
  return list;
}

bool is_shown(const std::string& key, const session::ConfigPart& showing) {
  if (showing.of == "hydra") return false;
  return !showing.package || key.starts_with(*showing.package + ".");
}

/// As comments, so that the output is still a config.
std::string filled_in_text(const Node& config, const session::ConfigPart& showing) {
  std::string text;
  for (const schema::FieldDoc& doc : session::filled_in_keys(config)) {
    if (!is_shown(doc.path, showing)) continue;
    if (text.empty()) text = "# Not set, so profline's default applies:\n";
    text += "#   " + doc.path + ": " + doc.default_text + '\n';
  }
  return text;
}

/// Scalars for scripts: a string without quotes.
std::string as_text(const Node& value, const session::ConfigPart& showing, const Node& config) {
  if (value.is_string()) return value.as_string() + '\n';
  if (value.is_scalar()) return schema::value_text(value) + '\n';
  const std::string header = showing.package ? "# @package " + *showing.package + '\n' : "";
  return header + write_yaml(value) + filled_in_text(config, showing);
}

Result<std::string> as_json(const Node& value, const session::ConfigPart& showing,
                            const config::Composition& composition,
                            const std::vector<Error>& problems) {
  NodeMap document;
  document.set("schema", Node::string("profline.config/1"));
  document.set("part", Node::string(showing.of));
  document.set("package", showing.package ? Node::string(*showing.package) : Node());
  document.set("resolved", Node::boolean(showing.resolve));
  Node overrides = Node::list();
  for (const config::Override& given : composition.overrides) {
    overrides.as_list().push_back(Node::string(given.text));
  }
  document.set("overrides", std::move(overrides));
  document.set("config", value);
  Node filled = Node::map();
  for (const schema::FieldDoc& doc : session::filled_in_keys(composition.config)) {
    if (is_shown(doc.path, showing)) filled.as_map().set(doc.path, Node::string(doc.default_text));
  }
  document.set("filled_in", std::move(filled));
  document.set("problems", problems_json(problems));
  return write_json(Node::map(std::move(document)),
                    {.bytes_as_base64 = true, .scalar_keys_as_text = true});
}

/// `profline config`: the composed config, or how it was composed (`--info`).
class ConfigVerb final : public Verb {
 public:
  std::string_view name() const override { return "config"; }
  std::string_view summary() const override {
    return "print the composed config and list the problems in it";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline config -cn demo --package pipeline.nsys", "print one part of the config"},
        {"profline config --info defaults-tree", "show which configs include which"},
    };
  }
  std::string_view words() const override { return "[OVERRIDES] [-- PROGRAM...]"; }
  bool takes_program() const override { return true; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace

std::vector<Option> config_showing_options() {
  using Takes = Option::Takes;
  return {
      {"--cfg",
       "-c",
       Takes::Value,
       "PART",
       "print the config: the job's, the hydra node, or both",
       {"job", "hydra", "all"}},
      {"--package", "-p", Takes::Value, "KEY", "print only the value of this key"},
      {"--resolve", "", Takes::Nothing, "", "resolve all interpolations"},
      {"--info", "-i", Takes::MaybeValue, "WHAT", "show how the config was composed", info_names()},
  };
}

std::vector<Option> ConfigVerb::options() const {
  std::vector<Option> options = config_choice_options();
  for (Option& option : config_showing_options()) options.push_back(std::move(option));
  return options;
}

Result<ExitCode> ConfigVerb::run(const Services& services, const Invocation& invocation) const {
  const Arguments& arguments = invocation.arguments;
  const auto configuration = PL_TRY(session::Configuration::compose(config_choice(arguments)));
  const bool json = invocation.output.format == OutputFormat::Json;
  if (arguments.has("--info")) {
    const std::string what = arguments.value("--info").value_or("all");
    const std::string text =
        json ? PL_TRY(info_json(*configuration, what)) : info_text(*configuration, what);
    report_composition(*configuration, services.remarks);
    PL_TRY(print_result(text));
    return ExitCode::Done;
  }
  session::ConfigPart showing{arguments.value("--cfg").value_or("job"),
                              arguments.value("--package"), arguments.has("--resolve")};
  if (showing.package == "_global_") showing.package.reset();
  const Node value = PL_TRY(part_of(*configuration, showing));
  const std::vector<Error> problems = configuration->problems();
  report_composition(*configuration, services.remarks);
  const std::string text =
      json ? PL_TRY(as_json(value, showing, configuration->composition(), problems))
           : as_text(value, showing, configuration->composition().config);
  PL_TRY(print_result(text));
  if (problems.empty()) return ExitCode::Done;
  return Error::all(problems);
}

std::unique_ptr<Verb> config_verb() {
  return std::make_unique<ConfigVerb>();
}

}  // namespace profline
