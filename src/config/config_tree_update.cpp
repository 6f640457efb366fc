// Changing single values, once everything is merged.

#include "base/strings.h"
#include "config/config_tree.h"
#include "config/interpolation.h"
#include "config/key_path.h"
#include "config/python_text.h"

namespace profline::config {
namespace {

std::string joined(const std::vector<std::string>& steps, std::size_t count) {
  std::string key;
  for (std::size_t i = 0; i < count; ++i) key = join_key(key, steps[i]);
  return key;
}

/// The change's current step as a key that knows where it was written.
Node current_key(const ConfigTree::Change& change) {
  Node key = Node::string(change.steps[change.failed_step]);
  if (change.failed_step < change.marks.size()) key.set_mark(change.marks[change.failed_step]);
  return key;
}

Error index_error(const std::string& list, const std::string& step) {
  return Error(ErrorKind::Config,
               "'" + list + "' is a list, and '" + step + "' is no index into a list")
      .with_reason("list_index_not_int");
}

Error range_error(const std::string& list, std::size_t size, std::int64_t index) {
  return Error(ErrorKind::Config, "'" + list + "' has " + std::to_string(size) +
                                      (size == 1 ? " item" : " items") + ", so there is no item " +
                                      std::to_string(index) +
                                      "; a longer list must be given as a whole")
      .with_reason("list_index_range");
}

const TypeRule* element_of(const TypeRule* types) {
  return types != nullptr && types->kind == TypeRule::Kind::List ? &types->element[0] : nullptr;
}

}  // namespace

/// The value under the change's current step. Null pointer where a map lacks it, unless it must
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

/// The map or list under the change's current step, made where there is none.
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
    // The levels of the key, for messages about what is inside of the value.
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
  // What select finds is in our own tree, or a copy that nobody will see.
  const_cast<Node*>(found)->as_map().erase(name);
  resolution_.reset();
  return {};
}

}  // namespace profline::config
