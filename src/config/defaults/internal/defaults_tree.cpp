#include "config/defaults/internal/defaults_tree.h"

#include <algorithm>

#include "base/strings.h"
#include "config/interpolation/expression.h"

namespace profline::config::internal {
namespace {

/// `'db/mysql' pulls in 'base'`, from the outermost to the innermost.
std::string chain_to(const DefaultsTree& tree) {
  std::vector<std::string> configs;
  for (const DefaultsTree* at = &tree; at != nullptr && !at->item.is_root(); at = at->parent) {
    configs.push_back(at->item.config_path());
  }
  std::reverse(configs.begin(), configs.end());
  constexpr std::size_t kShown = 6;
  if (configs.size() > kShown) {
    configs.erase(configs.begin(), configs.end() - static_cast<std::ptrdiff_t>(kShown));
    configs.insert(configs.begin(), "...");
  }
  return join(configs, " -> ");
}

class TreeBuilder {
 public:
  TreeBuilder(const DefaultsRequest& request, GroupChoices& choices, ConfigRepository& repository,
              const ResolveContext& context)
      : request_(request), choices_(choices), repository_(repository), context_(context) {}

  Result<std::unique_ptr<DefaultsTree>> build() {
    auto root = std::make_unique<DefaultsTree>();
    root->item = DefaultItem::root();
    add_child(*root, DefaultItem::config("hydra/config"));
    DefaultItem primary = DefaultItem::config(request_.primary.value_or(kNoPrimary));
    primary.is_primary = true;
    add_child(*root, std::move(primary));
    // Last first: choices further down apply further up.
    for (std::size_t i = root->children.size(); i > 0; --i) {
      DefaultsTree& child = *root->children[i - 1];
      child.item.set_parent("", "");
      PL_TRY(expand(child, {}));
    }
    return root;
  }

  bool lacks_self() const { return lacks_self_; }

 private:
  struct Surroundings {
    std::size_t depth = 0;
    bool interpolated = false;
  };

  static DefaultsTree& add_child(DefaultsTree& tree, DefaultItem item) {
    auto child = std::make_unique<DefaultsTree>();
    child->item = std::move(item);
    child->parent = &tree;
    return *tree.children.emplace_back(std::move(child));
  }

  /// Finds the config of the tree's item, and expands its defaults list below it.
  Result<void> expand(DefaultsTree& tree, Surroundings around) {
    DefaultItem& item = tree.item;
    PL_TRY(check_size(tree, around));
    std::shared_ptr<const LoadedConfig> loaded = PL_TRY(load(tree));
    if (choices_.apply_deletion(item)) return {};
    PL_TRY(choices_.note_choice(item));
    if (!item.name()) return {};
    if (item.config_path().ends_with("???")) return check_missing(item);
    if (!loaded) {
      if (!item.is_optional) return not_found(tree);
      item.is_deleted = true;
      return {};
    }
    return expand_list(tree, *loaded, around);
  }

  Result<std::shared_ptr<const LoadedConfig>> load(DefaultsTree& tree) {
    DefaultItem& item = tree.item;
    if (item.config_path() == kNoPrimary)
      return std::make_shared<const LoadedConfig>(empty_config());
    if (item.is_missing() || !item.name()) return std::shared_ptr<const LoadedConfig>();
    std::shared_ptr<const LoadedConfig> loaded = PL_TRY(repository_.load(item.config_path()));
    if (!loaded && item.is_primary) return not_found(tree);
    if (loaded) item.set_header(loaded->package);
    return loaded;
  }

  static LoadedConfig empty_config() {
    LoadedConfig config;
    config.tree = Node::map();
    return config;
  }

