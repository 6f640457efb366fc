#include <string>

#include <benchmark/benchmark.h>

#include "config/overrides/override.h"

namespace profline::config {
namespace {

void parse(benchmark::State& state, const std::string& text) {
  for (auto _ : state) {
    auto override = parse_override(text);
    if (!override) state.SkipWithError("refused");
    benchmark::DoNotOptimize(override);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

void short_override(benchmark::State& state) {
  parse(state, "pipeline.nsys.samples=4");
}
BENCHMARK(short_override);

void group_override(benchmark::State& state) {
  parse(state, "profiling/torch@pipeline.torch_profiler=torch-profiler.max");
}
BENCHMARK(group_override);

void function_override(benchmark::State& state) {
  parse(state, "infer.seed=sort(choice(3,1,2))");
}
BENCHMARK(function_override);

/// `a=[0,'x 0',{k: 0.5},…]`: growth must be linear.
void list_literal(benchmark::State& state) {
  std::string text = "a=[0";
  for (std::int64_t i = 1; i < state.range(0); ++i) {
    text += "," + std::to_string(i) + ", 'x " + std::to_string(i) + "', {k: 0.5}, ${b}/c";
  }
  parse(state, text + "]");
  state.SetComplexityN(state.range(0));
}
BENCHMARK(list_literal)->RangeMultiplier(8)->Range(1 << 6, 1 << 15)->Complexity(benchmark::oN);

/// `a={k0: 0,…}`: the keys are compared with each other, so growth could be quadratic here.
void dict_literal(benchmark::State& state) {
  std::string text = "a={k: 0";
  for (std::int64_t i = 1; i < state.range(0); ++i) text += ",k" + std::to_string(i) + ": 1";
  parse(state, text + "}");
  state.SetComplexityN(state.range(0));
}
BENCHMARK(dict_literal)->RangeMultiplier(8)->Range(1 << 6, 1 << 15)->Complexity(benchmark::oN);

void float_range(benchmark::State& state) {
  const auto override = parse_override("a=range(0," + std::to_string(state.range(0)) + ",0.1)");
  for (auto _ : state) benchmark::DoNotOptimize(sweep_items(*override, {}));
  state.SetItemsProcessed(state.iterations() * state.range(0) * 10);
}
BENCHMARK(float_range)->Range(1 << 3, 1 << 12);

}  // namespace
}  // namespace profline::config
