#pragma once

#include <cstddef>
#include <cstdint>

#include "workload/fast/kernels/decode_model.h"
#include "workload/fast/kernels/internal/device_primitives.cuh"

namespace profline::workload::fast {

/// How chosen experts' softmax shares become weights.
struct RoutingRule {
  int experts = 0;
  int experts_per_token = 0;
  float scaling = 1;
  bool normalise = false;  ///< the weights of the chosen ones sum to one
};

/// A token's experts, likeliest first, in shared memory because they are indexed dynamically.
struct WarpRouting {
  int experts[kMaxExpertsPerToken];
  float weights[kMaxExpertsPerToken];
};

/// A chosen expert and the stamp of its token in one word: whoever sees the stamp also has the
/// expert, and need not wait for the whole kernel that wrote it.
__device__ inline unsigned stamp_expert(int expert, int stamp) {
  return static_cast<unsigned>(stamp) * kMaxExperts + static_cast<unsigned>(expert);
}
__device__ inline void publish_expert(unsigned* word, int expert, int stamp) {
  const unsigned stamped = stamp_expert(expert, stamp);
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(word), "r"(stamped) : "memory");
}
/// Waits until the word has this stamp. The writer must already be running on the device.
__device__ inline int await_expert(const unsigned* word, int stamp) {
  const unsigned least = stamp_expert(0, stamp);
  unsigned found = 0;
  do {
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(found) : "l"(word) : "memory");
  } while (found - least >= kMaxExperts);
  return static_cast<int>(found - least);
}

/// Maps floats to unsigned integers in the same order, never 0; and back.
__device__ inline unsigned order_key(float value) {
  const unsigned bits = __float_as_uint(value);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}
__device__ inline float value_of_key(unsigned key) {
  return __uint_as_float((key & 0x80000000U) != 0 ? key & 0x7fffffffU : ~key);
}

/// The experts that a token goes to, likeliest first (the lower one of equals), from logits in
/// shared memory. Whole warps compute this, each by itself and all with the same result.
__device__ inline void choose_experts(const float* logits, const RoutingRule& rule,
                                      WarpRouting& routing) {
  static_assert(kMaxExperts == 2 * kWarpLanes, "a lane has two");
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  const int upper = lane + kWarpLanes;
  const float lower_logit = lane < rule.experts ? logits[lane] : -INFINITY;
  const float upper_logit = upper < rule.experts ? logits[upper] : -INFINITY;
  unsigned lower_key = order_key(lower_logit);
  unsigned upper_key = order_key(upper_logit);
  unsigned my_key = 0;
  int my_expert = 0;
#pragma unroll
  for (int place = 0; place < kMaxExpertsPerToken; ++place) {
    if (place >= rule.experts_per_token) break;
    const unsigned best = __reduce_max_sync(kAllLanes, max(lower_key, upper_key));
    const unsigned lower_holders = __ballot_sync(kAllLanes, lower_key == best);
    const unsigned upper_holders = __ballot_sync(kAllLanes, upper_key == best);
    const bool is_lower = lower_holders != 0;
    const int holder = __ffs(static_cast<int>(is_lower ? lower_holders : upper_holders)) - 1;
    if (lane == holder) (is_lower ? lower_key : upper_key) = 0;
    if (lane == place) {
      my_key = best;
      my_expert = is_lower ? holder : holder + kWarpLanes;
    }
  }
  const float my_logit = value_of_key(my_key);
  const float max = __shfl_sync(kAllLanes, my_logit, 0);
  const float sum = warp_sum(quick_exp(lower_logit - max) + quick_exp(upper_logit - max));
  const bool is_chosen = lane < rule.experts_per_token;
  const float share = is_chosen ? quick_divide(quick_exp(my_logit - max), sum) : 0.0F;
  const float factor = rule.normalise ? quick_divide(1.0F, warp_sum(share) + 1e-20F) : rule.scaling;
  if (is_chosen) {
    routing.experts[lane] = my_expert;
    routing.weights[lane] = share * factor;
  }
  __syncwarp();
}

