#include <random>
#include <string>

#include <benchmark/benchmark.h>

#include "formats/json.h"

namespace profline {
namespace {

/// A list of kernels as our artifacts hold them.
Node kernels(std::int64_t count) {
  std::mt19937_64 random(1);
  Node::List items;
  for (std::int64_t i = 0; i < count; ++i) {
    NodeMap kernel;
    kernel.set("name", Node::string("void cutlass::Kernel<cutlass_80_tensorop_bf16_s16816gemm_" +
                                    std::to_string(random() % 1000) + ">(Params)"));
    kernel.set("calls", Node::integer(static_cast<std::int64_t>(random() % 10'000)));
    kernel.set("duration_ns", Node::integer(static_cast<std::int64_t>(random() % 1'000'000'000)));
    kernel.set("share", Node::real(static_cast<double>(random() % 1'000'000) / 1e6));
    kernel.set("grid", Node::list({Node::integer(132), Node::integer(1), Node::integer(1)}));
    kernel.set("region", Node());
    items.push_back(Node::map(std::move(kernel)));
  }
  return Node::list(std::move(items));
}

void parse_json_text(benchmark::State& state) {
  const std::string text = write_json(kernels(state.range(0))).value();
  for (auto unused : state) {
    static_cast<void>(unused);
    auto tree = parse_json(text, "bench");
    if (!tree) state.SkipWithError(tree.error().to_string().c_str());
    benchmark::DoNotOptimize(tree);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(parse_json_text)->Range(1 << 4, 1 << 14);

void write_json_text(benchmark::State& state) {
  const Node tree = kernels(state.range(0));
  std::size_t bytes = 0;
  for (auto unused : state) {
    static_cast<void>(unused);
    auto text = write_json(tree);
    if (!text) state.SkipWithError(text.error().to_string().c_str());
    bytes += text->size();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}
BENCHMARK(write_json_text)->Range(1 << 4, 1 << 14);

}  // namespace
}  // namespace profline
