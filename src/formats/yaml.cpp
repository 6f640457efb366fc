#include "formats/yaml.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "formats/internal/yaml_compose.h"

namespace profline {
namespace {

using Kind = YamlGraph::Kind;
using Id = YamlGraph::Id;

/// Turns a document as written into values. Recursion is bounded: compose_yaml() refuses documents
/// deeper than kMaxYamlDepth.
class Constructor {
 public:
  Constructor(const YamlText& text, YamlGraph& graph) : text_(text), graph_(graph) {}

  Result<Node> construct(Id id) {
    switch (graph_.items[id].kind) {
      case Kind::Scalar:
        return construct_scalar(id, graph_.items[id].tag);
      case Kind::Sequence:
        return construct_sequence(id);
      case Kind::Mapping:
        return construct_mapping(id);
    }
    return Node();
  }

 private:
  struct Pair {
    Id key;
    Id value;
  };

  Result<Node> construct_scalar(Id id, YamlTag tag) {
    YamlGraph::Item& item = graph_.items[id];
    // Without aliases each text is needed once, so it is moved: it may be large.
    Result<Node> node =
        yaml_scalar(tag, graph_.has_aliases ? item.text : std::exchange(item.text, {}));
    if (!node) return error(node.error().message(), id).with_reason(node.error().reason().data());
    node->set_mark(text_.mark(item.place));
    return node;
  }

  Result<Node> construct_sequence(Id id) {
    const YamlGraph::Item& item = graph_.items[id];
    const bool is_pairs = item.tag == YamlTag::OrderedMap || item.tag == YamlTag::Pairs;
    if (item.tag != YamlTag::Seq && !is_pairs)
      return error("this is a list, but its tag asks for another type", id);
    Node::List list;
    list.reserve(item.children.size());
    for (const Id child : item.children) {
      list.push_back(PL_TRY(is_pairs ? construct_pair(child) : construct(child)));
    }
    return marked(Node::list(std::move(list)), id);
  }

  /// `{key: value}` as `[key, value]`.
  Result<Node> construct_pair(Id id) {
    const YamlGraph::Item& item = graph_.items[id];
    if (item.kind != Kind::Mapping || item.children.size() != 2) {
      return error("an item of !!omap or !!pairs is a map of one entry", id);
    }
    Node::List pair;
    pair.push_back(PL_TRY(construct(item.children[0])));
    pair.push_back(PL_TRY(construct(item.children[1])));
    return marked(Node::list(std::move(pair)), id);
  }

  Result<Node> construct_mapping(Id id) {
    const YamlGraph::Item& item = graph_.items[id];
    if (item.tag == YamlTag::Set) {
      return error("!!set is not supported: write a list", id).with_reason("validation");
    }
    if (item.tag != YamlTag::Map)
      return error("this is a map, but its tag asks for another type", id);
    PL_TRY(check_no_string_key_twice(item));
    NodeMap map;
    for (const Pair& pair : PL_TRY(merged_pairs(id))) {
      Node key = PL_TRY(construct_key(pair.key));
      Node value = PL_TRY(construct(pair.value));
      set(map, std::move(key), std::move(value));
    }
    return marked(Node::map(std::move(map)), id);
  }

  Result<void> check_no_string_key_twice(const YamlGraph::Item& mapping) const {
    std::vector<Id> keys;
    for (std::size_t i = 0; i < mapping.children.size(); i += 2) {
      const YamlGraph::Item& key = graph_.items[mapping.children[i]];
      if (key.kind == Kind::Scalar && key.tag == YamlTag::Str) keys.push_back(mapping.children[i]);
    }
    const auto text = [&](Id id) -> std::string_view { return graph_.items[id].text; };
    std::stable_sort(keys.begin(), keys.end(), [&](Id a, Id b) { return text(a) < text(b); });
    const auto twice = std::adjacent_find(keys.begin(), keys.end(),
                                          [&](Id a, Id b) { return text(a) == text(b); });
    if (twice == keys.end()) return {};
    const Id second = *(twice + 1);
    return error(fmt::format("key '{}' is already in this map", text(second)), second);
  }

