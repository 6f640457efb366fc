#include <vector>

#include <benchmark/benchmark.h>

#include "statistics/comparison.h"
#include "statistics/steady_state.h"
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

/// The cost of a row of a comparison: a kernel has 32 blocks per side, a metric one unit per image.
void effect_of_lists(benchmark::State& state) {
  RandomNumbers random(4);
  RunUnits sides(2, std::vector<double>(static_cast<std::size_t>(state.range(0))));
  for (auto& side : sides) {
    for (double& value : side) value = 1e6 + static_cast<double>(random.below(100'000));
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(effect_of({sides[0]}, {sides[1]}, {.known_spread = RunSpread{0.01}}));
  }
}
BENCHMARK(effect_of_lists)->Arg(32)->Arg(200)->Arg(1000);

/// Requests of a run, or the steps of one of its phases.
void steady_part(benchmark::State& state) {
  RandomNumbers random(5);
  std::vector<double> values(static_cast<std::size_t>(state.range(0)));
  for (double& value : values) value = 1e6 + static_cast<double>(random.below(100'000));
  values.front() *= 3;
  for (auto _ : state) benchmark::DoNotOptimize(steady_state(values));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(steady_part)->RangeMultiplier(8)->Range(8, 8 << 12);

}  // namespace
}  // namespace profline::statistics
