#include "config/interpolation/resolve.h"

#include <algorithm>

#include "base/figures.h"
#include "base/strings.h"
#include "config/interpolation/value.h"

namespace profline::config {
namespace {

std::size_t leading_dots(std::string_view key) {
  return std::min(key.find_first_not_of('.'), key.size());
}

const Place* above(const Place* place, std::size_t levels) {
  for (; levels > 0 && place != nullptr; --levels) place = place->parent;
  return place;
}

const Place* tree_root(const Place& place) {
  const Place* root = &place;
  while (root->parent != nullptr) root = root->parent;
  return root;
}

/// A value that needs no resolving is copied as it is.
bool is_settled(const Node& node) {
  return node.is_scalar() && !(node.is_string() && holds_interpolation(node.as_string()));
}

Error key_error(std::string message, const char* reason) {
  return Error(ErrorKind::Config, std::move(message)).with_reason(reason);
}

Result<const Node*> list_item(const Node::List& items, std::string_view step,
                              const std::string& key) {
  const std::optional<std::int64_t> index = list_index(step);
  if (!index) {
    return key_error("key '" + key + "' not found: '" + std::string(step) + "' is not an index",
                     "config_type");
  }
  // Python counts negative indices from the end.
  const auto size = static_cast<std::int64_t>(items.size());
  const std::int64_t from_front = *index < 0 ? *index + size : *index;
  if (from_front < 0 || from_front >= size) {
    return key_error("key '" + key + "' not found: the list has " + counted(items.size(), "item"),
                     "config_key");
  }
  return &items[static_cast<std::size_t>(from_front)];
}

}  // namespace

Resolution::Resolution(const Node& root, const ResolveContext& context) : context_(context) {
  root_ = &adopt_root(root);
}

const Place& Resolution::adopt_root(const Node& tree) {
  return slots_.try_emplace(&tree, Place{&tree, nullptr}).first->second.place;
}

const Place& Resolution::adopt(Node tree, const Place& parent) {
  const Node& kept = adopted_.emplace_back(std::move(tree));
  return slots_.try_emplace(&kept, Place{&kept, &parent}).first->second.place;
}

Resolution::Slot& Resolution::slot(const Place& place) {
  return slots_.find(place.node)->second;
}

const Place& Resolution::child(const Place& container, const Node& node) {
  return slots_.try_emplace(&node, Place{&node, &container}).first->second.place;
}

Result<Selection> Resolution::find(const Place& place, std::string_view key, bool stop_at_missing) {
  const std::size_t dots = leading_dots(key);
  const Place* start = dots == 0 ? tree_root(place) : above(&place, dots - 1);
  return find_from(start, key.substr(dots), stop_at_missing);
}

Result<Selection> Resolution::find_below(const Place& place, std::string_view key,
                                         bool stop_at_missing) {
  const std::size_t dots = leading_dots(key);
  const Place* start = above(&place, dots == 0 ? 0 : dots - 1);
  return find_from(start, key.substr(dots), stop_at_missing);
}

Result<Selection> Resolution::find_from(const Place* start, std::string_view key,
                                        bool stop_at_missing) {
  Selection selection;
  selection.where = start;
  if (start == nullptr) {
    selection.outcome = Selection::Outcome::AboveRoot;
    return selection;
  }
  if (key.empty()) {
    selection.value = Value(*start);
    return selection;
  }
  selection.steps = split_key(key);
  const Place* container = start;
  while (true) {
    const Place* found = PL_TRY(descend(*container, selection, stop_at_missing));
    if (found == nullptr) return selection;
    Value value = PL_TRY(dereference(*found));
    selection.where = found;
    if (selection.failed_step + 1 == selection.steps.size()) {
      selection.value = std::move(value);
      return selection;
    }
    container = value.container();
    if (container == nullptr) {
      selection.outcome = Selection::Outcome::NotContainer;
      selection.value = std::move(value);
      return selection;
    }
    ++selection.failed_step;
  }
}

/// The place one step below `container`; null, with the outcome set, if it does not exist.
Result<const Place*> Resolution::descend(const Place& container, Selection& selection,
                                         bool stop_at_missing) {
  const std::string& step = selection.steps[selection.failed_step];
  selection.where = &container;
  selection.outcome = Selection::Outcome::Absent;
  const Node* node = nullptr;
  if (container.node->is_map()) {
    node = container.node->find(step);
  } else if (!container.node->is_list()) {
    selection.outcome = Selection::Outcome::NotContainer;  // the root may be a scalar
  } else if (const std::optional<std::int64_t> index = list_index(step)) {
    const Node::List& items = container.node->as_list();
    const bool inside = *index >= 0 && static_cast<std::uint64_t>(*index) < items.size();
    if (inside) node = &items[static_cast<std::size_t>(*index)];
  } else {
    selection.outcome = Selection::Outcome::BadIndex;
  }
  if (node == nullptr) return nullptr;
  const Place* found = &child(container, *node);
  if (stop_at_missing && is_missing(*found->node)) {
    selection.where = found;
    selection.outcome = Selection::Outcome::Missing;
    return nullptr;
  }
  selection.outcome = Selection::Outcome::Found;
  return found;
}

Result<Value> Resolution::item(const Value& value, std::string_view step,
                               const std::string& so_far) {
  const std::string key = join_key(so_far, step);
  const Node& container = *value.node();
  if (container.is_scalar()) {
    return key_error(
        "key '" + key + "' not found: '" + so_far + "' is " + std::string(value.described()),
        "config_type");
  }
  const Node* found = container.find(step);
  if (container.is_list()) {
    found = PL_TRY(list_item(container.as_list(), step, key));
  } else if (found == nullptr) {
    return key_error(
        "key '" + key + "' not found" + did_you_mean(step, container.as_map().string_keys()),
        "config_key");
  }
  if (value.place() == nullptr) return Value(*found);
  if (is_missing(*found)) {
    return Error(ErrorKind::Config, key + ": the value is ???", found->position())
        .with_reason("missing_value");
  }
  return dereference(child(*value.place(), *found));
}

Result<Node> Resolution::get(std::string_view key) {
  Value value(*root_);
  std::string so_far;
  for (const std::string& step : split_key(key)) {
    // A plain list or map is walked as a separate Node.
    if (value.node() == nullptr) value = Value(PL_TRY(resolved(value)));
    value = PL_TRY(item(value, step, so_far));
    so_far = join_key(so_far, step);
  }
  return resolved(value);
}

Result<std::optional<Node>> Resolution::select(std::string_view key) {
  const Selection selection = PL_TRY(find_below(*root_, key, false));
  switch (selection.outcome) {
    case Selection::Outcome::Found:
      break;
    case Selection::Outcome::AboveRoot:
      return key_error("key '" + std::string(key) + "' goes above the root", "config_key");
    case Selection::Outcome::BadIndex:
      return key_error("key '" + std::string(key) + "': '" +
                           selection.steps[selection.failed_step] +
                           "' is not an index of the list '" + full_key(*selection.where) + "'",
                       "config_type");
    default:
      return std::optional<Node>();
  }
  const std::string* text = selection.value.text();
  if (text != nullptr && *text == "???") return std::optional<Node>();
  return std::optional<Node>(PL_TRY(resolved(selection.value)));
}

Result<Node> Resolution::resolve_all() {
  return resolved(Value(*root_));
}

Result<Node> Resolution::resolved(const Value& value) {
  if (const Place* container = value.container()) return expand(*container);
  if (const Node* node = value.node()) return *node;
  if (value.items() != nullptr) {
    Node::List items;
    items.reserve(value.items()->size());
    for (const Value& each : *value.items()) items.push_back(PL_TRY(resolved(each)));
    return Node::list(std::move(items));
  }
  NodeMap map;
  for (const auto& [key, each] : *value.entries()) map.set(key, PL_TRY(resolved(each)));
  return Node::map(std::move(map));
}

Result<Node> Resolution::expand(const Place& container) {
  Slot& own = slot(container);
  if (own.expanding || depth_ >= kMaxDepth) return circle_error(container);
  own.expanding = true;
  depth_ += kExpandDepth;
  Result<Node> result = expand_items(container);
  depth_ -= kExpandDepth;
  own.expanding = false;
  return result;
}

Result<Node> Resolution::expand_items(const Place& container) {
  const Node& node = *container.node;
  Node out;
  if (node.is_list()) {
    const Node::List& items = node.as_list();
    Node::List list;
    list.reserve(items.size());
    for (const Node& item : items) {
      list.push_back(PL_TRY(expand_child(container, item)));
    }
    out = Node::list(std::move(list));
  } else {
    NodeMap map;
    for (const NodeMap::Entry& entry : node.as_map()) {
      map.set(entry.key, PL_TRY(expand_child(container, entry.value)));
    }
    out = Node::map(std::move(map));
  }
  out.set_mark(node.mark());
  return out;
}

Result<Node> Resolution::expand_child(const Place& container, const Node& node) {
  PL_TRY(charge(container, 1 + (node.is_string() ? node.as_string().size() : 0)));
  if (is_settled(node)) return node;
  const Value value = PL_TRY(dereference(child(container, node)));
  Node copy = PL_TRY(resolved(value));
  copy.set_mark(node.mark());
  return copy;
}

Result<void> Resolution::charge(const Place& place, std::uint64_t amount) {
  spent_ += amount;
  if (spent_ <= context_.budget) return {};
  return Error(ErrorKind::Config,
               full_key(place) + ": resolving makes more than the " +
                   std::to_string(context_.budget) + " values and bytes that are allowed",
               written_at(place))
      .with_reason("too_large");
}

// Resolving in place, in OmegaConf's order: later values see earlier ones resolved.

class InPlaceResolution {
 public:
  InPlaceResolution(Node& root, const ResolveContext& context)
      : root_(root), resolution_(root, context) {}

