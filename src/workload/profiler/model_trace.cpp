#include "workload/profiler/model_trace.h"

#include <vector>

#include "workload/model/deepseek_ocr.h"

namespace profline::workload {
namespace {

/// Adds the rows of `more` to those of `sum`.
void add(OperatorCounts& sum, OperatorCounts more) {
  for (TracedOperator& row : more.operators) {
    bool found = false;
    for (TracedOperator& present : sum.operators) {
      if (present.name != row.name) continue;
      present.calls += row.calls;
      present.flops += row.flops;
      found = true;
    }
    if (!found) sum.operators.push_back(std::move(row));
  }
}

Result<void> trace_views(const DeepseekOcr& model, const at::Tensor& views, ModelTrace& trace) {
  at::Tensor features;
  at::Tensor tokens;
  add(trace.sam, PL_TRY(count_operators([&]() -> Result<void> {
        features = model.sam(views);
        return {};
      })));
  add(trace.clip, PL_TRY(count_operators([&]() -> Result<void> {
        tokens = model.clip(features);
        return {};
      })));
  add(trace.projector, PL_TRY(count_operators([&]() -> Result<void> {
        model.project(tokens, features);
        return {};
      })));
  return {};
}

/// A prompt of text alone: what is in its slots makes no difference to the work.
at::Tensor run_prompt(const DeepseekOcr& model, std::int64_t tokens, KvCache& cache) {
  const std::vector<std::int64_t> ids(static_cast<std::size_t>(tokens), 0);
  const std::vector<std::uint8_t> no_image(ids.size(), 0);
  return model.prefill(ids, no_image, {}, cache);
}

Result<void> trace_language(const DeepseekOcr& model, const TraceShape& shape, ModelTrace& trace) {
  KvCache cache = model.new_cache(std::max(shape.prompt_tokens, shape.context));
  trace.prefill = PL_TRY(count_operators([&]() -> Result<void> {
    run_prompt(model, shape.prompt_tokens, cache);
    return {};
  }));
  cache.clear();
  run_prompt(model, shape.context - 1, cache);
  const at::Tensor token = at::empty({1}, at::TensorOptions(at::kLong).device(at::kMeta));
  trace.decode = PL_TRY(count_operators([&]() -> Result<void> {
    model.decode(token, cache);
    return {};
  }));
  return {};
}

at::Tensor views_of(std::int64_t count, std::int64_t side) {
  return at::empty({count, 3, side, side}, at::TensorOptions(at::kFloat).device(at::kMeta));
}

}  // namespace

Result<ModelTrace> trace_model(const DeepseekOcrConfig& config, at::ScalarType dtype,
                               const TraceShape& shape) {
  const MetaKernels kernels;
  NoWeights weights;
  const ModelOptions options{.device = at::kMeta, .dtype = dtype, .fused_attention = false};
  const DeepseekOcr model = PL_TRY(DeepseekOcr::load(config, weights, options));
  ModelTrace trace;
  const std::int64_t tiles = shape.grid.columns * shape.grid.rows;
  if (shape.page_side > 0) PL_TRY(trace_views(model, views_of(1, shape.page_side), trace));
  if (shape.page_side > 0 && tiles > 1) {
    PL_TRY(trace_views(model, views_of(tiles, shape.tile_side), trace));
  }
  PL_TRY(trace_language(model, shape, trace));
  return trace;
}

Node static_trace_document(const ModelTrace& trace, const TraceShape& shape) {
  NodeMap input;
  input.set("page_side", Node::integer(shape.page_side));
  input.set("tile_side", Node::integer(shape.tile_side));
  input.set("tile_columns", Node::integer(shape.grid.columns));
  input.set("tile_rows", Node::integer(shape.grid.rows));
  input.set("prompt_tokens", Node::integer(shape.prompt_tokens));
  input.set("decode_context", Node::integer(shape.context));
  NodeMap stages;
  stages.set("sam", to_node(trace.sam));
  stages.set("clip", to_node(trace.clip));
  stages.set("projector", to_node(trace.projector));
  stages.set("prefill", to_node(trace.prefill));
  stages.set("decode", to_node(trace.decode));
  NodeMap map;
  map.set("schema", Node::string("profline.static_trace/1"));
  map.set("how", Node::string("the module graph, run on libtorch's meta device"));
  map.set("input", Node::map(std::move(input)));
  map.set("stages", Node::map(std::move(stages)));
  return Node::map(std::move(map));
}

}  // namespace profline::workload