/// Norm, routing, and silu(gate) ⊙ up of the shared and the chosen experts, each times its weight;
/// or of a dense layer, which counts as shared.
struct GateUpArguments {
  const float* hidden;        // [D]
  const void* norm;           // [D]
  const void* shared;         // [2 shared_inner, D]
  const void* routed;         // [E, 2 inner, D]; null in a dense layer
  const float* router_parts;  // [parts, E]
  float* inner;               // [k · inner + shared_inner]: chosen experts first
  unsigned* chosen;           // [k], stamped
  const DecodeState* state;
  RoutingRule rule;  // without experts in a dense layer
  int width, shared_inner, routed_inner, parts;
  float eps;
};

constexpr int kGateUpAhead = 2;

/// The router's logits are summed in this many groups of threads, four experts per thread.
__host__ __device__ constexpr int router_groups(int experts) {
  return experts > 0 ? kThreads / ((experts + 3) / 4) : 0;
}

template <typename T>
std::size_t gate_up_shared_bytes(int width, int experts) {
  const int words = PairStream<T, 0, kGateUpAhead>::words_needed(words_of<T>(width));
  return sizeof(Word) * kWarps * words +
         sizeof(float) * (padded<T>(width) + kWarps + router_groups(experts) * experts);
}

/// The number of groups of four in router_parts that a thread loads at once.
constexpr int kRouterBatch = 8;

/// The router's logits from the blocks that computed them, into shared memory: those of group g at
/// parts[g · E …].
__device__ inline void add_router_parts(const GateUpArguments& a, float* parts) {
  const int columns = a.rule.experts / 4;
  const int groups = router_groups(a.rule.experts);
  const int group = static_cast<int>(threadIdx.x) / columns;
  const int column = static_cast<int>(threadIdx.x) % columns;
  if (group >= groups) return;
  float4 sum = {0, 0, 0, 0};
  for (int first = group; first < a.parts; first += kRouterBatch * groups) {
    float4 batch[kRouterBatch];
#pragma unroll
    for (int i = 0; i < kRouterBatch; ++i) {
      const int part = first + i * groups;
      batch[i] = part < a.parts ? load_four(a.router_parts + part * a.rule.experts + column * 4)
                                : float4{0, 0, 0, 0};
    }
#pragma unroll
    for (int i = 0; i < kRouterBatch; ++i) {
      sum.x += batch[i].x;
      sum.y += batch[i].y;
      sum.z += batch[i].z;
      sum.w += batch[i].w;
    }
  }
  *reinterpret_cast<float4*>(parts + group * a.rule.experts + column * 4) = sum;
}
/// Sums all groups into `logits`, then synchronises the block.
__device__ inline void join_router_parts(const GateUpArguments& a, const float* parts, float scale,
                                         float* logits) {
  const int expert = static_cast<int>(threadIdx.x);
  if (expert < a.rule.experts) {
    float sum = 0;
    const int groups = router_groups(a.rule.experts);
#pragma unroll 8
    for (int group = 0; group < groups; ++group) sum += parts[group * a.rule.experts + expert];
    logits[expert] = sum * scale;
  }
  __syncthreads();
}

__device__ inline float silu(float x) {
  return quick_divide(x, 1.0F + quick_exp(-x));
}

/// A warp's path through pairs of a gate row and its up row, advancing by a stride. Shared rows
/// come first because they are known before the router is done.
struct GateUpCursor {
  int chosen;  // index of the chosen expert; negative: shared
  int row;     // of its gate

  __device__ GateUpCursor(const GateUpArguments& a, int item) : chosen(-1), row(item) { settle(a); }
  __device__ void advance(const GateUpArguments& a, int stride) {
    row += stride;
    settle(a);
  }
  __device__ bool is_shared() const { return chosen < 0; }
  __device__ bool is_end(const GateUpArguments& a) const {
    return chosen >= a.rule.experts_per_token;
  }
  /// Index in `inner`.
  __device__ int place(const GateUpArguments& a) const {
    return (is_shared() ? a.rule.experts_per_token : chosen) * a.routed_inner + row;
  }

 private:
  __device__ void settle(const GateUpArguments& a) {
    while (!is_end(a) && row >= (is_shared() ? a.shared_inner : a.routed_inner)) {
      row -= is_shared() ? a.shared_inner : a.routed_inner;
      ++chosen;
    }
  }
};

