#include <benchmark/benchmark.h>

#include "base/digests.h"

namespace profline {
namespace {

void digest(benchmark::State& state, Sha256::FoldBlocks fold) {
  if (fold == nullptr) {
    state.SkipWithError("this processor has no SHA instructions");
    return;
  }
  const std::string bytes(static_cast<std::size_t>(state.range(0)), 'x');
  for ([[maybe_unused]] auto _ : state) {
    Sha256 hash(fold);
    hash.update(bytes);
    benchmark::DoNotOptimize(hash.hex_digest());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void sha256_portable(benchmark::State& state) {
  digest(state, internal::sha256_fold_portable);
}
void sha256_accelerated(benchmark::State& state) {
  digest(state, internal::sha256_fold_accelerated());
}

BENCHMARK(sha256_portable)->Range(1 << 8, 1 << 20);
BENCHMARK(sha256_accelerated)->Range(1 << 8, 1 << 20);

}  // namespace
}  // namespace profline
