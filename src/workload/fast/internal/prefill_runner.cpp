#include <algorithm>
#include <cmath>

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

#include "workload/fast/internal/runners.h"
#include "workload/fast/kernels/prefill.h"
#include "workload/model/attention.h"
#include "workload/model/torch_compat.h"

namespace profline::workload::fast {
namespace {

/// Prompts are padded to a multiple of this, so that few lengths need few graphs. The padding comes
/// after all tokens, where causal attention never looks.
constexpr std::int64_t kLengthStep = 32;

cudaStream_t stream_of(const at::Tensor& tensor) {
  return at::cuda::getCurrentCUDAStream(tensor.device().index());
}

int as_int(std::int64_t value) {
  return static_cast<int>(value);
}

at::Tensor on_device(const std::vector<std::int64_t>& values, at::Device device) {
  return at::tensor(values, at::TensorOptions().dtype(at::kLong)).to(device);
}

}  // namespace

PrefillRunner::PrefillRunner(const DeepseekOcr& model, Stored stored)
    : model_(model), stored_(stored), can_run_(stored == Stored::Bf16) {
  for (const Decoder::Layer& layer : model.decoder().layers()) {
    routers_.push_back(layer.is_moe ? layer.moe.router().t().contiguous() : at::Tensor());
    if (!layer.is_moe) continue;
    const at::Tensor like = model.decoder().embedding();
    can_run_ = can_run_ && compat::has_grouped_mm(like, layer.moe.gate_up()) &&
               compat::has_grouped_mm(like, layer.moe.down());
  }
}

at::Tensor PrefillRunner::embed(const tokenizer::Prompt& prompt, const at::Tensor& image_rows,
                                std::int64_t rows) const {
  const at::Device device = model_.options().device;
  std::vector<std::int64_t> ids(prompt.ids.begin(), prompt.ids.end());
  ids.resize(static_cast<std::size_t>(rows), 0);
  at::Tensor x = model_.decoder().embed(on_device(ids, device));
  std::vector<std::int64_t> slots;
  for (std::size_t i = 0; i < prompt.is_image.size(); ++i) {
    if (prompt.is_image[i] != 0) slots.push_back(static_cast<std::int64_t>(i));
  }
  if (!slots.empty()) x.index_copy_(0, on_device(slots, device), image_rows);
  return x;
}

at::Tensor PrefillRunner::run(const tokenizer::Prompt& prompt, const at::Tensor& image_rows,
                              KvCache& cache, const at::Tensor& cos, const at::Tensor& sin) {
  const auto tokens = static_cast<std::int64_t>(prompt.ids.size());
  const std::int64_t rows =
      std::min(cache.capacity(), (tokens + kLengthStep - 1) / kLengthStep * kLengthStep);
  const at::Tensor x = embed(prompt, image_rows, rows);
  const at::Tensor last = on_device({tokens - 1}, model_.options().device);
  const at::Tensor logits =
      graphs_.run(std::to_string(rows), {x, last}, [&](const std::vector<at::Tensor>& inputs) {
        return forward(inputs[0], inputs[1], cache, cos, sin);
      });
  cache.advance(tokens);
  return logits;
}

at::Tensor PrefillRunner::swiglu(const at::Tensor& gate_up) const {
  at::Tensor out = at::empty({gate_up.size(0), gate_up.size(1) / 2}, gate_up.options());
  C10_CUDA_CHECK(launch_swiglu(gate_up.data_ptr(), out.data_ptr(), as_int(out.size(0)),
                               as_int(out.size(1)), stored_, stream_of(out)));
  return out;
}

at::Tensor PrefillRunner::attention(std::size_t index, const at::Tensor& hidden,
                                    const KvCache& cache, const at::Tensor& cos,
                                    const at::Tensor& sin) const {
  const DeepseekOcrConfig& config = model_.config();
  const Decoder::Layer& layer = model_.decoder().layers()[index];
  const std::int64_t tokens = hidden.size(0);
  const at::Tensor qkv = at::linear(layer.attention_norm(hidden), layer.qkv);
  const at::Tensor q =
      at::empty({1, config.num_attention_heads, tokens, config.head_dim()}, hidden.options());
  const at::Tensor& both = cache.memory(static_cast<std::int64_t>(index));
  const at::Tensor keys = both.select(0, 0);
  const at::Tensor values = both.select(0, 1);
  RopeStep step;
  step.qkv = qkv.data_ptr();
  step.queries = q.data_ptr();
  step.keys = keys.data_ptr();
  step.values = values.data_ptr();
  step.cos = cos.data_ptr<float>();
  step.sin = sin.data_ptr<float>();
  step.tokens = as_int(tokens);
  step.heads = as_int(config.num_attention_heads);
  step.kv_heads = as_int(config.num_key_value_heads);
  step.head_dim = as_int(config.head_dim());
  step.capacity = as_int(cache.capacity());
  C10_CUDA_CHECK(launch_rope(step, stored_, stream_of(hidden)));
  const double scale = 1.0 / std::sqrt(static_cast<double>(config.head_dim()));
  const at::Tensor attended = attend(q, keys.narrow(2, 0, tokens), values.narrow(2, 0, tokens),
                                     scale, Masking::Causal, model_.options().fused_attention);
  return at::addmm(hidden, join_heads(attended).squeeze(0), layer.out.t());
}

at::Tensor PrefillRunner::experts(std::size_t index, const at::Tensor& hidden) const {
  const DeepseekOcrConfig& config = model_.config();
  const Moe& moe = model_.decoder().layers()[index].moe;
  const at::Tensor x = model_.decoder().layers()[index].mlp_norm(hidden);
  const std::int64_t tokens = x.size(0);
  const std::int64_t chosen = config.num_experts_per_tok;
  const at::Tensor ids = at::empty({tokens, chosen}, x.options().dtype(at::kInt));
  const at::Tensor weights = at::empty({tokens, chosen}, x.options().dtype(at::kFloat));
  const at::Tensor places = at::empty({tokens * chosen}, ids.options());
  const at::Tensor ends = at::empty({config.n_routed_experts}, ids.options());
  const at::Tensor rows = at::empty({tokens * chosen, x.size(1)}, x.options());

  RouteStep route;
  route.x = x.data_ptr();
  route.router = routers_[index].data_ptr<float>();
  route.experts = ids.data_ptr<int>();
  route.weights = weights.data_ptr<float>();
  route.tokens = as_int(tokens);
  route.width = as_int(x.size(1));
  route.expert_count = as_int(config.n_routed_experts);
  route.experts_per_token = as_int(chosen);
  route.scaling = static_cast<float>(config.routed_scaling_factor);
  route.normalise = config.norm_topk_prob && chosen > 1;
  C10_CUDA_CHECK(launch_route(route, stored_, stream_of(x)));

  GroupStep group;
  group.experts = route.experts;
  group.x = x.data_ptr();
  group.places = places.data_ptr<int>();
  group.ends = ends.data_ptr<int>();
  group.rows = rows.data_ptr();
  group.tokens = route.tokens;
  group.width = route.width;
  group.expert_count = route.expert_count;
  group.experts_per_token = route.experts_per_token;
  C10_CUDA_CHECK(launch_group(group, stored_, stream_of(x)));

  const at::Tensor inner = swiglu(compat::grouped_mm(rows, moe.gate_up(), ends));
  const at::Tensor by_expert = compat::grouped_mm(inner, moe.down(), ends);
  const at::Tensor shared =
      at::linear(swiglu(at::linear(x, moe.shared().gate_up)), moe.shared().down);
  at::Tensor out = at::empty_like(hidden);
  CombineStep combine;
  combine.hidden = hidden.data_ptr();
  combine.shared = shared.data_ptr();
  combine.by_expert = by_expert.data_ptr();
  combine.places = group.places;
  combine.weights = route.weights;
  combine.out = out.data_ptr();
  combine.tokens = route.tokens;
  combine.width = route.width;
  combine.experts_per_token = route.experts_per_token;
  C10_CUDA_CHECK(launch_combine(combine, stored_, stream_of(x)));
  return out;
}

at::Tensor PrefillRunner::forward(const at::Tensor& x, const at::Tensor& last, const KvCache& cache,
                                  const at::Tensor& cos, const at::Tensor& sin) const {
  const compat::CudnnAttention none(false);
  const Decoder& decoder = model_.decoder();
  at::Tensor hidden = x;
  for (std::size_t i = 0; i < decoder.layers().size(); ++i) {
    const Decoder::Layer& layer = decoder.layers()[i];
    hidden = attention(i, hidden, cache, cos, sin);
    if (layer.is_moe) {
      hidden = experts(i, hidden);
    } else {
      const at::Tensor gate_up = at::linear(layer.mlp_norm(hidden), layer.dense.gate_up);
      hidden = at::addmm(hidden, swiglu(gate_up), layer.dense.down.t());
    }
  }
  const at::Tensor row = decoder.norm()(hidden.index_select(0, last));
  return at::linear(row, decoder.head()).to(at::kFloat);
}

}  // namespace profline::workload::fast