  Result<void> run() { return resolve(resolution_.root(), root_); }

 private:
  /// Resolves everything in `node`, whose place is `place`.
  Result<void> resolve(const Place& place, Node& node) {
    if (node.is_scalar()) return {};
    Resolution::Slot& own = resolution_.slot(place);
    if (own.expanding || resolution_.depth_ >= Resolution::kMaxDepth) {
      return resolution_.circle_error(place);
    }
    own.expanding = true;
    resolution_.depth_ += Resolution::kExpandDepth;
    Result<void> result = resolve_items(place, node);
    resolution_.depth_ -= Resolution::kExpandDepth;
    own.expanding = false;
    return result;
  }

  Result<void> resolve_items(const Place& place, Node& node) {
    if (node.is_list()) {
      for (Node& item : node.as_list()) PL_TRY(resolve_item(resolution_.child(place, item), item));
    } else {
      for (NodeMap::Entry& entry : node.as_map()) {
        PL_TRY(resolve_item(resolution_.child(place, entry.value), entry.value));
      }
    }
    return {};
  }

  Result<void> resolve_item(const Place& place, Node& node) {
    if (!node.is_string()) return resolve(place, node);
    if (!holds_interpolation(node.as_string())) return {};
    const Result<Value> value = resolution_.dereference(place);
    if (!value) {
      if (value.error().reason() != "missing_value") return value.error();
      replace(node, Node::string("???"));
      return {};
    }
    return write(place, node, *value);
  }

