#include <algorithm>
#include <cmath>

#include "workload/fast/kernels/decode_step.h"
#include "workload/fast/kernels/internal/attention.cuh"
#include "workload/fast/kernels/internal/experts.cuh"
#include "workload/fast/kernels/internal/head.cuh"
#include "workload/fast/kernels/internal/device_primitives.cuh"
#include "workload/fast/kernels/internal/projections.cuh"

namespace profline::workload::fast {
namespace {

// The number of words that a lane takes of the release's rows in bf16: 1280 columns, and 896 of a
// slice. Sizes known at compile time keep vectors in registers; other shapes read them from shared
// memory.
constexpr int kWidthChunks = 5;
constexpr int kSliceChunks = 4;

unsigned blocks(int count) {
  return static_cast<unsigned>(count);
}
int ceil_div(int a, int b) {
  return (a + b - 1) / b;
}

/// As many slices as there are warps, or fewer if they would not be whole words.
template <typename T>
int dense_slices(int inner) {
  for (int slices = kMaxSlices; slices > 1; --slices) {
    if (inner % (slices * kPerWord<T>) == 0) return slices;
  }
  return 1;
}

template <typename T>
class Step {
 public:
  Step(const DecodePlan& plan, cudaStream_t stream)
      : plan_(plan), shape_(plan.shape), buffers_(plan.buffers), stream_(stream) {}

  cudaError_t prepare() const {
    const auto width = shape_.width;
    PL_CUDA_TRY(allow_shared(qkv_kernel(), qkv_shared_bytes<T>(width)));
    PL_CUDA_TRY(
        allow_shared(output_kernel(), output_shared_bytes<T>(shape_.heads, shape_.head_dim)));
    PL_CUDA_TRY(allow_shared(gate_up_kernel(), gate_up_shared_bytes<T>(width, shape_.experts)));
    for (const int columns : {shape_.expert_inner, dense_slice()}) {
      PL_CUDA_TRY(allow_shared(down_kernel(columns), down_bytes(columns)));
    }
    return allow_shared(head_kernel(), head_shared_bytes<T>(width));
  }

  cudaError_t run() const {
    for (int i = 0; i < shape_.layers; ++i) {
      const DecodeLayer& layer = plan_.layers[i];
      PL_CUDA_TRY(qkv(layer, i == 0));
      PL_CUDA_TRY(attention(layer, i == 0));
      PL_CUDA_TRY(output(layer));
      PL_CUDA_TRY(gate_up(layer));
      PL_CUDA_TRY(down(layer));
    }
    return head();
  }

 private:
  using QkvKernel = void (*)(QkvArguments);
  using AttentionKernel = void (*)(AttentionArguments);
  using OutputKernel = void (*)(OutputArguments);
  using GateUpKernel = void (*)(GateUpArguments);
  using DownKernel = void (*)(DownArguments);
  using HeadKernel = void (*)(HeadArguments);

  bool has_release_width(int columns) const {
    return chunks_of(words_of<T>(columns)) == kWidthChunks;
  }
  QkvKernel qkv_kernel() const {
    return has_release_width(shape_.width) ? decode_qkv<T, kWidthChunks> : decode_qkv<T, 0>;
  }
  OutputKernel output_kernel() const {
    return has_release_width(shape_.heads * shape_.head_dim) ? decode_output<T, kWidthChunks>
                                                             : decode_output<T, 0>;
  }
  GateUpKernel gate_up_kernel() const {
    return has_release_width(shape_.width) ? decode_gate_up<T, kWidthChunks> : decode_gate_up<T, 0>;
  }
  HeadKernel head_kernel() const {
    return has_release_width(shape_.width) ? decode_head<T, kWidthChunks> : decode_head<T, 0>;
  }
  DownKernel down_kernel(int columns) const {
    return chunks_of(words_of<T>(columns)) == kSliceChunks ? decode_down<T, kSliceChunks>
                                                           : decode_down<T, 0>;
  }
  AttentionKernel attention_kernel() const {
    switch (words_of<T>(shape_.head_dim)) {
      case 2:
        return decode_attention<T, 2>;
      case 4:
        return decode_attention<T, 4>;
      case 8:
        return decode_attention<T, 8>;
      case 16:
        return decode_attention<T, 16>;
      default:
        return decode_attention<T, 32>;
    }
  }

