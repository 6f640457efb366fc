#include <vector>

#include <benchmark/benchmark.h>

#include "statistics/summary.h"

namespace profline::statistics {
namespace {

void summary_of_times(benchmark::State& state) {
  RandomNumbers random(3);
  std::vector<double> values(static_cast<std::size_t>(state.range(0)));
  for (double& value : values) value = 1e6 + static_cast<double>(random.below(100'000));
  for (auto _ : state) benchmark::DoNotOptimize(summarise(values));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(summary_of_times)->RangeMultiplier(8)->Range(8, 8 << 9);

}  // namespace
}  // namespace profline::statistics
