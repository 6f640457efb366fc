#include "config/config_tree.h"

#include <algorithm>
#include <optional>
#include <span>

#include "base/figures.h"
#include "base/strings.h"
#include "config/interpolation/expression.h"
#include "config/interpolation/value.h"

namespace profline::config {
namespace {

bool is_interpolation(const Node& node) {
  return node.is_string() && holds_interpolation(node.as_string());
}

/// Keys that split_key would split cannot be looked up by their text.
bool is_plain(const Node& key) {
  return key.is_string() && key.as_string().find_first_of(".[]") == std::string::npos;
}

std::string joined(const std::vector<std::string>& steps, std::size_t count) {
  std::string key;
  for (std::size_t i = 0; i < count; ++i) key = join_key(key, steps[i]);
  return key;
}

/// The change's current step as a key with its place.
Node current_key(const ConfigTree::Change& change) {
  Node key = Node::string(change.steps[change.failed_step]);
  if (change.failed_step < change.marks.size()) key.set_mark(change.marks[change.failed_step]);
  return key;
}

Error index_error(const std::string& list, const std::string& step) {
  return Error(ErrorKind::Config,
               "'" + list + "' is a list, and '" + step + "' is not an index into a list")
      .with_reason("list_index_not_int");
}

Error range_error(const std::string& list, std::size_t size, std::int64_t index) {
  return Error(ErrorKind::Config, "'" + list + "' has " + counted(size, "item") +
                                      ", so there is no item " + std::to_string(index) +
                                      "; a longer list must be given as a whole")
      .with_reason("list_index_range");
}

const TypeRule* element_of(const TypeRule* types) {
  return types != nullptr && types->kind == TypeRule::Kind::List ? &types->element[0] : nullptr;
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
    // Existing keys may stay, whatever the type says about new ones.
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

/// If the interpolation refers to a map or list, replaces it with a copy.
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

// Changing single values, after everything is merged.

/// The value under the change's current step. A null pointer if a map lacks it, unless it must
/// exist.
Result<Node*> ConfigTree::item_at(const Spot& spot, Change& change, bool must_exist) const {
  const std::string& step = change.steps[change.failed_step];
  if (spot.node->is_map()) {
    Node* found = spot.node->find(step);
    if (found != nullptr || !must_exist) return found;
    return unknown_key(*spot.node, Node::string(step),
                       joined(change.steps, change.failed_step + 1));
  }
  const std::string list = joined(change.steps, change.failed_step);
  const std::optional<std::int64_t> index = list_index(step);
  if (!index) return index_error(list, step);
  Node::List& items = spot.node->as_list();
  // Python counts negative indices from the end.
  const auto size = static_cast<std::int64_t>(items.size());
  const std::int64_t from_front = *index < 0 ? *index + size : *index;
  if (from_front < 0 || from_front >= size) return range_error(list, items.size(), *index);
  return &items[static_cast<std::size_t>(from_front)];
}

/// The map or list under the change's current step, created if it is missing.
Result<ConfigTree::Spot> ConfigTree::step_into(Spot spot, Change& change) {
  const Node key = current_key(change);
  const TypeRule* types = spot.types == nullptr ? nullptr
                          : spot.node->is_map() ? spot.types->member(key)
                                                : element_of(spot.types);
  Node* found = PL_TRY(item_at(spot, change, closed_ && !change.force));
  if (found == nullptr) {
    found = &spot.node->as_map().set(key, Node::map());
  } else if (found->is_scalar()) {
    *found = PL_TRY(convert(Node::map(), types, joined(change.steps, change.failed_step + 1)));
  }
  return Spot{found, types};
}

Result<void> ConfigTree::put(const Spot& spot, Change& change) {
  const Node key = current_key(change);
  const TypeRule* types = spot.types == nullptr ? nullptr
                          : spot.node->is_map() ? spot.types->member(key)
                                                : element_of(spot.types);
  Node* found = PL_TRY(item_at(spot, change, closed_ && !change.force));
  if (found != nullptr && !found->is_scalar() && !change.value.is_scalar()) {
    const bool was_closed = closed_;
    closed_ = closed_ && !change.force;
    // The levels of the key, for messages about the inside of the value.
    std::vector<Node> keys;
    for (const std::string& one : change.steps) keys.push_back(Node::string(one));
    std::vector<Level> levels(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      levels[i] = {i == 0 ? nullptr : &levels[i - 1], &keys[i]};
    }
    Result<void> merged = merge_containers(*found, std::move(change.value), types, &levels.back());
    closed_ = was_closed;
    return merged;
  }
  Node value =
      PL_TRY(convert(std::move(change.value), types, joined(change.steps, change.steps.size())));
  if (found != nullptr) {
    *found = std::move(value);
  } else {
    spot.node->as_map().set(key, std::move(value));
  }
  return {};
}

Result<void> ConfigTree::change(Change& change) {
  resolution_.reset();
  Spot spot{&root_, types_};
  for (change.failed_step = 0; change.failed_step + 1 < change.steps.size(); ++change.failed_step) {
    spot = PL_TRY(step_into(spot, change));
  }
  return put(spot, change);
}

Result<const Node*> ConfigTree::find(std::string_view key) {
  // Most keys lead through no interpolation, and need no resolving.
  const Node* node = &root_;
  for (const std::string& step : split_key(key)) {
    if (node->is_list() && !list_index(step)) return index_error(std::string(key), step);
    const Node* next = nullptr;
    if (node->is_map()) {
      next = node->find(step);
    } else if (node->is_list()) {
      const std::int64_t index = *list_index(step);
      const Node::List& items = node->as_list();
      const bool inside = index >= 0 && static_cast<std::uint64_t>(index) < items.size();
      if (inside) next = &items[static_cast<std::size_t>(index)];
    } else if (node->is_string() && holds_interpolation(node->as_string())) {
      break;
    }
    if (next == nullptr) return next;
    node = next;
  }
  if (!node->is_string() || !holds_interpolation(node->as_string())) return node;

  resolution_.emplace(root_, context_);
  const Selection found = PL_TRY(resolution_->find(resolution_->root(), key, false));
  if (found.outcome == Selection::Outcome::BadIndex) {
    return index_error(std::string(key), found.steps[found.failed_step]);
  }
  if (found.outcome != Selection::Outcome::Found) return static_cast<const Node*>(nullptr);
  if (const Place* place = found.value.place()) return place->node;
  found_ = PL_TRY(resolution_->resolved(found.value));
  return static_cast<const Node*>(&found_);
}

Result<const Node*> ConfigTree::select(std::string_view key) {
  const Node* found = PL_TRY(find(key));
  const bool nothing = found == nullptr || found->is_null() || is_missing(*found);
  return nothing ? nullptr : found;
}

Result<void> ConfigTree::erase(std::string_view key) {
  const std::size_t dot = key.rfind('.');
  const std::string name(dot == std::string_view::npos ? key : key.substr(dot + 1));
  const std::string above(dot == std::string_view::npos ? std::string_view() : key.substr(0, dot));
  const Node* found = above.empty() ? &root_ : PL_TRY(select(above));
  if (found == nullptr || found->is_scalar()) return {};
  if (found->is_list()) {
    return Error(ErrorKind::Config, "'" + above +
                                        "' is a list, and items of lists cannot be deleted; give "
                                        "the list as it should be")
        .with_reason("list_index_not_int");
  }
  const TypeRule* types = types_;
  if (!above.empty()) {
    for (const std::string& step : split_key(above)) {
      types = types == nullptr ? nullptr : types->member(Node::string(step));
    }
  }
  if (types != nullptr && types->is_closed()) {
    return Error(ErrorKind::Config,
                 "'" + std::string(key) + "' belongs to Hydra and cannot be deleted")
        .with_reason("typed_deletion");
  }
  // What select finds is in our own tree, or a private copy.
  const_cast<Node*>(found)->as_map().erase(name);
  resolution_.reset();
  return {};
}

namespace {

using Steps = std::span<const std::string>;

/// What `tree`, placed at `place`, says about the value at `key`: the value, a value that replaces
/// its parent, or nothing.
const Node* found_in(const Node& tree, Steps place, Steps key) {
  const std::size_t shared = std::min(place.size(), key.size());
  if (!std::equal(place.begin(), place.begin() + static_cast<std::ptrdiff_t>(shared),
                  key.begin())) {
    return nullptr;
  }
  const Node* node = &tree;
  for (const std::string& step : key.subspan(shared)) {
    if (node->is_scalar()) break;
    const Node* next = nullptr;
    if (node->is_map()) {
      next = node->find(step);
      if (next == nullptr) return nullptr;
    } else {
      const std::optional<std::int64_t> index = list_index(step);
      const Node::List& items = node->as_list();
      const bool inside = index && *index >= 0 && static_cast<std::uint64_t>(*index) < items.size();
      // A shorter list has replaced the one that had this item.
      if (!inside) break;
      next = &items[static_cast<std::size_t>(*index)];
    }
    node = next;
  }
  return node;
}

}  // namespace

void Origins::add_config(std::string name, std::string_view package,
                         std::shared_ptr<const LoadedConfig> config) {
  std::vector<std::string> steps;
  if (!package.empty()) steps = split_key(package);
  layers_.push_back({std::move(name), std::move(steps), std::move(config)});
}

void Origins::add_override(const Override& given) {
  Change change;
  change.text = given.text;
  change.steps = split_key(given.key);
  change.position = {given.place.source, 1, given.key_column};
  change.is_deletion = given.type == OverrideType::Delete;
  if (given.value && !change.is_deletion) {
    if (Result<Node> value = to_node(*given.value, given.place.source)) {
      change.value = std::move(*value);
    }
  }
  changes_.push_back(std::move(change));
}

std::vector<Origin> Origins::history(std::string_view key) const {
  const std::vector<std::string> steps = split_key(key);
  std::vector<Origin> out;
  for (const Layer& layer : layers_) {
    const Node* found = found_in(layer.config->tree, layer.steps, steps);
    if (found == nullptr || (is_missing(*found) && !out.empty())) continue;
    out.push_back({found->position(), layer.name, *found});
  }
  for (const Change& change : changes_) {
    const Node* found = found_in(change.value, change.steps, steps);
    if (found == nullptr) continue;
    out.push_back({change.position, change.text, *found, true, change.is_deletion});
  }
  return out;
}

}  // namespace profline::config