  unsigned* chosen_in(const DecodeLayer& layer) const {
    return buffers_.chosen_experts + (&layer - plan_.layers) * kMaxExpertsPerToken;
  }
  int dense_slice() const { return shape_.dense_inner / dense_slices<T>(shape_.dense_inner); }
  std::size_t down_bytes(int columns) const {
    return chunks_of(words_of<T>(columns)) == kSliceChunks
               ? down_shared_bytes<T, kSliceChunks>(columns)
               : down_shared_bytes<T, 0>(columns);
  }

  cudaError_t qkv(const DecodeLayer& layer, bool is_first) const {
    const QkvArguments arguments{
        layer.attention_norm, layer.qkv,         is_first ? plan_.embedding : nullptr,
        buffers_.hidden,      buffers_.queries,  layer.keys,
        layer.values,         buffers_.rope_cos, buffers_.rope_sin,
        buffers_.state,       shape_.width,      shape_.heads,
        shape_.kv_heads,      shape_.head_dim,   plan_.capacity,
        shape_.rms_eps};
    const int pairs = (shape_.heads + 2 * shape_.kv_heads) * (shape_.head_dim / 2);
    // The first kernel of a step depends on everything in the previous step: no part of it may
    // start early.
    return launch(qkv_kernel(), blocks(std::min(plan_.sms, ceil_div(pairs, kWarps))), kThreads,
                  qkv_shared_bytes<T>(shape_.width), stream_, plan_.overlap && !is_first,
                  arguments);
  }

  cudaError_t attention(const DecodeLayer& layer, bool is_first) const {
    const auto log2_e = 1.4426950408889634;
    const AttentionArguments arguments{
        buffers_.queries,
        layer.keys,
        layer.values,
        buffers_.attended,
        buffers_.attended_max,
        buffers_.attended_sum,
        buffers_.state,
        shape_.heads,
        shape_.kv_heads,
        shape_.head_dim,
        plan_.capacity,
        plan_.splits,
        static_cast<float>(log2_e / std::sqrt(static_cast<double>(shape_.head_dim))),
        is_first ? buffers_.history : nullptr,
        is_first ? buffers_.rules : nullptr,
        is_first ? buffers_.banned_at : nullptr};
    const dim3 grid(blocks(shape_.heads + (is_first ? 1 : 0)), blocks(plan_.splits));
    return launch(attention_kernel(), grid, kAttentionThreads, 0, stream_, plan_.overlap,
                  arguments);
  }

  cudaError_t output(const DecodeLayer& layer) const {
    const OutputArguments arguments{buffers_.attended, buffers_.attended_max, buffers_.attended_sum,
                                    layer.out,         buffers_.hidden,       layer.mlp_norm,
                                    layer.router,      buffers_.router_parts, buffers_.state,
                                    shape_.width,      shape_.heads,          shape_.head_dim,
                                    shape_.experts,    plan_.splits};
    return launch(output_kernel(), blocks(router_part_count(shape_.width)), kThreads,
                  output_shared_bytes<T>(shape_.heads, shape_.head_dim), stream_, plan_.overlap,
                  arguments);
  }

  cudaError_t gate_up(const DecodeLayer& layer) const {
    const int chosen = layer.is_moe() ? shape_.experts_per_token : 0;
    const int shared_inner = layer.is_moe() ? shape_.shared_inner : shape_.dense_inner;
    const RoutingRule rule{shape_.experts, chosen, shape_.routed_scaling, shape_.normalise_routing};
    const GateUpArguments arguments{buffers_.hidden,
                                    layer.mlp_norm,
                                    layer.gate_up,
                                    layer.expert_gate_up,
                                    buffers_.router_parts,
                                    buffers_.inner,
                                    chosen_in(layer),
                                    buffers_.state,
                                    rule,
                                    shape_.width,
                                    shared_inner,
                                    shape_.expert_inner,
                                    router_part_count(shape_.width),
                                    shape_.rms_eps};
    const int items = shared_inner + chosen * shape_.expert_inner;
    return launch(gate_up_kernel(), blocks(std::min(plan_.sms, ceil_div(items, kWarps))), kThreads,
                  gate_up_shared_bytes<T>(shape_.width, shape_.experts), stream_, plan_.overlap,
                  arguments);
  }