template <typename T, typename Stream>
__device__ void issue_gate_up(Stream& stream, int index, const GateUpCursor& at,
                              const GateUpArguments& a, const WarpRouting& routing) {
  if (at.is_end(a)) return stream.issue(index, nullptr, nullptr);
  const T* base = static_cast<const T*>(a.shared);
  int rows = a.shared_inner;
  if (!at.is_shared()) {
    rows = a.routed_inner;
    base = static_cast<const T*>(a.routed) +
           static_cast<std::int64_t>(routing.experts[at.chosen]) * 2 * rows * a.width;
  }
  const T* gate = base + static_cast<std::int64_t>(at.row) * a.width;
  stream.issue(index, gate, gate + static_cast<std::int64_t>(rows) * a.width);
}

template <typename T, int kChunks>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm) decode_gate_up(const GateUpArguments a) {
  extern __shared__ Word shared[];
  __shared__ float logits[kMaxExperts];
  __shared__ WarpRouting routings[kWarps];
  using Stream = PairStream<T, kChunks, kGateUpAhead>;
  const int words = words_of<T>(a.width);
  const int warp_words = Stream::words_needed(words);
  float* x = reinterpret_cast<float*>(shared + kWarps * warp_words);
  float* sums = x + padded<T>(a.width);
  float* parts = sums + kWarps;

  const int warp = static_cast<int>(threadIdx.x) / kWarpLanes;
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  const int first = static_cast<int>(blockIdx.x) * kWarps + warp;
  const int stride = static_cast<int>(gridDim.x) * kWarps;
  WarpRouting& routing = routings[warp];

  Stream stream(shared + warp * warp_words, words);
  GateUpCursor next(a, first);
  int issued = 0;
  for (; issued < kGateUpAhead && next.is_shared(); ++issued) {
    issue_gate_up<T>(stream, issued, next, a, routing);
    next.advance(a, stride);
  }
  const WidthPart norm(static_cast<const T*>(a.norm), a.width);
  const int stamp = a.state->stamp;  // no kernel of a step changes it
  let_next_kernel_begin();
  wait_for_kernel_before();

  const WidthPart hidden(a.hidden, a.width);
  if (a.routed != nullptr) add_router_parts(a, parts);
  const float scale = weigh_and_scale<T>(hidden, norm, a.width, a.eps, x, sums);
  if (a.routed != nullptr) {
    join_router_parts(a, parts, scale, logits);
    choose_experts(logits, a.rule, routing);
    if (first == 0 && lane < a.rule.experts_per_token) {
      publish_expert(a.chosen + lane, routing.experts[lane], stamp);
    }
  }
  for (; issued < kGateUpAhead; ++issued) {
    issue_gate_up<T>(stream, issued, next, a, routing);
    next.advance(a, stride);
  }

  const Vector<T, kChunks> vector(x);
  int index = 0;
  for (GateUpCursor at(a, first); !at.is_end(a); at.advance(a, stride), ++index) {
    const float2 product = stream.dot(index, vector);
    issue_gate_up<T>(stream, index + kGateUpAhead, next, a, routing);
    next.advance(a, stride);
    const float2 sum = warp_sum(product);
    if (lane == 0) {
      const float weight = at.is_shared() ? 1.0F : routing.weights[at.chosen];
      a.inner[at.place(a)] = silu(sum.x * scale) * (sum.y * scale) * weight;
    }
  }
}

/// The down projections of everything that decode_gate_up computed, added to the residual stream.
///
/// The vector that a row is multiplied with is cut into slices, one per warp: one for each chosen
/// expert, the rest parts of the shared experts' (or a dense layer's) columns.
struct DownArguments {
  const float* inner;      // [slices · slice_columns]
  const void* shared;      // [D, shared_slices · slice_columns]
  const void* routed;      // [E, D, slice_columns]
  const unsigned* chosen;  // [routed_slices], stamped
  const DecodeState* state;
  float* hidden;  // [D], added to
  int width, slice_columns, routed_slices, shared_slices, rows_per_block;
};

constexpr int kDownAhead = 3;
constexpr int kDownMaxRows = 32;  // even

template <typename T, int kChunks>
std::size_t down_shared_bytes(int slice_columns) {
  const int words = PairStream<T, 0, kDownAhead>::words_needed(words_of<T>(slice_columns));
  return sizeof(Word) * kWarps * words +
         (kChunks > 0 ? 0 : sizeof(float) * kMaxSlices * padded<T>(slice_columns));
}

