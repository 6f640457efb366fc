#include <vector>

#include <benchmark/benchmark.h>

#include "analysis/ranks/analysis.h"
#include "base/error.h"
#include "formats/chunks.h"
#include "testing/captures/planted_ranks.h"
#include "tools/torch_profiler/trace.h"

// From captures that are in memory to the comparison; reading them is the reader's benchmark, and
// src/trace_report/ranks_bench.cpp measures both together.
namespace profline::ranks {
namespace {

void compare_ranks(benchmark::State& state) {
  const kernels::Classifier classes = kernels::shipped_classifier().value();
  testing::PlantedRanks options;
  options.ranks = static_cast<int>(state.range(0));
  options.steps = 250;
  options.straggler = 1;
  std::vector<Capture> captures;
  for (const std::string& trace : testing::planted_traces(options).traces) {
    auto timeline = torch_profiler::read_trace(chunks_of(trace), "trace.json");
    PL_ASSERT(timeline.has_value(), "it was generated");
    captures.push_back(capture_of(*timeline, classes));
  }
  for (auto unused : state) {
    static_cast<void>(unused);
    const RankAnalysis analysis = analyse(captures);
    if (analysis.straggler() != 1) return state.SkipWithError("the straggler was not found");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * options.steps *
                          options.collectives_per_step);
}
BENCHMARK(compare_ranks)->Arg(8)->Arg(64)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace profline::ranks
