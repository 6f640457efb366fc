#include <benchmark/benchmark.h>

#include "base/files.h"
#include "testing/temp_dir.h"

namespace profline {
namespace {

/// Dominated by the two fsyncs, so by the disk.
void atomic_write(benchmark::State& state) {
  const testing::TempDir dir;
  const std::string bytes(static_cast<std::size_t>(state.range(0)), 'x');
  for ([[maybe_unused]] auto _ : state) write_file_atomic(dir / "file", bytes).value();
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void read_whole(benchmark::State& state) {
  const testing::TempDir dir;
  write_file_atomic(dir / "file", std::string(static_cast<std::size_t>(state.range(0)), 'x'))
      .value();
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(read_file(dir / "file"));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

BENCHMARK(atomic_write)->Range(1 << 8, 1 << 24)->UseRealTime();
BENCHMARK(read_whole)->Range(1 << 8, 1 << 24);

}  // namespace
}  // namespace profline
