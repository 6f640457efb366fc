// From an nsys export to finished tables. Sizes are numbers of kernels, with as many calls and a
// tenth as many ranges. PROFLINE_BENCH_KERNELS=10000000 adds one size.

#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include <benchmark/benchmark.h>

#include "analysis/timeline/accounting.h"
#include "analysis/timeline/group_kernels.h"
#include "testing/captures/nsys_export.h"
#include "testing/temp_dir.h"
#include "tools/nsys/sqlite_reader.h"

namespace profline::timeline {
namespace {

/// Captures are written once per size.
const std::filesystem::path& capture(std::int64_t kernels) {
  static const testing::TempDir folder;
  static std::map<std::int64_t, std::filesystem::path> made;
  const auto [entry, is_new] = made.try_emplace(kernels, folder / std::to_string(kernels));
  const auto count = static_cast<std::uint64_t>(kernels);
  if (is_new && !testing::write_decode_loop(entry->second, {.kernels = count})) std::abort();
  return entry->second;
}

double peak_memory_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void report_counters(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["peak_MiB"] = peak_memory_mib();
}

void nsys_sqlite_to_kernel_summary(benchmark::State& state) {
  const std::filesystem::path& path = capture(state.range(0));
  while (state.KeepRunning()) {
    const Result<Timeline> timeline = nsys::read_sqlite(path, nsys::SqliteRows::Kernels);
    if (!timeline) return state.SkipWithError("not read");
    benchmark::DoNotOptimize(group_kernels(*timeline).rows.data());
  }
  report_counters(state);
}

void nsys_sqlite_to_accounts(benchmark::State& state) {
  const std::filesystem::path& path = capture(state.range(0));
  while (state.KeepRunning()) {
    const Result<Timeline> timeline = nsys::read_sqlite(path);
    if (!timeline) return state.SkipWithError("not read");
    const Attribution attribution = Attribution::of(*timeline);
    benchmark::DoNotOptimize(account(*timeline, attribution).ranges.data());
    benchmark::DoNotOptimize(
        group_kernels(*timeline, {.ranges = true}, {.attribution = &attribution}).rows.data());
  }
  report_counters(state);
}

void timeline_to_accounts(benchmark::State& state) {
  const Result<Timeline> timeline = nsys::read_sqlite(capture(state.range(0)));
  if (!timeline) return state.SkipWithError("not read");
  while (state.KeepRunning()) {
    const Attribution attribution = Attribution::of(*timeline);
    benchmark::DoNotOptimize(account(*timeline, attribution).ranges.data());
  }
  report_counters(state);
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond)->UseRealTime();
  const char* more = std::getenv("PROFLINE_BENCH_KERNELS");
  if (more == nullptr) return;
  for (std::int64_t kernels = 1'000'000; kernels <= std::atoll(more); kernels *= 10) {
    bench->Arg(kernels);
  }
}
BENCHMARK(nsys_sqlite_to_kernel_summary)->Apply(sizes);
BENCHMARK(nsys_sqlite_to_accounts)->Apply(sizes);
BENCHMARK(timeline_to_accounts)->Apply(sizes);

}  // namespace
}  // namespace profline::timeline