  Result<void> write(const Place& place, Node& node, const Value& value) {
    if (const Place* container = value.container()) {
      const Place& own = changeable(*container);
      // Every tree we own was passed to be changed, or made for us by a resolver.
      PL_TRY(resolve(own, const_cast<Node&>(*own.node)));
      PL_TRY(resolution_.charge(place, size_of(*own.node)));
      replace(node, *own.node);
      return {};
    }
    const Node* plain = value.node();
    if (plain == nullptr || !plain->is_scalar()) {
      return Error(ErrorKind::Config,
                   full_key(place) + ": a resolver gave " + std::string(value.described()) +
                       ", which cannot be part of a configuration (oc.create makes one)",
                   written_at(place))
          .with_reason("validation");
    }
    if (plain->is_string() && holds_interpolation(plain->as_string())) {
      // Escaped text is an interpolation from now on, and has to parse.
      const Result<Expression> parsed = parse_text(plain->as_string());
      if (!parsed) {
        return resolution_.located({place, *place.parent, plain->as_string()}, parsed.error());
      }
    }
    replace(node, *plain);
    return {};
  }

  /// The node keeps the mark of the text that it replaces.
  static void replace(Node& node, Node with) {
    with.set_mark(node.mark());
    node = std::move(with);
  }

  static std::uint64_t size_of(const Node& node) {
    std::uint64_t size = 1;
    if (node.is_string()) size += node.as_string().size();
    if (node.is_list()) {
      for (const Node& item : node.as_list()) size += size_of(item);
    } else if (node.is_map()) {
      for (const NodeMap::Entry& entry : node.as_map()) size += size_of(entry.value);
    }
    return size;
  }

  /// The place itself, or a copy if it belongs to another tree (that of `${hydra:…}`).
  const Place& changeable(const Place& place) {
    const Place* top = &place;
    while (top->parent != nullptr) top = top->parent;
    if (top == &resolution_.root()) return place;
    return resolution_.adopt(*place.node, place.parent != nullptr ? *place.parent : *top);
  }

  Node& root_;
  Resolution resolution_;
};

Result<void> resolve_in_place(Node& root, const ResolveContext& context) {
  return InPlaceResolution(root, context).run();
}

}  // namespace profline::config
