// Resolving where the values stand, in OmegaConf's order: later values see earlier ones resolved.

#include "config/resolve.h"

namespace profline::config {

class InPlaceResolution {
 public:
  InPlaceResolution(Node& root, const ResolveContext& context)
      : root_(root), resolution_(root, context) {}

  Result<void> run() { return resolve(resolution_.root(), root_); }

 private:
  /// Resolves all in `node`, which `place` is the place of.
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
      // Every tree that is ours was given to be changed, or made by a resolver for us.
      PL_TRY(resolve(own, const_cast<Node&>(*own.node)));
      PL_TRY(resolution_.charge(place, size_of(*own.node)));
      replace(node, *own.node);
      return {};
    }
    const Node* plain = value.node();
    if (plain == nullptr || !plain->is_scalar()) {
      return Error(ErrorKind::Config,
                   full_key(place) + ": a resolver gave " + std::string(value.described()) +
                       ", which is no part of a configuration (oc.create makes one)",
                   written_at(place))
          .with_reason("validation");
    }
    if (plain->is_string() && holds_interpolation(plain->as_string())) {
      // What was escaped is an interpolation from now on, and has to parse.
      const Result<Expression> parsed = parse_text(plain->as_string());
      if (!parsed) {
        return resolution_.located({place, *place.parent, plain->as_string()}, parsed.error());
      }
    }
    replace(node, *plain);
    return {};
  }

  /// The node keeps the mark of the text that was in its place.
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

  /// The place itself, or a copy when it is in a tree of somebody else (that of `${hydra:…}`).
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
