#include "config/config_tree.h"

#include "base/strings.h"
#include "config/interpolation.h"
#include "config/key_path.h"
#include "config/python_text.h"

namespace profline::config {
namespace {

bool is_interpolation(const Node& node) {
  return node.is_string() && holds_interpolation(node.as_string());
}

/// Keys that split_key would take apart cannot be looked up by their text.
bool is_plain(const Node& key) {
  return key.is_string() && key.as_string().find_first_of(".[]") == std::string::npos;
}

}  // namespace

Result<void> ConfigTree::merge(Node source) {
  return merge_containers(root_, std::move(source), types_, nullptr);
}

Result<void> ConfigTree::set_types(const TypeRule& types) {
  types_ = &types;
  for (NodeMap::Entry& entry : root_.as_map()) {
    const TypeRule* rule = types.member(entry.key);
    if (rule == nullptr || !entry.value.is_map()) continue;
    // Keys that are there already may stay, whatever the type says about new ones.
    for (NodeMap::Entry& inner : entry.value.as_map()) {
      inner.value = PL_TRY(convert(std::move(inner.value), rule->member(inner.key),
                                   join_key(python_str(entry.key), python_str(inner.key))));
    }
  }
  return {};
}

Result<void> ConfigTree::merge_containers(Node& into, Node source, const TypeRule* types,
                                          const Level* level) {
  if (into.is_map() && source.is_map()) {
    return merge_maps(into, std::move(source), types, level);
  }
  if (into.is_list() && source.is_list()) {
    into = PL_TRY(convert(std::move(source), types, key_of(level)));
    return {};
  }
  const std::string key = key_of(level);
  if (types != nullptr && types->kind == TypeRule::Kind::Record && into.is_map() &&
      level != nullptr) {
    const Result<Node> refused = convert(std::move(source), types, key);
    PL_ASSERT(!refused, "a record is no list");
    return refused.error();
  }
  return Error(ErrorKind::Config,
               (key.empty() ? std::string("the config") : "'" + key + "'") + " is " +
                   std::string(describe(into.kind())) + ", and " +
                   std::string(describe(source.kind())) + " cannot be merged into it",
               source.position())
      .with_reason("merge_dict_list");
}

Result<void> ConfigTree::merge_maps(Node& into, Node source, const TypeRule* types,
                                    const Level* level) {
  for (NodeMap::Entry& entry : source.as_map()) {
    Node* old = into.as_map().find(entry.key);
    if (old == nullptr) {
      PL_TRY(add(into, std::move(entry), types, level));
      continue;
    }
    const TypeRule* member = types == nullptr ? nullptr : types->member(entry.key);
    PL_TRY(merge_values(*old, std::move(entry.value), member, Level{level, &entry.key}));
  }
  if (source.mark().source && !into.mark().source) into.set_mark(source.mark());
  return {};
}

Result<void> ConfigTree::merge_values(Node& into, Node source, const TypeRule* types,
                                      const Level& level) {
  if (is_interpolation(into)) follow(into, level);
  if (!into.is_scalar() && !source.is_scalar()) {
    return merge_containers(into, std::move(source), types, &level);
  }
  if (is_missing(source)) return {};
  if (types == nullptr) {
    into = std::move(source);
  } else {
    into = PL_TRY(convert(std::move(source), types, key_of(&level)));
  }
  return {};
}

Result<void> ConfigTree::add(Node& into, NodeMap::Entry entry, const TypeRule* types,
                             const Level* level) {
  const TypeRule* member = types == nullptr ? nullptr : types->member(entry.key);
  const bool refused = closed_ || (types != nullptr && types->is_closed() && member == nullptr);
  const Level here{level, &entry.key};
  if (refused) return unknown_key(into, entry.key, key_of(&here));
  if (member != nullptr) {
    entry.value = PL_TRY(convert(std::move(entry.value), member, key_of(&here)));
  }
  into.as_map().set(std::move(entry.key), std::move(entry.value));
  return {};
}

/// Where the interpolation leads to a map or list, a copy takes its place.
void ConfigTree::follow(Node& interpolation, const Level& level) const {
  for (const Level* at = &level; at != nullptr; at = at->above) {
    if (!is_plain(*at->key)) return;
  }
  Resolution resolution(root_, context_);
  const Result<Selection> target = resolution.find(resolution.root(), key_of(&level), false);
  if (!target || target->outcome != Selection::Outcome::Found) return;
  const Place* container = target->value.container();
  if (container == nullptr) return;
  Node copy = *container->node;
  interpolation = std::move(copy);
}

std::string ConfigTree::key_of(const Level* level) {
  if (level == nullptr) return {};
  return join_key(key_of(level->above), python_str(*level->key));
}

Error ConfigTree::unknown_key(const Node& map, const Node& key, const std::string& full_key) const {
  const std::string name = python_str(key);
  return Error(
             ErrorKind::Config,
             "there is no key '" + full_key + "'" + did_you_mean(name, map.as_map().string_keys()),
             key.position())
      .with_reason(closed_ ? "key_not_in_config" : "hydra_schema_key");
}

}  // namespace profline::config
