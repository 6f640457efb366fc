#include <benchmark/benchmark.h>

#include "base/files.h"
#include "inputs/weights/checkpoint.h"
#include "inputs/weights/model_tensors.h"
#include "inputs/weights/safetensors.h"
#include "testing/temp_dir.h"

namespace profline::weights {
namespace {

void fill_floats(benchmark::State& state) {
  std::vector<float> values(1 << 16);
  const TensorSpec spec{"model.embed_tokens.weight", {1 << 8, 1 << 8}, Role::Embedding};
  for (auto _ : state) {
    fill(spec, values);
    benchmark::DoNotOptimize(values.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(values.size()));
}
BENCHMARK(fill_floats);

void fill_halves(benchmark::State& state) {
  std::vector<std::uint16_t> values(1 << 16);
  const TensorSpec spec{"model.embed_tokens.weight", {1 << 8, 1 << 8}, Role::Embedding};
  for (auto _ : state) {
    fill_bf16(spec, values);
    benchmark::DoNotOptimize(values.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(values.size()));
}
BENCHMARK(fill_halves);

/// The names of the release with one element each: the cost of opening it apart from its data.
void open_checkpoint(benchmark::State& state) {
  const testing::TempDir folder;
  std::vector<TensorLayout> layout;
  for (const TensorSpec& spec : tensor_specs(official_config())) {
    layout.push_back({spec.name, Dtype::U8, Shape(spec.shape.size(), 1)});
  }
  auto writer = SafetensorsWriter::create(folder / "model.safetensors", layout, {});
  if (!writer || !writer->append(std::vector<std::byte>(layout.size())) || !writer->commit()) {
    state.SkipWithError("cannot write the file");
    return;
  }
  for (auto _ : state) {
    auto checkpoint = Checkpoint::open(folder.path());
    benchmark::DoNotOptimize(checkpoint);
  }
}
BENCHMARK(open_checkpoint);

}  // namespace
}  // namespace profline::weights
