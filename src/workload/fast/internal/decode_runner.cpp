#include <algorithm>
#include <tuple>

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

#include "base/error.h"
#include "workload/fast/internal/runners.h"
#include "workload/fast/kernels/decode_step.h"

namespace profline::workload::fast {
namespace {

cudaStream_t stream_of(const DeepseekOcr& model) {
  return at::cuda::getCurrentCUDAStream(model.options().device.index());
}

/// cos and sin of position · theta^(−2i/d), [positions, d/2] each, from doubles.
std::pair<at::Tensor, at::Tensor> rope_tables(const DeepseekOcrConfig& config,
                                              std::int64_t positions, at::Device device) {
  const at::TensorOptions wide = at::TensorOptions().dtype(at::kDouble);
  const auto head_dim = config.head_dim();
  const at::Tensor exponent = at::arange(0, head_dim, 2, wide) / static_cast<double>(head_dim);
  const at::Tensor turns =
      at::arange(positions, wide).unsqueeze(1) * at::pow(config.rope_theta, -exponent);
  return {turns.cos().to(at::kFloat).to(device), turns.sin().to(at::kFloat).to(device)};
}

}  // namespace

DecodeShape decode_shape(const DeepseekOcrConfig& config) {
  const auto as_int = [](std::int64_t value) { return static_cast<int>(value); };
  DecodeShape shape;
  shape.width = as_int(config.hidden_size);
  shape.heads = as_int(config.num_attention_heads);
  shape.kv_heads = as_int(config.num_key_value_heads);
  shape.head_dim = as_int(config.head_dim());
  shape.layers = as_int(config.num_hidden_layers);
  shape.vocabulary = as_int(config.vocab_size);
  shape.experts = as_int(config.n_routed_experts);
  shape.experts_per_token = as_int(config.num_experts_per_tok);
  shape.expert_inner = as_int(config.moe_intermediate_size);
  shape.shared_inner = as_int(config.shared_intermediate_size());
  shape.dense_inner = as_int(config.intermediate_size);
  shape.rms_eps = static_cast<float>(config.rms_norm_eps);
  shape.routed_scaling = static_cast<float>(config.routed_scaling_factor);
  shape.normalise_routing = config.norm_topk_prob && config.num_experts_per_tok > 1;
  return shape;
}

DecodeRunner::DecodeRunner(const DeepseekOcr& model, Stored stored) : model_(model) {
  const cudaDeviceProp* device = at::cuda::getDeviceProperties(model.options().device.index());
  plan_.shape = decode_shape(model.config());
  plan_.stored = stored;
  plan_.sms = device->multiProcessorCount;
  plan_.overlap = device->major >= 9;
  plan_.splits = std::clamp(plan_.sms / plan_.shape.heads, 1, kMaxSplits);
  const Decoder& decoder = model.decoder();
  plan_.embedding = decoder.embedding().data_ptr();
  plan_.norm = decoder.norm().weight.data_ptr();
  plan_.head = decoder.head().data_ptr();
  point_layers();
  const c10::cuda::CUDAGuard guard(model.options().device);
  C10_CUDA_CHECK(prepare_decode(plan_));
}

DecodeRunner::~DecodeRunner() {
  // Steps in flight may still write into what is freed here.
  cudaStreamSynchronize(stream_of(model_));
}

void DecodeRunner::point_layers() {
  for (const Decoder::Layer& layer : model_.decoder().layers()) {
    DecodeLayer pointers;
    pointers.attention_norm = layer.attention_norm.weight.data_ptr();
    pointers.qkv = layer.qkv.data_ptr();
    pointers.out = layer.out.data_ptr();
    pointers.mlp_norm = layer.mlp_norm.weight.data_ptr();
    const GatedMlp& always = layer.is_moe ? layer.moe.shared() : layer.dense;
    pointers.gate_up = always.gate_up.data_ptr();
    pointers.down = always.down.data_ptr();
    if (layer.is_moe) {
      routers_.push_back(layer.moe.router().t().contiguous());
      pointers.router = routers_.back().data_ptr<float>();
      pointers.expert_gate_up = layer.moe.gate_up().data_ptr();
      pointers.expert_down = layer.moe.down().data_ptr();
    }
    layers_.push_back(pointers);
  }
  plan_.layers = layers_.data();
}

at::Tensor DecodeRunner::floats(std::int64_t count) {
  const at::TensorOptions options = at::TensorOptions().device(model_.options().device);
  return memory_.emplace_back(at::zeros({count}, options.dtype(at::kFloat)));
}

at::Tensor DecodeRunner::ints(std::int64_t count) {
  const at::TensorOptions options = at::TensorOptions().device(model_.options().device);
  return memory_.emplace_back(at::zeros({count}, options.dtype(at::kInt)));
}

void DecodeRunner::allocate(std::int64_t capacity) {
  const DecodeShape& shape = plan_.shape;
  const std::int64_t columns = std::int64_t{shape.heads} * shape.head_dim;
  C10_CUDA_CHECK(cudaStreamSynchronize(stream_of(model_)));
  graph_.reset();
  cache_.reset();
  memory_.clear();

  DecodeBuffers& buffers = plan_.buffers;
  buffers.hidden = floats(shape.width).data_ptr<float>();
  buffers.queries = floats(columns).data_ptr<float>();
  buffers.attended = floats(kMaxSplits * columns).data_ptr<float>();
  buffers.attended_max = floats(kMaxSplits * shape.heads).data_ptr<float>();
  buffers.attended_sum = floats(kMaxSplits * shape.heads).data_ptr<float>();
  buffers.router_parts =
      floats(std::int64_t{router_part_count(shape.width)} * shape.experts).data_ptr<float>();
  buffers.inner = floats(std::max(shape.dense_inner, shape.experts_per_token * shape.expert_inner +
                                                         shape.shared_inner))
                      .data_ptr<float>();
  buffers.chosen_experts = reinterpret_cast<unsigned*>(
      ints(std::int64_t{shape.layers} * kMaxExpertsPerToken).data_ptr<int>());
  logits_ = floats(shape.vocabulary);
  buffers.logits = logits_.data_ptr<float>();
  buffers.best_values = floats(head_blocks(plan_.sms)).data_ptr<float>();
  buffers.best_ids = ints(head_blocks(plan_.sms)).data_ptr<int>();
  history_ = ints(capacity + 1);
  buffers.history = history_.data_ptr<int>();
  buffers.banned_at = ints(shape.vocabulary).data_ptr<int>();
  // Both structs consist only of ints.
  buffers.state =
      reinterpret_cast<DecodeState*>(ints(sizeof(DecodeState) / sizeof(int)).data_ptr());
  buffers.rules =
      reinterpret_cast<ChoiceRules*>(ints(sizeof(ChoiceRules) / sizeof(int)).data_ptr());
  std::tie(rope_cos_, rope_sin_) = rope_tables(model_.config(), capacity, model_.options().device);
  buffers.rope_cos = rope_cos_.data_ptr<float>();
  buffers.rope_sin = rope_sin_.data_ptr<float>();
  out_ids_ = at::zeros({capacity + 1}, at::TensorOptions().dtype(at::kInt).pinned_memory(true));
  buffers.out_ids = out_ids_.data_ptr<int>();

  cache_.emplace(model_.new_cache(capacity));
  plan_.capacity = static_cast<int>(capacity);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const at::Tensor& both = cache_->memory(static_cast<std::int64_t>(i));
    layers_[i].keys = both.select(0, 0).data_ptr();
    layers_[i].values = both.select(0, 1).data_ptr();
  }
  C10_CUDA_CHECK(graph_.capture(plan_));
  ++captured_graphs_;
}