/// Loads all slices of the vector into shared memory, each padded with zeros, then synchronises the
/// block.
template <typename T>
__device__ void load_slices(const DownArguments& a, int slices, float* to) {
  constexpr int kBatch = 4;
  const int length = padded<T>(a.slice_columns);
  const int step = kThreads * 4;
  for (int first = static_cast<int>(threadIdx.x) * 4; first < slices * length;
       first += kBatch * step) {
    float4 fours[kBatch];
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const int place = first + i * step;
      const int column = place % length;
      const bool is_there = place < slices * length && column < a.slice_columns;
      fours[i] = is_there ? load_four(a.inner + place / length * a.slice_columns + column)
                          : float4{0, 0, 0, 0};
    }
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const int place = first + i * step;
      if (place < slices * length) *reinterpret_cast<float4*>(to + place) = fours[i];
    }
  }
  __syncthreads();
}

template <typename T, int kChunks>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm) decode_down(const DownArguments a) {
  static_assert(kMaxSlices == kWarps, "a warp for each slice");
  extern __shared__ Word shared[];
  __shared__ float partial[kDownMaxRows][kMaxSlices];
  using Stream = PairStream<T, kChunks, kDownAhead>;
  const int words = words_of<T>(a.slice_columns);
  const int warp_words = Stream::words_needed(words);
  float* x = reinterpret_cast<float*>(shared + kWarps * warp_words);

  const int warp = static_cast<int>(threadIdx.x) / kWarpLanes;
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  const int slice = warp;
  const int slices = a.routed_slices + a.shared_slices;
  const int first = static_cast<int>(blockIdx.x) * a.rows_per_block;
  const int rows = min(a.rows_per_block, a.width - first);
  const bool is_routed = slice < a.routed_slices;
  const T* weights = nullptr;
  std::int64_t row_elements = a.slice_columns;
  if (!is_routed && slice < slices) {
    row_elements = static_cast<std::int64_t>(a.shared_slices) * a.slice_columns;
    weights = static_cast<const T*>(a.shared) + (slice - a.routed_slices) * a.slice_columns;
  }
  // For a single last row both are the same.
  const auto issue = [&](Stream& stream, int index) {
    const int row = 2 * index;
    if (weights == nullptr || row >= rows) return stream.issue(index, nullptr, nullptr);
    const T* upper = weights + (first + row) * row_elements;
    stream.issue(index, upper, row + 1 < rows ? upper + row_elements : upper);
  };

  const int stamp = a.state->stamp;
  let_next_kernel_begin();
  // The previous kernel chooses experts long before it ends, and all its blocks have started.
  if (is_routed) {
    const std::int64_t expert = await_expert(a.chosen + slice, stamp);
    weights = static_cast<const T*>(a.routed) + expert * a.width * a.slice_columns;
  }
  Stream stream(shared + warp * warp_words, words);
#pragma unroll
  for (int i = 0; i < kDownAhead; ++i) issue(stream, i);
  wait_for_kernel_before();

  const int mine = static_cast<int>(threadIdx.x);
  float sum = mine < rows ? a.hidden[first + mine] : 0.0F;
  const auto multiply = [&](const Vector<T, kChunks>& vector) {
    for (int index = 0; weights != nullptr && 2 * index < rows; ++index) {
      const float2 product = stream.dot(index, vector);
      issue(stream, index + kDownAhead);
      const float2 both = warp_sum(product);
      if (lane < 2) partial[2 * index + lane][slice] = lane == 0 ? both.x : both.y;
    }
  };
  if constexpr (kChunks > 0) {
    if (slice < slices) {
      multiply(Vector<T, kChunks>(a.inner + slice * a.slice_columns, a.slice_columns));
    }
  } else {
    load_slices<T>(a, slices, x);
    multiply(Vector<T, kChunks>(x + slice * padded<T>(a.slice_columns)));
  }
  __syncthreads();
  if (mine >= rows) return;
  for (int i = 0; i < slices; ++i) sum += partial[mine][i];
  a.hidden[first + mine] = sum;
}

}  // namespace profline::workload::fast
