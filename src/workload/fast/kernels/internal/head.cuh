#pragma once

#include <cstddef>
#include <cstdint>

#include "workload/fast/kernels/internal/device_primitives.cuh"

namespace profline::workload::fast {

/// The likeliest id so far; the lower one of equals.
struct Best {
  float value = -INFINITY;
  int id = 0x7fffffff;

  __device__ void offer(float other_value, int other_id) {
    // Written so that a NaN never wins and never prevents others from winning.
    if (other_value > value || (other_value == value && other_id < id)) {
      value = other_value;
      id = other_id;
    }
  }
  __device__ void meet_warp() {
#pragma unroll
    for (int step = kWarpLanes / 2; step > 0; step /= 2) {
      const float other_value = __shfl_xor_sync(kAllLanes, value, step);
      const int other_id = __shfl_xor_sync(kAllLanes, id, step);
      offer(other_value, other_id);
    }
  }
};

/// The block's best, in thread 0. `values` and `ids` have room for one per warp.
__device__ inline Best block_best(Best best, float* values, int* ids) {
  best.meet_warp();
  const int warp = static_cast<int>(threadIdx.x) / kWarpLanes;
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  if (lane == 0) {
    values[warp] = best.value;
    ids[warp] = best.id;
  }
  __syncthreads();
  Best all;
  const int warps = static_cast<int>(blockDim.x) / kWarpLanes;
  if (lane < warps) all.offer(values[lane], ids[lane]);
  all.meet_warp();
  return all;
}

struct HeadArguments {
  const float* hidden;  // [D]
  const void* norm;     // [D]
  const void* weights;  // [vocabulary, D]
  float* logits;        // [vocabulary]
  const int* banned_at;
  const DecodeState* state;
  float* best_values;  // [blocks]
  int* best_ids;
  int width, vocabulary;
  float eps;
};

constexpr int kHeadAhead = 2;

template <typename T>
std::size_t head_shared_bytes(int width) {
  const int words = PairStream<T, 0, kHeadAhead>::words_needed(words_of<T>(width));
  return sizeof(Word) * kWarps * words + sizeof(float) * (padded<T>(width) + kWarps);
}

/// Final norm, logits, and each block's likeliest id that is not banned.
template <typename T, int kChunks>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm) decode_head(const HeadArguments a) {
  extern __shared__ Word shared[];
  __shared__ float best_values[kWarps];
  __shared__ int best_ids[kWarps];
  using Stream = PairStream<T, kChunks, kHeadAhead>;
  const int words = words_of<T>(a.width);
  const int warp_words = Stream::words_needed(words);
  float* x = reinterpret_cast<float*>(shared + kWarps * warp_words);
  float* sums = x + padded<T>(a.width);

  const int warp = static_cast<int>(threadIdx.x) / kWarpLanes;
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  const int first = static_cast<int>(blockIdx.x) * kWarps + warp;
  const int stride = static_cast<int>(gridDim.x) * kWarps;
  const T* weights = static_cast<const T*>(a.weights);
  // Rows 2p and 2p + 1 are a pair; for a single last row both are the same.
  const int pairs = (a.vocabulary + 1) / 2;
  const auto issue = [&](Stream& stream, int index) {
    const int pair = first + index * stride;
    if (pair >= pairs) return stream.issue(index, nullptr, nullptr);
    const T* row = weights + static_cast<std::int64_t>(2 * pair) * a.width;
    stream.issue(index, row, 2 * pair + 1 < a.vocabulary ? row + a.width : row);
  };
  Stream stream(shared + warp * warp_words, words);
#pragma unroll
  for (int i = 0; i < kHeadAhead; ++i) issue(stream, i);
  const WidthPart norm(static_cast<const T*>(a.norm), a.width);
  let_next_kernel_begin();
  wait_for_kernel_before();

  const int stamp = a.state->stamp;
  const bool has_bans = a.state->banned == stamp;
  const WidthPart hidden(a.hidden, a.width);
  const float scale = weigh_and_scale<T>(hidden, norm, a.width, a.eps, x, sums);
  const Vector<T, kChunks> vector(x);
  Best best;
  int index = 0;
  for (int pair = first; pair < pairs; pair += stride, ++index) {
    const float2 product = stream.dot(index, vector);
    issue(stream, index + kHeadAhead);
    const float2 sum = warp_sum(product);
    // One lane for each of the two.
    const int id = 2 * pair + lane;
    if (lane < 2 && id < a.vocabulary) {
      const float logit = (lane == 0 ? sum.x : sum.y) * scale;
      a.logits[id] = logit;
      if (!has_bans || a.banned_at[id] != stamp) best.offer(logit, id);
    }
  }
  best = block_best(best, best_values, best_ids);
  if (threadIdx.x == 0) {
    a.best_values[blockIdx.x] = best.value;
    a.best_ids[blockIdx.x] = best.id;
  }
}

}  // namespace profline::workload::fast
