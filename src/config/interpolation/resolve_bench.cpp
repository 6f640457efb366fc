#include <string>

#include <benchmark/benchmark.h>

#include "config/interpolation/expression.h"
#include "config/interpolation/resolve.h"

namespace profline::config {
namespace {

/// A map of groups of 20 keys, a quarter of them interpolations: near and far references, in text,
/// nested, and calls.
Node tree_with_keys(std::int64_t keys) {
  Node root = Node::map();
  root.as_map().set("base", Node::string("/data"));
  root.as_map().set("pick", Node::string("group0"));
  for (std::int64_t group = 0; group * 20 < keys; ++group) {
    const std::string name = "group" + std::to_string(group);
    const std::string before = "group" + std::to_string(group == 0 ? 0 : group - 1);
    NodeMap map;
    for (int i = 0; i < 15; ++i) map.set("key" + std::to_string(i), Node::integer(i));
    map.set("path", Node::string("${base}/" + name + "/${.key3}"));
    map.set("near", Node::string("${.key0}"));
    map.set("far", Node::string("${" + before + ".key7}"));
    map.set("nested", Node::string("${${pick}.key1}"));
    map.set("call", Node::string("${oc.select:" + before + ".key9,0}"));
    root.as_map().set(name, Node::map(std::move(map)));
  }
  return root;
}

void resolve_tree(benchmark::State& state) {
  const Node tree = tree_with_keys(state.range(0));
  const ResolverRegistry registry = ResolverRegistry::standard();
  ResolveContext context;
  context.resolvers = &registry;
  for (auto _ : state) {
    Resolution resolution(tree, context);
    auto resolved = resolution.resolve_all();
    if (!resolved) state.SkipWithError(resolved.error().to_string().c_str());
    benchmark::DoNotOptimize(resolved);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(resolve_tree)
    ->Arg(2000)
    ->RangeMultiplier(8)
    ->Range(1 << 8, 1 << 17)
    ->Complexity(benchmark::oN);

void resolve_tree_in_place(benchmark::State& state) {
  const Node tree = tree_with_keys(state.range(0));
  const ResolverRegistry registry = ResolverRegistry::standard();
  ResolveContext context;
  context.resolvers = &registry;
  for (auto _ : state) {
    Node copy = tree;
    if (!resolve_in_place(copy, context)) state.SkipWithError("refused");
    benchmark::DoNotOptimize(copy);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(resolve_tree_in_place)->Arg(2000);

/// `k0: ${k1}`, `k1: ${k2}`, …, ordered so that each finds the next one resolved.
void resolve_chain(benchmark::State& state) {
  Node tree = Node::map();
  tree.as_map().set("k0", Node::integer(1));
  for (std::int64_t i = 1; i < state.range(0); ++i) {
    tree.as_map().set("k" + std::to_string(i), Node::string("${k" + std::to_string(i - 1) + "}"));
  }
  const ResolveContext context;
  for (auto _ : state) benchmark::DoNotOptimize(Resolution(tree, context).resolve_all());
  state.SetComplexityN(state.range(0));
}
BENCHMARK(resolve_chain)->RangeMultiplier(8)->Range(1 << 6, 1 << 15)->Complexity(benchmark::oN);

void parse_reference(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(parse_text("${dataset.root}"));
}
BENCHMARK(parse_reference);

void parse_mixed_text(benchmark::State& state) {
  const std::string text = "${oc.env:HOME}/out/${now:%Y-%m-%d}/${model.${kind}.name}-[${a},${b}]";
  for (auto _ : state) benchmark::DoNotOptimize(parse_text(text));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(parse_mixed_text);

}  // namespace
}  // namespace profline::config
