#include <string>

#include <benchmark/benchmark.h>

#include "tools/ncu/csv_reader.h"

namespace profline::ncu {
namespace {

constexpr std::size_t kMetrics = 100;

/// A raw page of that many launches with a hundred metrics each, with thousands separators.
std::string raw_page(std::size_t launches) {
  std::string header = "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\"";
  std::string units = "\"\",\"\",\"\",\"\",\"\"";
  for (std::size_t i = 0; i < kMetrics; ++i) {
    header += ",\"unit__metric_" + std::to_string(i) + ".sum\"";
    units += i % 3 == 0 ? ",\"byte/s\"" : i % 3 == 1 ? ",\"%\"" : ",\"ns\"";
  }
  std::string text = "==PROF== Connected to process 7\n" + header + '\n' + units + '\n';
  std::uint64_t state = 20261115;
  for (std::size_t launch = 0; launch < launches; ++launch) {
    text += '"' + std::to_string(launch) +
            "\",\"7\",\"void gemm<float, 128, 64>(float const*, float*, int)\",\"(128, 1, 1)\","
            "\"(64, 64, 1)\"";
    for (std::size_t i = 0; i < kMetrics; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      const auto number = static_cast<unsigned>(state >> 40U);
      text += ",\"" + std::to_string(1 + number % 999) + ',' + std::to_string(100 + number % 900) +
              '.' + std::to_string(10 + number % 90) + '"';
    }
    text += '\n';
  }
  return text;
}

void read_page(benchmark::State& state, const ReadOptions& options) {
  const std::string text = raw_page(static_cast<std::size_t>(state.range(0)));
  for (auto unused : state) {
    const auto report = read_csv(text, options);
    if (!report) {
      state.SkipWithError(report.error().to_string().c_str());
      return;
    }
    benchmark::DoNotOptimize(report->kernels.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void ncu_csv_all_metrics(benchmark::State& state) {
  read_page(state, {});
}
BENCHMARK(ncu_csv_all_metrics)
    ->RangeMultiplier(10)
    ->Range(100, 10'000)
    ->Unit(benchmark::kMillisecond);

void ncu_csv_few_metrics(benchmark::State& state) {
  read_page(state,
            {.source = "", .keep = [](std::string_view name) { return name.ends_with("7.sum"); }});
}
BENCHMARK(ncu_csv_few_metrics)
    ->RangeMultiplier(10)
    ->Range(100, 100'000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace profline::ncu