  Result<void> check_size(const DefaultsTree& tree, Surroundings around) {
    if (++size_ > kMaxDefaults) {
      return error_at(tree.item,
                      "the defaults lists come to more than " + std::to_string(kMaxDefaults) +
                          " entries: " + chain_to(tree),
                      "defaults_cycle");
    }
    const std::string path = tree.item.config_path();
    std::size_t same = 0;
    for (const DefaultsTree* at = tree.parent; at != nullptr && !at->item.is_root();
         at = at->parent) {
      if (at->item.config_path() == path) ++same;
    }
    // The command line may end the cycle further down, where packages have other names; hardly
    // anybody does so twice.
    if (same < 3 && around.depth < kMaxDefaultsDepth) return {};
    return error_at(tree.item, "the defaults lists form a cycle: " + chain_to(tree),
                    "defaults_cycle");
  }

  Result<void> check_missing(const DefaultItem& item) const {
    if (request_.skip_missing) return {};
    if (!item.is_group()) {
      return error_at(item, "the config '" + item.config_path() + "' has no name yet",
                      "must_specify_group");
    }
    const std::string key = item.override_key();
    const std::vector<std::string> options = repository_.options_of(item.group_path());
    return error_at(item,
                    "you must choose '" + key + "', as in " + key + "=" +
                        (options.empty() ? "option" : options.front()) + "; it has " +
                        (options.empty() ? "no options" : "the options " + join(options, ", ")),
                    "must_specify_group");
  }

  Error not_found(const DefaultsTree& tree) const {
    const DefaultItem& item = tree.item;
    const std::string path = item.config_path();
    const std::string name = item.name().value_or("");
    std::string message = item.is_group()
                              ? "the group '" + item.group_path() + "' has no option '" + name + "'"
                              : "there is no config '" + path + "'";
    const std::string group = item.group_path();
    const std::vector<std::string> options = repository_.options_of(group);
    message += did_you_mean(name, options);
    if (item.is_group()) {
      message +=
          options.empty() ? "; there is no such group" : "; its options are " + join(options, ", ");
    }
    std::vector<std::string> places;
    for (const SearchPath::Entry& entry : repository_.path().entries()) {
      if (entry.provider != "schema") places.push_back(entry.location());
    }
    message += " (looked in " + join(places, ", ") + ")";
    return error_at(item, message,
                    item.is_primary ? "primary_config_not_found" : "group_option_not_found");
  }

  Result<void> expand_list(DefaultsTree& tree, const LoadedConfig& loaded, Surroundings around) {
    const DefaultItem& parent = tree.item;
    std::vector<DefaultItem> list = loaded.defaults;
    const bool has_appended = parent.is_primary && !choices_.appended().empty();
    bool self_added = false;
    if (!list.empty() || has_appended) {
      self_added = PL_TRY(complete_with_self(parent, loaded, list));
    }
    if (has_appended) {
      list.insert(list.end(), choices_.appended().begin(), choices_.appended().end());
    }
    PL_TRY(collect_overrides(list, parent, around));

    // Last first: choices further down apply further up.
    std::vector<std::unique_ptr<DefaultsTree>> reversed;
    for (auto item = list.rbegin(); item != list.rend(); ++item) {
      PL_TRY(expand_item(tree, *item, reversed, around));
    }
    PL_TRY(expand_interpolated(list, self_added, reversed, tree, around));
    std::reverse(reversed.begin(), reversed.end());
    tree.children = std::move(reversed);
    return {};
  }

  /// Appends a `_self_` if the list lacks one; returns whether it did.
  Result<bool> complete_with_self(const DefaultItem& parent, const LoadedConfig& loaded,
                                  std::vector<DefaultItem>& list) {
    bool has_self = false;
    bool has_others = false;
    for (const DefaultItem& item : list) {
      if (!item.is_override) has_others = true;
      if (!item.is_self()) continue;
      if (has_self) {
        return error_at(item,
                        "'" + parent.config_path() + "' has _self_ twice in its defaults list",
                        "duplicate_self");
      }
      has_self = true;
    }
    if ((!has_self && has_others) || list.empty()) {
      if (parent.is_primary && has_others && has_content(loaded.tree)) lacks_self_ = true;
      list.push_back(DefaultItem::config("_self_"));
    }
    return !has_self;
  }

