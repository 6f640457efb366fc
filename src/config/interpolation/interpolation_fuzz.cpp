#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/interpolation/expression.h"
#include "config/interpolation/resolve.h"

namespace {

using profline::Node;
using profline::config::Expression;
using profline::config::Resolution;
using profline::config::ResolveContext;
using profline::config::ResolverRegistry;

void check(const profline::Result<Expression>& parsed) {
  if (parsed) return;
  PL_ASSERT(parsed.error().reason() == "grammar", "every Error has its reason");
  PL_ASSERT(parsed.error().position()->column > 0, "and a place");
}

/// Builds a tree from the lines: `key value`, with blanks in front of the key for nesting, and `-`
/// as key for the items of a list. Lines that make no sense are skipped.
Node tree_of(std::string_view text) {
  Node root = Node::map();
  std::vector<Node*> open{&root};
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t depth = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view rest = line.substr(depth);
    const std::string_view key = rest.substr(0, rest.find(' '));
    const std::string_view value = rest.substr(std::min(key.size() + 1, rest.size()));
    if (depth >= open.size()) continue;
    Node& parent = *open[depth];
    Node made = Node::string(std::string(value));
    if (value.empty()) made = key == "-" ? Node::list() : Node::map();
    if (!parent.is_list() && parent.find(key) != nullptr) continue;
    Node& added = parent.is_list() ? parent.as_list().emplace_back(std::move(made))
                                   : parent.as_map().set(std::string(key), std::move(made));
    // Deeper levels may have moved together with their parents.
    open.resize(depth + 1);
    if (!added.is_scalar()) open.push_back(&added);
  }
  return root;
}

/// Any tree is resolved or refused within bounded time.
void resolve(const Node& tree) {
  const ResolverRegistry registry = ResolverRegistry::standard();
  ResolveContext context;
  context.resolvers = &registry;
  context.environment = [](std::string_view name) { return std::string(name); };
  context.clock = [] { return profline::config::LocalTime(); };
  context.budget = 1U << 16U;
  Resolution resolution(tree, context);
  const auto whole = resolution.resolve_all();
  PL_ASSERT(whole || !whole.error().reason().empty(), "every Error has a reason");
  for (const std::string& key : tree.as_map().string_keys()) {
    const auto value = resolution.get(key);
    PL_ASSERT(value || !value.error().reason().empty(), "every Error has a reason");
  }
  Node copy = tree;
  const auto in_place = profline::config::resolve_in_place(copy, context);
  PL_ASSERT(in_place || !in_place.error().reason().empty(), "every Error has a reason");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(profline::config::parse_text(text));
  check(profline::config::parse_element(text));
  resolve(tree_of(text));
  return 0;
}