  /// The entries of a map: first those from its merge keys, then its own. For duplicate keys the
  /// last one wins.
  Result<std::vector<Pair>> merged_pairs(Id id) const {
    const std::vector<Id>& children = graph_.items[id].children;
    std::vector<Pair> merged;
    std::vector<Pair> own;
    for (std::size_t i = 0; i < children.size(); i += 2) {
      if (graph_.items[children[i]].tag == YamlTag::Merge) {
        PL_TRY(append_merged(children[i + 1], merged));
      } else {
        own.push_back({children[i], children[i + 1]});
      }
    }
    if (merged.empty()) return own;
    std::copy(own.begin(), own.end(), std::back_inserter(merged));
    return merged;
  }

  Result<void> append_merged(Id id, std::vector<Pair>& merged) const {
    const YamlGraph::Item& item = graph_.items[id];
    if (item.kind == Kind::Mapping) {
      const std::vector<Pair> pairs = PL_TRY(merged_pairs(id));
      std::copy(pairs.begin(), pairs.end(), std::back_inserter(merged));
      return {};
    }
    if (item.kind != Kind::Sequence) return error("'<<' merges a map or a list of maps", id);
    // The first map of a list wins, so it is added last.
    for (auto child = item.children.rbegin(); child != item.children.rend(); ++child) {
      if (graph_.items[*child].kind != Kind::Mapping) {
        return error("'<<' merges a map or a list of maps", *child);
      }
      PL_TRY(append_merged(*child, merged));
    }
    return {};
  }

  Result<Node> construct_key(Id id) {
    const YamlGraph::Item& item = graph_.items[id];
    if (item.kind != Kind::Scalar) return error("a key must be a scalar, not a list or a map", id);
    if (item.tag == YamlTag::Null) {
      return error("null cannot be a key: quote it to use the text", id).with_reason("key_type");
    }
    return construct_scalar(id, item.tag == YamlTag::Value ? YamlTag::Str : item.tag);
  }

  /// Python treats 1, 1.0 and True as one key, and keeps the first of them.
  static void set(NodeMap& map, Node key, Node value) {
    if (!key.is_string()) {
      for (const Node& twin : equal_numbers(key)) {
        if (Node* present = map.find(twin)) {
          *present = std::move(value);
          return;
        }
      }
    }
    map.set(std::move(key), std::move(value));
  }

  static std::vector<Node> equal_numbers(const Node& key) {
    std::vector<Node> twins;
    constexpr double kInt64End = 9223372036854775808.0;
    std::int64_t whole = 0;
    if (key.is_bool()) {
      whole = key.as_bool() ? 1 : 0;
    } else if (key.is_int()) {
      whole = key.as_int();
    } else if (key.is_float() && std::trunc(key.as_float()) == key.as_float() &&
               key.as_float() >= -kInt64End && key.as_float() < kInt64End) {
      whole = static_cast<std::int64_t>(key.as_float());
    } else {
      return twins;
    }
    const auto as_double = static_cast<double>(whole);
    twins.push_back(Node::integer(whole));
    if (as_double < kInt64End && static_cast<std::int64_t>(as_double) == whole) {
      twins.push_back(Node::real(as_double));
    }
    if (whole == 0 || whole == 1) twins.push_back(Node::boolean(whole == 1));
    return twins;
  }

  Node marked(Node node, Id id) const {
    node.set_mark(text_.mark(graph_.items[id].place));
    return node;
  }

  Error error(std::string message, Id id) const {
    return text_.error(std::move(message), graph_.items[id].place);
  }

  const YamlText& text_;
  YamlGraph& graph_;
};

}  // namespace

Result<Node> parse_yaml(std::string_view text, std::string source) {
  const YamlText input(text, std::move(source));
  PL_TRY(input.check_characters());
  YamlGraph graph = PL_TRY(compose_yaml(input));
  if (graph.items.empty()) return Node();
  return Constructor(input, graph).construct(graph.root);
}

}  // namespace profline
