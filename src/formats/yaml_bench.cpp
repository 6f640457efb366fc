#include <random>
#include <string>

#include <benchmark/benchmark.h>

#include "formats/yaml.h"

namespace profline {
namespace {

/// Text like a config group, about `size` bytes long.
std::string config_text(std::size_t size) {
  std::mt19937 random(1);
  std::string text = "# @package _global_\n";
  for (int i = 0; text.size() < size; ++i) {
    const std::string n = std::to_string(i);
    text += "stage_" + n + ":\n  enable: auto\n  timeout: " + std::to_string(random() % 1000);
    text += "\n  # how long a capture may take\n  ratio: 0." + std::to_string(random() % 1000);
    text += "\n  output: ${hydra:runtime.output_dir}/stage_" + n + "\n  metrics: [sm__throughput, ";
    text += "dram__bytes.sum]\n  nested:\n    title: 'Kernel times, µs'\n    tags:\n    - first\n";
    text += "    - second: null\n      third: 1e-3\n";
  }
  return text;
}

void read_config(benchmark::State& state) {
  const std::string text = config_text(static_cast<std::size_t>(state.range(0)));
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(parse_yaml(text, "bench.yaml"));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(read_config)->RangeMultiplier(8)->Range(1 << 8, 1 << 20);

void write_config(benchmark::State& state) {
  const std::string text = config_text(static_cast<std::size_t>(state.range(0)));
  const Node node = *parse_yaml(text, "bench.yaml");
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(write_yaml(node));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(write_config)->RangeMultiplier(8)->Range(1 << 8, 1 << 20);

}  // namespace
}  // namespace profline