  cudaError_t down(const DecodeLayer& layer) const {
    const bool is_moe = layer.is_moe();
    const int shared_slices =
        is_moe ? shape_.shared_inner / shape_.expert_inner : dense_slices<T>(shape_.dense_inner);
    const int columns = is_moe ? shape_.expert_inner : shape_.dense_inner / shared_slices;
    // An even number: rows go in pairs.
    const int rows = std::min(kDownMaxRows, 2 * ceil_div(shape_.width, 2 * plan_.sms));
    const DownArguments arguments{buffers_.inner,
                                  layer.down,
                                  layer.expert_down,
                                  chosen_in(layer),
                                  buffers_.state,
                                  buffers_.hidden,
                                  shape_.width,
                                  columns,
                                  is_moe ? shape_.experts_per_token : 0,
                                  shared_slices,
                                  rows};
    return launch(down_kernel(columns), blocks(ceil_div(shape_.width, rows)), kThreads,
                  down_bytes(columns), stream_, plan_.overlap, arguments);
  }

  cudaError_t head() const {
    const HeadArguments arguments{buffers_.hidden,      plan_.norm,         plan_.head,
                                  buffers_.logits,      buffers_.banned_at, buffers_.state,
                                  buffers_.best_values, buffers_.best_ids,  shape_.width,
                                  shape_.vocabulary,    shape_.rms_eps};
    return launch(head_kernel(), blocks(head_blocks(plan_.sms)), kThreads,
                  head_shared_bytes<T>(shape_.width), stream_, plan_.overlap, arguments);
  }

  const DecodePlan& plan_;
  const DecodeShape& shape_;
  const DecodeBuffers& buffers_;
  cudaStream_t stream_;
};

bool is_power_of_two(int value) {
  return value > 0 && (value & (value - 1)) == 0;
}

template <typename T>
const char* cannot_decode_in(const DecodeShape& s) {
  const auto is_whole = [](int columns) { return columns > 0 && columns % kPerWord<T> == 0; };
  if (!is_whole(s.width) || !is_whole(s.expert_inner) || !is_whole(s.dense_inner)) {
    return "a row of a weight matrix is not a multiple of 16 bytes";
  }
  const int key_words = words_of<T>(s.head_dim);
  if (s.head_dim % kPerWord<T> != 0 || !is_power_of_two(key_words) || key_words < 2 ||
      key_words > kWarpLanes) {
    return "head_dim is not a power of two from 32 to 512 bytes";
  }
  if (s.width > kMaxWidth) return "hidden_size is above 2048";
  if (s.experts > kMaxExperts || s.experts % 4 != 0) {
    return "there are more than 64 experts, or not a multiple of 4";
  }
  if (s.shared_inner % s.expert_inner != 0 ||
      s.experts_per_token + s.shared_inner / s.expert_inner > kMaxSlices) {
    return "a token has more than 8 experts, including shared ones";
  }
  if (s.heads > kThreads || s.heads % s.kv_heads != 0)
    return "the number of query heads is not a multiple of the number of key heads";
  return nullptr;
}

}  // namespace

int router_part_count(int width) {
  return ceil_div(width, kOutputRows);
}

const char* cannot_decode(const DecodeShape& shape, Stored stored) {
  return stored == Stored::Bf16 ? cannot_decode_in<__nv_bfloat16>(shape)
                                : cannot_decode_in<float>(shape);
}

cudaError_t prepare_decode(const DecodePlan& plan) {
  return plan.stored == Stored::Bf16 ? Step<__nv_bfloat16>(plan, nullptr).prepare()
                                     : Step<float>(plan, nullptr).prepare();
}

cudaError_t launch_step(const DecodePlan& plan, cudaStream_t stream) {
  return plan.stored == Stored::Bf16 ? Step<__nv_bfloat16>(plan, stream).run()
                                     : Step<float>(plan, stream).run();
}

namespace {

cudaError_t capture_step(const DecodePlan& plan, cudaStream_t stream, cudaGraph_t* graph) {
  // Thread-local: calls of other threads must not invalidate the capture.
  PL_CUDA_TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  cudaError_t status = launch_step(plan, stream);
  if (status == cudaSuccess) status = launch_choice(plan, stream);
  const cudaError_t ended = cudaStreamEndCapture(stream, graph);
  return status != cudaSuccess ? status : ended;
}

}  // namespace

void DecodeGraph::reset() {
  if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
  graph_ = nullptr;
}

cudaError_t DecodeGraph::capture(const DecodePlan& plan) {
  reset();
  cudaStream_t stream = nullptr;
  PL_CUDA_TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaGraph_t graph = nullptr;
  cudaError_t status = capture_step(plan, stream, &graph);
  if (status == cudaSuccess) status = cudaGraphInstantiateWithFlags(&graph_, graph, 0);
  if (graph != nullptr) cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  return status;
}

}  // namespace profline::workload::fast