  static bool has_content(const Node& tree) {
    if (!tree.is_map()) return false;
    return std::any_of(tree.as_map().begin(), tree.as_map().end(),
                       [](const NodeMap::Entry& entry) { return !is_missing(entry.value); });
  }

  Result<void> collect_overrides(std::vector<DefaultItem>& list, const DefaultItem& parent,
                                 Surroundings around) {
    const DefaultItem* last_override = nullptr;
    for (DefaultItem& item : list) {
      if (item.is_self()) continue;
      item.set_parent(parent.group_path(), parent.final_package());
      if (last_override != nullptr && !item.is_override && !item.is_appended) {
        return error_at(item,
                        "in '" + parent.config_path() + "' the override of '" +
                            last_override->override_key() + "' comes before '" +
                            item.override_key() + "'; overrides go at the end of a defaults list",
                        "override_not_last");
      }
      if (!item.is_override) continue;
      last_override = &item;
      if (around.interpolated) {
        return error_at(item,
                        "'" + parent.config_path() +
                            "' is chosen by an interpolation, and so may " +
                            "not override another group ('" + item.override_key() + "')",
                        "override_in_interpolated_subtree");
      }
      choices_.add_override(parent.config_path(), item);
    }
    return {};
  }

  Result<void> expand_item(DefaultsTree& tree, DefaultItem item,
                           std::vector<std::unique_ptr<DefaultsTree>>& reversed,
                           Surroundings around) {
    const DefaultItem& parent = tree.item;
    if (item.is_self()) {
      item.set_parent(parent.parent_group(), parent.package_or_header().value_or(""));
      append(tree, std::move(item), reversed);
      return {};
    }
    if (item.is_override) return {};
    item.set_parent(parent.group_path(), parent.final_package());
    choices_.apply_override(item);
    if (item.is_options()) return expand_options(tree, item, reversed, around);
    const bool is_deferred = item.is_interpolation();
    DefaultsTree& child = append(tree, std::move(item), reversed);
    if (is_deferred) return {};
    return expand(child, {around.depth + 1, around.interpolated});
  }

  static DefaultsTree& append(DefaultsTree& tree, DefaultItem item,
                              std::vector<std::unique_ptr<DefaultsTree>>& reversed) {
    auto child = std::make_unique<DefaultsTree>();
    child->item = std::move(item);
    child->parent = &tree;
    return *reversed.emplace_back(std::move(child));
  }

  /// `db: [mysql, pg]`: each option becomes a config of its own.
  Result<void> expand_options(DefaultsTree& tree, const DefaultItem& group,
                              std::vector<std::unique_ptr<DefaultsTree>>& reversed,
                              Surroundings around) {
    const Node::List& options = group.value().as_list();
    for (auto option = options.rbegin(); option != options.rend(); ++option) {
      if (holds_interpolation(option->as_string())) {
        return error_at(group,
                        "in '" + tree.item.config_path() + "' the option '" + option->as_string() +
                            "' is an interpolation, which a list of options may not hold",
                        "options_interpolation");
      }
      DefaultItem item = DefaultItem::config(group.path() + "/" + option->as_string());
      item.set_package(group.package());
      item.is_optional = group.is_optional;
      item.set_mark(option->mark().source ? option->mark() : group.mark());
      item.set_parent(tree.item.group_path(), tree.item.final_package());
      PL_TRY(
          expand(append(tree, std::move(item), reversed), {around.depth + 1, around.interpolated}));
    }
    return {};
  }

