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

// From the traces of many ranks on disk, 100 MB each, to their comparison, on two threads. Two and
// eight ranks, as JSON and compressed; set PROFLINE_BENCH_LARGE for 64, which need 6.5 GB below
// TMPDIR. Fails above 2 GiB.
namespace profline::trace_report {
namespace {

constexpr double kTraceBytes = 100e6;
constexpr std::uint64_t kMostMemory = std::uint64_t{2} << 30U;

std::vector<std::string> write_traces(const std::filesystem::path& folder,
                                      testing::PlantedRanks options, bool compressed) {
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
  if (!compressed) return files;
  for (std::string& file : files) {
    PL_ASSERT(std::system(("gzip -1 '" + file + "'").c_str()) == 0, "gzip is installed");
    file += ".gz";
  }
  return files;
}

void traces_of_ranks(benchmark::State& state) {
  const testing::TempDir folder;
  testing::PlantedRanks options;
  options.ranks = static_cast<int>(state.range(0));
  options.steps = 250;
  options.straggler = 1;
  const std::vector<std::string> files = write_traces(folder.path(), options, state.range(1) != 0);
  std::uint64_t bytes = 0;
  for (const std::string& file : files) bytes += std::filesystem::file_size(file);
  const kernels::Classifier classes = kernels::shipped_classifier().value();
  testing::reset_peak_memory();
  for (auto unused : state) {
    static_cast<void>(unused);
    auto job = read_ranks(files, classes);
    if (!job || !are_ranks(job->captures)) return state.SkipWithError("they were not read");
    ranks::number_ranks(job->captures);
    if (ranks::analyse(job->captures).straggler() != 1) {
      return state.SkipWithError("the straggler was not found");
    }
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
  state.counters["MB_per_trace"] =
      static_cast<double>(bytes) / 1e6 / static_cast<double>(files.size());
  const std::uint64_t peak = testing::peak_memory_bytes();
  state.counters["peak_MB"] = static_cast<double>(peak) / 1e6;
  if (peak > kMostMemory) state.SkipWithError("it needs more than 2 GiB");
}

void rank_counts(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"ranks", "gz"});
  for (const int ranks : {2, 8}) bench->Args({ranks, 0})->Args({ranks, 1});
  if (std::getenv("PROFLINE_BENCH_LARGE") != nullptr) bench->Args({64, 0});
  bench->UseRealTime()->Unit(benchmark::kMillisecond);
}
BENCHMARK(traces_of_ranks)->Apply(rank_counts);

}  // namespace
}  // namespace profline::trace_report
