#include "config/hydra_node.h"

#include <algorithm>

#include "base/strings.h"
#include "config/interpolation/value.h"
#include "config/type_rule.h"

namespace profline::config {
namespace {

Error not_a_map(const std::string& key, const Node& node) {
  return Error(ErrorKind::Config,
               "'" + key + "' must be a map, not " + std::string(describe(node.kind())),
               node.position())
      .with_reason("hydra_node_null");
}

Result<NodeMap*> map_at(Node& hydra, const std::string& name) {
  Node* node = hydra.find(name);
  if (node == nullptr) return &hydra.as_map().set(name, Node::map()).as_map();
  if (!node->is_map()) return not_a_map("hydra." + name, *node);
  return &node->as_map();
}

Node::List* list_at(NodeMap& map, const std::string& name) {
  Node* node = map.find(name);
  if (node == nullptr || !node->is_list()) node = &map.set(name, Node::list());
  return &node->as_list();
}

std::string text_or(const Node& map, std::string_view key, std::string_view fallback) {
  const Node* found = map.find(key);
  return found != nullptr && found->is_string() ? found->as_string() : std::string(fallback);
}

Result<std::string> dirname_of(ConfigTree& tree, std::span<const Override> overrides,
                               const ResolveContext& context) {
  if (overrides.empty()) return std::string();
  Resolution resolution(tree.root(), context);
  const Node settings = PL_TRY(resolution.get("hydra.job.config.override_dirname"));
  std::vector<std::string> excluded;
  const Node* keys = settings.find("exclude_keys");
  if (keys != nullptr && keys->is_list()) {
    for (const Node& key : keys->as_list()) {
      if (key.is_string()) excluded.push_back(key.as_string());
    }
  }
  return override_dirname(overrides, text_or(settings, "item_sep", ","),
                          text_or(settings, "kv_sep", "="), excluded);
}

Result<void> copy_environment(NodeMap& job, const ResolveContext& context) {
  const Node* names = job.find("env_copy");
  if (names == nullptr || !names->is_list()) return {};
  for (const Node& name : names->as_list()) {
    if (!name.is_string()) continue;
    const std::optional<std::string> value =
        context.environment ? context.environment(name.as_string()) : std::nullopt;
    if (!value) {
      return Error(ErrorKind::Config,
                   "hydra.job.env_copy names the environment variable '" + name.as_string() +
                       "', which is not set",
                   name.position())
          .with_reason("env_copy_missing");
    }
    Node* set = job.find("env_set");
    if (set == nullptr || !set->is_map()) set = &job.set("env_set", Node::map());
    set->as_map().set(name.as_string(), Node::string(*value));
  }
  return {};
}

Node described_sources(const SearchPath& path) {
  Node list = Node::list();
  for (const SearchPath::Entry& entry : path.entries()) {
    Node source = Node::map();
    source.as_map().set("path", Node::string(entry.source->path()));
    source.as_map().set("schema", Node::string(std::string(entry.source->scheme())));
    source.as_map().set("provider", Node::string(entry.provider));
    list.as_list().push_back(std::move(source));
  }
  return list;
}

void fill_runtime(NodeMap& runtime, const HydraFacts& facts) {
  Node* choices = runtime.find("choices");
  if (choices == nullptr || !choices->is_map()) choices = &runtime.set("choices", Node::map());
  for (const Choice& choice : facts.choices) {
    choices->as_map().set(choice.key, choice.option ? Node::string(*choice.option) : Node());
  }
  runtime.set("version", Node::string(kHydraVersion));
  runtime.set("version_base", Node::string(kHydraVersionBase));
  runtime.set("cwd", Node::string(facts.cwd));
  runtime.set("config_sources", described_sources(facts.search_path));
}

}  // namespace

Result<std::optional<Node>> typed_value(const Node& root, std::string_view key,
                                        const ResolveContext& context) {
  Resolution resolution(root, context);
  std::optional<Node> found = PL_TRY(resolution.select(key));
  if (!found || !found->is_scalar()) return found;
  const TypeRule types = hydra_types(false, false);
  const TypeRule* rule = &types;
  for (const std::string& step : split_key(key)) {
    if (rule != nullptr) rule = rule->member(Node::string(step));
  }
  Node value = PL_TRY(convert(std::move(*found), rule, std::string(key)));
  return std::optional<Node>(std::move(value));
}

bool is_hydra_override(const Override& given) {
  return given.key.starts_with("hydra.") || given.key.starts_with("hydra/");
}

std::string override_dirname(std::span<const Override> overrides, const std::string& between_items,
                             const std::string& after_key,
                             std::span<const std::string> excluded_keys) {
  std::vector<std::string> items;
  for (const Override& given : overrides) {
    if (is_hydra_override(given)) continue;
    if (std::find(excluded_keys.begin(), excluded_keys.end(), given.key) != excluded_keys.end()) {
      continue;
    }
    items.push_back(given.text);
  }
  std::sort(items.begin(), items.end());
  std::string out;
  for (const char c : join(items, between_items)) {
    if (c == '=') {
      out += after_key;
    } else {
      out += c;
    }
  }
  return out;
}

Result<void> fill_hydra_node(ConfigTree& tree, const HydraFacts& facts,
                             const ResolveContext& context) {
  Node* hydra = tree.root().find("hydra");
  if (hydra == nullptr) hydra = &tree.root().as_map().set("hydra", Node::map());
  if (!hydra->is_map()) return not_a_map("hydra", *hydra);

  NodeMap* overrides = PL_TRY(map_at(*hydra, "overrides"));
  for (const Override& given : facts.overrides) {
    const char* whose = is_hydra_override(given) ? "hydra" : "task";
    list_at(*overrides, whose)->push_back(Node::string(given.text));
  }
  NodeMap* runtime = PL_TRY(map_at(*hydra, "runtime"));
  fill_runtime(*runtime, facts);
  NodeMap* job = PL_TRY(map_at(*hydra, "job"));
  PL_TRY(copy_environment(*job, context));
  const std::string dirname = PL_TRY(dirname_of(tree, facts.overrides, context));
  const Node* name = job->find("name");
  if (name == nullptr || is_missing(*name)) job->set("name", Node::string(facts.job_name));
  job->set("override_dirname", Node::string(dirname));
  job->set("config_name", facts.config_name ? Node::string(*facts.config_name) : Node());
  return {};
}

}  // namespace profline::config
