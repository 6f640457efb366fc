#include <fcntl.h>

#include <benchmark/benchmark.h>

#include "base/files.h"
#include "base/progress.h"

namespace profline {
namespace {

/// The cost of each advance() to a loop, which may run over tokens or kernels.
void advance_a_loop(benchmark::State& state) {
  const FileDescriptor nowhere = open_descriptor("/dev/null", O_WRONLY);
  const SystemClock clock;
  const auto progress = make_progress({}, nowhere.get(), clock);
  Step step(*progress, "bench");
  Loop loop(*progress, "rounds", std::uint64_t{1} << 62U);
  for ([[maybe_unused]] auto _ : state) loop.advance();
}

BENCHMARK(advance_a_loop);

}  // namespace
}  // namespace profline
