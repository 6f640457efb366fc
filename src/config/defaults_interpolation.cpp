#include "config/internal/defaults_interpolation.h"

#include "base/strings.h"
#include "config/internal/defaults_tree.h"

namespace profline::config::internal {
namespace {

/// `${defaults.0.db}`, which Hydra once allowed.
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
  // One level down, as the real one is: `${..db}` is `${db}`.
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