  /// The entries that depend on the choices of others.
  Result<void> expand_interpolated(const std::vector<DefaultItem>& list, bool self_added,
                                   std::vector<std::unique_ptr<DefaultsTree>>& reversed,
                                   DefaultsTree& tree, Surroundings around) {
    std::optional<Node> known;
    for (const std::unique_ptr<DefaultsTree>& child : reversed) {
      if (!child->children.empty() || !child->item.is_interpolation()) continue;
      if (!known) known = known_choices(list, self_added, choices_.choices());
      PL_TRY(resolve_interpolation(child->item, *known, context_));
      child->item.set_parent(tree.item.group_path(), tree.item.final_package());
      PL_TRY(expand(*child, {around.depth + 1, true}));
    }
    return {};
  }

  const DefaultsRequest& request_;
  GroupChoices& choices_;
  ConfigRepository& repository_;
  const ResolveContext& context_;
  std::size_t size_ = 0;
  bool lacks_self_ = false;
};

/// `${defaults.0.db}`, which Hydra used to allow.
bool is_position_in_list(std::string_view text) {
  constexpr std::string_view kStart = "${defaults.";
  return text.size() > kStart.size() + 1 && text.starts_with(kStart) &&
         text[kStart.size()] >= '0' && text[kStart.size()] <= '9' && text[kStart.size() + 1] == '.';
}

std::string without_hydra(const std::vector<std::string>& keys) {
  std::vector<std::string> shown;
  for (const std::string& key : keys) {
    if (!key.starts_with("hydra/") && key != "defaults") shown.push_back(key);
  }
  return shown.empty() ? std::string("none") : join(shown, ", ");
}

}  // namespace

Error error_at(const DefaultItem& item, const std::string& message, const char* reason) {
  return Error(ErrorKind::Config, message, item.mark().position()).with_reason(reason);
}

Result<BuiltDefaults> build_defaults_tree(const DefaultsRequest& request, GroupChoices& choices,
                                          ConfigRepository& repository,
                                          const ResolveContext& context) {
  TreeBuilder builder(request, choices, repository, context);
  BuiltDefaults built;
  built.tree = PL_TRY(builder.build());
  built.lacks_self = builder.lacks_self();
  return built;
}

Node known_choices(const std::vector<DefaultItem>& list, bool self_added,
                   std::span<const Choice> choices) {
  Node known = Node::map();
  for (const Choice& choice : choices) {
    known.as_map().set(choice.key, choice.option ? Node::string(*choice.option) : Node());
  }
  Node entries = Node::list();
  for (const DefaultItem& item : list) {
    if (self_added && item.is_self()) continue;
    if (!item.is_group()) {
      entries.as_list().push_back(Node::string(item.config_path()));
      continue;
    }
    Node entry = Node::map();
    entry.as_map().set(item.override_key(), item.value());
    entries.as_list().push_back(std::move(entry));
  }
  known.as_map().set("defaults", std::move(entries));
  return known;
}

Result<void> resolve_interpolation(DefaultItem& item, const Node& known,
                                   const ResolveContext& context) {
  const std::string text = item.is_group() ? item.value().as_string() : item.config_path();
  if (item.is_group() && is_position_in_list(text)) {
    return error_at(item,
                    "'" + text +
                        "' refers to a place in the defaults list; refer to the group by " +
                        "its name, as in ${db}",
                    "defaults_interpolation");
  }
  // One level down, like the real entry: `${..db}` is `${db}`.
  constexpr const char* kHolder = "_entry_";
  constexpr const char* kText = "_text_";
  Node tree = known;
  Node holder = Node::map();
  holder.as_map().set(kText, Node::string(text));
  tree.as_map().set(kHolder, std::move(holder));
  Resolution resolution(tree, context);
  const Result<Node> value = resolution.get(std::string(kHolder) + "." + kText);
  if (!value || !value->is_string()) {
    return error_at(item,
                    "cannot resolve '" + text +
                        "' in a defaults list, which sees only the groups " +
                        "chosen so far: " + without_hydra(known.as_map().string_keys()),
                    "defaults_interpolation");
  }
  if (item.is_group()) {
    item.set_value(*value);
  } else {
    item.set_path(value->as_string());
  }
  return {};
}

}  // namespace profline::config::internal
