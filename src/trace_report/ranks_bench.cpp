#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "analysis/ranks/analysis.h"
#include "base/error.h"
#include "testing/captures/planted_ranks.h"
#include "testing/peak_memory.h"
#include "testing/temp_dir.h"
#include "trace_report/ranks.h"

// From the traces of many ranks on disk, 100 MB each, to their comparison, on two threads. Eight
// ranks; set PROFLINE_BENCH_LARGE for 64, which need 6.5 GB below TMPDIR.
namespace profline::trace_report {
namespace {

constexpr double kTraceBytes = 100e6;

std::vector<std::string> write_traces(const std::filesystem::path& folder,
                                      testing::PlantedRanks options) {
  // About 260 bytes per operator.
  options.operators_per_kernel =
      static_cast<int>(kTraceBytes / 260 / (options.steps * options.collectives_per_step));
  std::vector<std::string> files;
  std::vector<std::ofstream> streams;
  for (int rank = 0; rank < options.ranks; ++rank) {
    files.push_back((folder / ("rank" + std::to_string(rank) + ".json")).string());
    streams.emplace_back(files.back(), std::ios::binary);
  }
  testing::planted_traces(options, [&](int rank, std::string_view text) {
    streams[static_cast<std::size_t>(rank)] << text;
  });
  for (std::ofstream& stream : streams) {
    stream.close();
    PL_ASSERT(stream.good(), "there is room for the traces");
  }
  return files;
}

void traces_of_ranks(benchmark::State& state) {
  const testing::TempDir folder;
  testing::PlantedRanks options;
  options.ranks = static_cast<int>(state.range(0));
  options.steps = 250;
  options.straggler = 1;
  const std::vector<std::string> files = write_traces(folder.path(), options);
  std::uint64_t bytes = 0;
  for (const std::string& file : files) bytes += std::filesystem::file_size(file);
  const kernels::Classifier classes = kernels::shipped_classifier().value();
  testing::reset_peak_memory();
  for (auto unused : state) {
    static_cast<void>(unused);
    auto captures = read_ranks(files, classes);
    if (!captures || !are_ranks(*captures)) return state.SkipWithError("they were not read");
    ranks::number_ranks(*captures);
    if (ranks::analyse(*captures).straggler() != 1) {
      return state.SkipWithError("the straggler was not found");
    }
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
  state.counters["MB_per_trace"] =
      static_cast<double>(bytes) / 1e6 / static_cast<double>(files.size());
  state.counters["peak_MB"] = static_cast<double>(testing::peak_memory_bytes()) / 1e6;
}

void rank_counts(benchmark::internal::Benchmark* bench) {
  bench->Arg(8);
  if (std::getenv("PROFLINE_BENCH_LARGE") != nullptr) bench->Arg(64);
  bench->UseRealTime()->Unit(benchmark::kMillisecond);
}
BENCHMARK(traces_of_ranks)->Apply(rank_counts);

}  // namespace
}  // namespace profline::trace_report