KvCache& DecodeRunner::begin(std::int64_t capacity) {
  const c10::cuda::CUDAGuard guard(model_.options().device);
  if (!cache_ || cache_->capacity() < capacity) {
    // Allocate the whole window at once: every sequence then has the same memory, and the same
    // graph.
    allocate(std::max(capacity, model_.config().max_position_embeddings));
  }
  cache_->clear();
  begun_ = false;
  return *cache_;
}

std::int64_t DecodeRunner::first(std::span<const std::int64_t> prompt, const at::Tensor& logits,
                                 const GenerationOptions& options) {
  PL_ASSERT(cache_ && cache_->length() == static_cast<std::int64_t>(prompt.size()),
            "the prompt is in the cache");
  const c10::cuda::CUDAGuard guard(model_.options().device);
  const cudaStream_t stream = stream_of(model_);
  const std::vector<int> ids(prompt.begin(), prompt.end());
  history_.narrow(0, 0, static_cast<std::int64_t>(ids.size())).copy_(at::tensor(ids, at::kInt));
  logits_.copy_(logits.view({-1}));
  position_ = static_cast<std::int64_t>(prompt.size()) - 1;
  const ChoiceRules rules{static_cast<int>(options.eos_id.value_or(-1)),
                          static_cast<int>(options.no_repeat_ngram_size)};
  C10_CUDA_CHECK(launch_begin(plan_, static_cast<int>(position_), rules, stream));
  C10_CUDA_CHECK(launch_ban_and_rank(plan_, stream));
  C10_CUDA_CHECK(launch_choice(plan_, stream));
  C10_CUDA_CHECK(cudaStreamSynchronize(stream));
  begun_ = true;
  return out_ids_.data_ptr<int>()[++position_];
}

void DecodeRunner::run(std::int64_t count, Scopes& scopes,
                       const std::function<bool(std::int64_t id)>& on_id) {
  PL_ASSERT(begun_, "the first token was chosen here");
  const c10::cuda::CUDAGuard guard(model_.options().device);
  const auto stream = at::cuda::getCurrentCUDAStream(model_.options().device.index());
  const auto ahead = static_cast<std::int64_t>(step_done_.size());
  std::int64_t launched = 0;
  for (std::int64_t reported = 0; reported < count; ++reported) {
    for (; launched < std::min(count, reported + ahead); ++launched) {
      const Scope step(scopes, scope::kDecodeStep);
      C10_CUDA_CHECK(graph_.launch(stream));
      step_done_[static_cast<std::size_t>(launched % ahead)].record(stream);
    }
    step_done_[static_cast<std::size_t>(reported % ahead)].synchronize();
    if (!on_id(out_ids_.data_ptr<int>()[++position_])) return;
  }
}

at::Tensor DecodeRunner::decode(const at::Tensor& token) {
  PL_ASSERT(cache_.has_value(), "a prompt came before");
  const c10::cuda::CUDAGuard guard(model_.options().device);
  const cudaStream_t stream = stream_of(model_);
  if (!begun_) {
    // The choice does not matter here: the host decides.
    C10_CUDA_CHECK(launch_begin(plan_, static_cast<int>(cache_->length()), {}, stream));
    begun_ = true;
  }
  C10_CUDA_CHECK(launch_force_token(plan_, token.data_ptr<std::int64_t>(), stream));
  C10_CUDA_CHECK(graph_.launch(stream));
  return logits_.unsqueeze(0);
}

}  // namespace profline::workload::fast
