#include <string>

#include <benchmark/benchmark.h>

#include "formats/csv.h"

namespace profline::csv {
namespace {

/// About `bytes` of what `nsys stats` writes for kernels: short numbers, and a quoted name.
std::string kernel_table(std::size_t bytes) {
  std::string text = "Time (%),Total Time (ns),Instances,Avg (ns),Min (ns),Max (ns),Name\n";
  for (std::size_t row = 0; text.size() < bytes; ++row) {
    const std::string number = std::to_string(1'000'000'007U * (row + 1) % 100'000'000U);
    append_record(text, {"0.4", number, "120", "1874.3", "1632", "20014483",
                         row % 2 == 0 ? "void gemm<float, 128, 64>(float const*, float*, int)"
                                      : "vectorized_elementwise_kernel"});
  }
  return text;
}

std::size_t count_cells(benchmark::State& state, Reader reader) {
  std::size_t cells = 0;
  while (true) {
    const Result<const Record*> record = reader.next();
    if (!record) {
      state.SkipWithError(record.error().to_string().c_str());
      return cells;
    }
    if (*record == nullptr) break;
    cells += (*record)->cells.size();
  }
  return cells;
}

void csv_read_whole(benchmark::State& state) {
  const std::string text = kernel_table(static_cast<std::size_t>(state.range(0)));
  while (state.KeepRunning()) benchmark::DoNotOptimize(count_cells(state, Reader(text)));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(csv_read_whole)->RangeMultiplier(16)->Range(1 << 8, 1 << 24);

void csv_read_chunks(benchmark::State& state) {
  constexpr std::size_t kChunk = 1U << 16U;
  const std::string text = kernel_table(static_cast<std::size_t>(state.range(0)));
  while (state.KeepRunning()) {
    Reader reader([rest = std::string_view(text)]() mutable -> Result<std::string_view> {
      const std::string_view chunk = rest.substr(0, kChunk);
      rest.remove_prefix(chunk.size());
      return chunk;
    });
    benchmark::DoNotOptimize(count_cells(state, std::move(reader)));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(csv_read_chunks)->RangeMultiplier(16)->Range(1 << 8, 1 << 24);

void csv_write(benchmark::State& state) {
  const std::string text = kernel_table(static_cast<std::size_t>(state.range(0)));
  std::vector<std::vector<std::string>> records;
  Reader reader(text);
  for (auto record = reader.next(); record && *record != nullptr; record = reader.next()) {
    records.emplace_back((*record)->cells.begin(), (*record)->cells.end());
  }
  while (state.KeepRunning()) benchmark::DoNotOptimize(write(records));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(csv_write)->RangeMultiplier(16)->Range(1 << 8, 1 << 20);

}  // namespace
}  // namespace profline::csv
