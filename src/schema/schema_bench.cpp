#include <benchmark/benchmark.h>

#include "schema/diff.h"
#include "schema/docs.h"
#include "schema/internal/example_for_tests.h"
#include "schema/internal/wide_for_tests.h"
#include "schema/read.h"

namespace profline::schema {
namespace {

void read_forty_fields(benchmark::State& state) {
  const Node node = write(example::Wide{});
  for (auto unused : state) {
    static_cast<void>(unused);
    Problems problems;
    benchmark::DoNotOptimize(read<example::Wide>(node, problems));
    if (!problems.empty()) state.SkipWithError("the input is sound");
  }
  state.SetItemsProcessed(state.iterations() * 40);
}
BENCHMARK(read_forty_fields);

/// Every key in the reverse of the list's order: the worst case of finding a field.
void read_forty_fields_reversed(benchmark::State& state) {
  const Node node = write(example::Wide{});
  const NodeMap& entries = node.as_map();
  NodeMap reversed;
  for (auto entry = entries.end(); entry != entries.begin();) {
    --entry;
    reversed.set(entry->key, entry->value);
  }
  const Node input = Node::map(std::move(reversed));
  for (auto unused : state) {
    static_cast<void>(unused);
    Problems problems;
    benchmark::DoNotOptimize(read<example::Wide>(input, problems));
  }
  state.SetItemsProcessed(state.iterations() * 40);
}
BENCHMARK(read_forty_fields_reversed);

void write_forty_fields(benchmark::State& state) {
  const example::Wide value;
  for (auto unused : state) {
    static_cast<void>(unused);
    benchmark::DoNotOptimize(write(value));
  }
  state.SetItemsProcessed(state.iterations() * 40);
}
BENCHMARK(write_forty_fields);

void tell_forty_problems(benchmark::State& state) {
  NodeMap wrong;
  const Node sound = write(example::Wide{});
  for (const auto& [key, value] : sound.as_map()) {
    wrong.set(key, Node::list());
  }
  const Node node = Node::map(std::move(wrong));
  for (auto unused : state) {
    static_cast<void>(unused);
    Problems problems;
    benchmark::DoNotOptimize(read<example::Wide>(node, problems));
    if (problems.empty()) state.SkipWithError("the input is wrong");
  }
  state.SetItemsProcessed(state.iterations() * 40);
}
BENCHMARK(tell_forty_problems);

void diff_of_equal_configs(benchmark::State& state) {
  const example::Pipeline before;
  const example::Pipeline after;
  for (auto unused : state) {
    static_cast<void>(unused);
    benchmark::DoNotOptimize(diff(before, after));
  }
}
BENCHMARK(diff_of_equal_configs);

void reference_of_a_config(benchmark::State& state) {
  for (auto unused : state) {
    static_cast<void>(unused);
    benchmark::DoNotOptimize(reference_markdown<example::Config>("config"));
  }
}
BENCHMARK(reference_of_a_config);

}  // namespace
}  // namespace profline::schema
