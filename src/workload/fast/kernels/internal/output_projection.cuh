#pragma once

#include <cstddef>
#include <cstdint>

#include "workload/fast/kernels/internal/attention.cuh"

namespace profline::workload::fast {

/// Combines the splits of attention and projects the result onto the residual stream; also computes
/// each block's share of the router's logits, which are linear in that stream except for the factor
/// of the norm.
struct OutputArguments {
  const float* attended;  // [splits, H d]
  const float* maxima;    // [splits, H]
  const float* sums;
  const void* weights;   // [D, H d]
  float* hidden;         // [D], added to
  const void* mlp_norm;  // [D]
  const float* router;   // [D, E], or null
  float* router_parts;   // [blocks, E]
  const DecodeState* state;
  int width, heads, head_dim, experts, splits;
};

/// Rows per block: one pair for each warp.
constexpr int kOutputRows = kWarps * 2;

template <typename T>
std::size_t output_shared_bytes(int heads, int head_dim) {
  const int words = PairStream<T, 0, 1>::words_needed(words_of<T>(heads * head_dim));
  return sizeof(Word) * kWarps * words +
         sizeof(float) * (padded<T>(heads * head_dim) + 2 * kMaxSplits * heads);
}

/// The number of splits that a thread loads at once.
constexpr int kSplitBatch = 8;

/// softmax over all splits: values into `x`, padded with zeros. `maxima` and `sums` have room for
/// kMaxSplits × H each. All loads are issued before the first is used.
template <typename T>
__device__ void join_splits(const OutputArguments& a, int count, float* x, float* maxima,
                            float* sums) {
  const int columns = a.heads * a.head_dim;
  const int places = count * a.heads;
  for (int i = static_cast<int>(threadIdx.x); i < places; i += kThreads) {
    maxima[i] = a.maxima[i];
    sums[i] = a.sums[i];
  }
  bool have_met = false;
  for (int place = static_cast<int>(threadIdx.x) * 4;
       place - static_cast<int>(threadIdx.x) * 4 < padded<T>(columns); place += kThreads * 4) {
    const int head = min(place / a.head_dim, a.heads - 1);
    float sum = 0;
    float max = -INFINITY;
    float4 joined = {0, 0, 0, 0};
    for (int from = 0; from < count; from += kSplitBatch) {
      float4 parts[kSplitBatch];
#pragma unroll
      for (int i = 0; i < kSplitBatch; ++i) {
        const bool wanted = from + i < count && place < columns;
        parts[i] =
            wanted ? load_four(a.attended + (from + i) * columns + place) : float4{0, 0, 0, 0};
      }
      if (!have_met) {
        __syncthreads();
        have_met = true;
      }
      if (from == 0) {
        for (int s = 0; s < count; ++s) max = fmaxf(max, maxima[s * a.heads + head]);
      }
#pragma unroll
      for (int i = 0; i < kSplitBatch; ++i) {
        if (from + i >= count) break;
        const float factor = quick_exp2(maxima[(from + i) * a.heads + head] - max);
        sum = fmaf(factor, sums[(from + i) * a.heads + head], sum);
        joined.x = fmaf(factor, parts[i].x, joined.x);
        joined.y = fmaf(factor, parts[i].y, joined.y);
        joined.z = fmaf(factor, parts[i].z, joined.z);
        joined.w = fmaf(factor, parts[i].w, joined.w);
      }
    }
    const float inverse = quick_divide(1.0F, sum);
    if (place < padded<T>(columns)) {
      *reinterpret_cast<float4*>(x + place) =
          float4{joined.x * inverse, joined.y * inverse, joined.z * inverse, joined.w * inverse};
    }
  }
  __syncthreads();
}

template <typename T, int kChunks>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm) decode_output(const OutputArguments a) {
  extern __shared__ Word shared[];
  __shared__ float fresh[kOutputRows];
  using Stream = PairStream<T, kChunks, 1>;
  const int columns = a.heads * a.head_dim;
  const int words = words_of<T>(columns);
  const int warp_words = Stream::words_needed(words);
  float* x = reinterpret_cast<float*>(shared + kWarps * warp_words);
  float* maxima = x + padded<T>(columns);

  const int warp = static_cast<int>(threadIdx.x) / kWarpLanes;
  const int block_row = static_cast<int>(blockIdx.x) * kOutputRows;
  const int first = block_row + warp * 2;
  const int second = min(first + 1, a.width - 1);
  const T* weights = static_cast<const T*>(a.weights);
  const auto row = [&](int index) { return weights + static_cast<std::int64_t>(index) * columns; };
  Stream stream(shared + warp * warp_words, words);
  if (first < a.width) stream.issue(0, row(first), row(second));
  // The router's weights of these rows are in flight as well.
  const int expert = static_cast<int>(threadIdx.x);
  const bool routes = a.router != nullptr && expert < a.experts;
  float router[kOutputRows];
#pragma unroll
  for (int i = 0; i < kOutputRows; ++i) {
    const int row = block_row + i;
    const bool wanted = routes && row < a.width;
    router[i] = wanted ? a.router[static_cast<std::int64_t>(row) * a.experts + expert] *
                             widen(static_cast<const T*>(a.mlp_norm)[row])
                       : 0.0F;
  }
  // No kernel of a step changes the position.
  const int splits = Splits(a.state->position, a.splits).count;
  let_next_kernel_begin();
  wait_for_kernel_before();

  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  const bool has_row = lane < 2 && first + lane < a.width;
  const float before = has_row ? a.hidden[first + lane] : 0.0F;
  join_splits<T>(a, splits, x, maxima, maxima + kMaxSplits * a.heads);
  const Vector<T, kChunks> vector(x);
  if (first < a.width) {
    const float2 product = warp_sum(stream.dot(0, vector));
    // One lane for each of the two.
    const float sum = before + (lane == 0 ? product.x : product.y);
    if (has_row) a.hidden[first + lane] = sum;
    if (lane < 2) fresh[first + lane - block_row] = has_row ? sum : 0.0F;
  } else if (lane < 2) {
    fresh[first + lane - block_row] = 0.0F;
  }
  if (a.router == nullptr) return;
  __syncthreads();
  if (!routes) return;
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kOutputRows; ++i) sum = fmaf(fresh[i], router[i], sum);
  a.router_parts[static_cast<int>(blockIdx.x) * a.experts + expert] = sum;
}

}  // namespace profline::workload::fast
