#pragma once

#include "workload/fast/kernels/device_primitives.cuh"
#include "workload/fast/kernels/launch.cuh"

namespace profline::workload::fast {

/// Norm, routing, and silu(gate) ⊙ up of the shared experts and of those chosen, each times its
/// weight; or of a dense layer, which is all shared.
struct GateUpArguments {
  const float* hidden;        // [D]
  const void* norm;           // [D]
  const void* shared;         // [2 shared_inner, D]
  const void* routed;         // [E, 2 inner, D]; null in a dense layer
  const float* router_parts;  // [parts, E]
  float* inner;               // [k · inner + shared_inner]: chosen experts' first
  int* chosen;                // [k]
  int width, shared_inner, routed_inner, experts, experts_per_token, parts;
  float eps, scaling;
  bool normalise;
};

constexpr int kGateUpAhead = 4;

/// The experts a token goes to, likeliest first; the same in every lane and every block.
struct Routing {
  int experts[kMaxExpertsPerToken];
  float weights[kMaxExpertsPerToken];
};

/// Logits in shared memory, read by whole warps: each does this for itself.
__device__ inline Routing choose_experts(const float* logits, const GateUpArguments& a) {
  constexpr int kPerLane = kMaxExperts / kWarpLanes;
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  float mine[kPerLane];
  float shares[kPerLane];
  int ranks[kPerLane];
  float max = -INFINITY;
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    const int expert = i * kWarpLanes + lane;
    mine[i] = expert < a.experts ? logits[expert] : -INFINITY;
    max = fmaxf(max, mine[i]);
    ranks[i] = expert < a.experts ? 0 : kMaxExperts;
  }
  max = warp_max(max);
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    shares[i] = expf(mine[i] - max);
    sum += shares[i];
  }
  sum = warp_sum(sum);
  for (int other = 0; other < a.experts; ++other) {
    const float value = logits[other];
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      const int expert = i * kWarpLanes + lane;
      ranks[i] += (value > mine[i] || (value == mine[i] && other < expert)) ? 1 : 0;
    }
  }
  Routing routing;
  float chosen_sum = 0;
#pragma unroll
  for (int place = 0; place < kMaxExpertsPerToken; ++place) {
    // Logits that are not numbers have no order: any valid expert will do then.
    int expert = place;
    float share = 0;
    if (place < a.experts_per_token) {
#pragma unroll
      for (int i = 0; i < kPerLane; ++i) {
        const unsigned holders = __ballot_sync(kAllLanes, ranks[i] == place);
        const int holder = holders == 0 ? 0 : __ffs(static_cast<int>(holders)) - 1;
        const float theirs = __shfl_sync(kAllLanes, shares[i], holder);
        if (holders != 0) {
          expert = i * kWarpLanes + holder;
          share = theirs;
        }
      }
    }
    routing.experts[place] = expert;
    routing.weights[place] = share / sum;
    chosen_sum += routing.weights[place];
  }
  const float factor = a.normalise ? 1.0F / (chosen_sum + 1e-20F) : a.scaling;
#pragma unroll
  for (int place = 0; place < kMaxExpertsPerToken; ++place) routing.weights[place] *= factor;
  return routing;
}

/// Sums of the router's logits are made in so many groups of threads, four experts a thread.
__host__ __device__ constexpr int router_groups(int experts) {
  return experts > 0 ? kThreads / ((experts + 3) / 4) : 0;
}

template <typename T>
std::size_t gate_up_shared_bytes(int width, int experts) {
  const int chunks = chunks_of(words_of<T>(width));
  return sizeof(Word) * kWarps * RowStream<T, 0, kGateUpAhead>::words_needed(chunks) +
         sizeof(float) * (padded<T>(width) + kWarps + router_groups(experts) * experts);
}

/// Fours of router_parts that a thread loads at once.
constexpr int kRouterBatch = 8;

/// The router's logits from the blocks that made them, into shared memory: group g's at
/// parts[g · E …].
__device__ inline void add_router_parts(const GateUpArguments& a, float* parts) {
  const int columns = a.experts / 4;
  const int groups = router_groups(a.experts);
  const int group = static_cast<int>(threadIdx.x) / columns;
  const int column = static_cast<int>(threadIdx.x) % columns;
  if (group >= groups) return;
  float4 sum = {0, 0, 0, 0};
  for (int first = group; first < a.parts; first += kRouterBatch * groups) {
    float4 batch[kRouterBatch];
#pragma unroll
    for (int i = 0; i < kRouterBatch; ++i) {
      const int part = first + i * groups;
      batch[i] = part < a.parts ? load_four(a.router_parts + part * a.experts + column * 4)
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
  *reinterpret_cast<float4*>(parts + group * a.experts + column * 4) = sum;
}
/// All groups' into `logits`; the block meets behind it.
__device__ inline void join_router_parts(const GateUpArguments& a, const float* parts, float scale,
                                         float* logits) {
  const int expert = static_cast<int>(threadIdx.x);
  if (expert < a.experts) {
    float sum = 0;
    const int groups = router_groups(a.experts);
#pragma unroll 8
    for (int group = 0; group < groups; ++group) sum += parts[group * a.experts + expert];
    logits[expert] = sum * scale;
  }
  __syncthreads();
}

__device__ inline float silu(float x) {
  return x / (1.0F + expf(-x));
}

/// One gate row and its up row. Shared ones come first in the warps' order: they are known before
/// the router is.
template <typename T>
struct GateUpItem {
  const T* gate;
  const T* up;
  int place;   // in `inner`
  int chosen;  // which of the chosen experts; below 0: shared

  __device__ GateUpItem(const GateUpArguments& a, const Routing& routing, int item) {
    const bool is_shared = item < a.shared_inner;
    const int rank = is_shared ? 0 : (item - a.shared_inner) / a.routed_inner;
    const int row = is_shared ? item : (item - a.shared_inner) % a.routed_inner;
    const int rows = is_shared ? a.shared_inner : a.routed_inner;
    int expert = 0;
#pragma unroll
    for (int i = 0; i < kMaxExpertsPerToken; ++i) {
      if (i == rank) expert = routing.experts[i];
    }
    const T* base = is_shared ? static_cast<const T*>(a.shared)
                              : static_cast<const T*>(a.routed) +
                                    static_cast<std::int64_t>(expert) * 2 * rows * a.width;
    gate = base + static_cast<std::int64_t>(row) * a.width;
    up = gate + static_cast<std::int64_t>(rows) * a.width;
    chosen = is_shared ? -1 : rank;
    place = is_shared ? a.experts_per_token * a.routed_inner + row : rank * a.routed_inner + row;
  }
};

template <typename T, int kChunks>
__global__ void __launch_bounds__(kThreads) decode_gate_up(const GateUpArguments a) {
  extern __shared__ Word shared[];
  __shared__ float logits[kMaxExperts];
  using Stream = RowStream<T, kChunks, kGateUpAhead>;
  const int words = words_of<T>(a.width);
  const int warp_words = Stream::words_needed(chunks_of(words));
  float* x = reinterpret_cast<float*>(shared + kWarps * warp_words);
  float* sums = x + padded<T>(a.width);
  float* parts = sums + kWarps;

  const int warp = static_cast<int>(threadIdx.x) / kWarpLanes;
  const int first = static_cast<int>(blockIdx.x) * kWarps + warp;
  const int stride = static_cast<int>(gridDim.x) * kWarps;
  const int items = a.shared_inner + a.experts_per_token * a.routed_inner;
  Routing routing{};
  const auto row = [&](int index) -> const T* {
    const int item = first + (index / 2) * stride;
    if (item >= items) return nullptr;
    const GateUpItem<T> rows(a, routing, item);
    return index % 2 == 0 ? rows.gate : rows.up;
  };
  const auto is_known = [&](int index) {
    return a.routed == nullptr || first + (index / 2) * stride < a.shared_inner;
  };

  Stream stream(shared + warp * warp_words, words);
#pragma unroll
  for (int i = 0; i < kGateUpAhead; ++i) {
    if (is_known(i)) stream.issue(i, row(i));
  }
  const WidthPart norm(static_cast<const T*>(a.norm), a.width);
  let_next_kernel_begin();
  wait_for_kernel_before();

  const WidthPart hidden(a.hidden, a.width);
  if (a.routed != nullptr) add_router_parts(a, parts);
  const float scale = weigh_and_scale<T>(hidden, norm, a.width, a.eps, x, sums);
  if (a.routed != nullptr) {
    join_router_parts(a, parts, scale, logits);
    routing = choose_experts(logits, a);
    if (first == 0 && threadIdx.x == 0) {
#pragma unroll
      for (int i = 0; i < kMaxExpertsPerToken; ++i) a.chosen[i] = routing.experts[i];
    }
#pragma unroll
    for (int i = 0; i < kGateUpAhead; ++i) {
      if (!is_known(i)) stream.issue(i, row(i));
    }
  }

  const Vector<T, kChunks> vector(x);
  int index = 0;
  for (int item = first; item < items; item += stride) {
    float products[2];
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      products[side] = stream.dot(index, vector);
      stream.issue(index + kGateUpAhead, row(index + kGateUpAhead));
      ++index;
    }
    const float gate = warp_sum(products[0]) * scale;
    const float up = warp_sum(products[1]) * scale;
    const GateUpItem<T> rows(a, routing, item);
    float weight = 1;
#pragma unroll
    for (int i = 0; i < kMaxExpertsPerToken; ++i) {
      if (i == rows.chosen) weight = routing.weights[i];
    }
    if (threadIdx.x % kWarpLanes == 0) a.inner[rows.place] = silu(gate) * up * weight;
  }
}

/// The down projections of all that decode_gate_up made, added to the residual stream.
///
/// What a row is multiplied with is cut into slices, a warp each: one for each chosen expert, the
/// rest parts of the shared experts' (or a dense layer's) columns.
struct DownArguments {
  const float* inner;  // [slices · slice_columns]
  const void* shared;  // [D, shared_slices · slice_columns]
  const void* routed;  // [E, D, slice_columns]
  const int* chosen;   // [routed_slices]
  float* hidden;       // [D], added to
  int width, slice_columns, routed_slices, shared_slices, rows_per_block;
};

constexpr int kDownAhead = 5;
constexpr int kDownMaxRows = 32;

/// Vectors are in shared memory only where their size is not known when compiled.
template <typename T, int kChunks>
std::size_t down_shared_bytes(int slice_columns) {
  const int chunks = chunks_of(words_of<T>(slice_columns));
  return sizeof(Word) * kWarps * RowStream<T, 0, kDownAhead>::words_needed(chunks) +
         (kChunks > 0 ? 0 : sizeof(float) * kWarps * padded<T>(slice_columns));
}

/// A warp's slice of what is multiplied, from global memory; `shared` has room for it, padded.
template <typename T, int kChunks>
__device__ Vector<T, kChunks> load_slice(const float* slice, int columns, float* shared) {
  if constexpr (kChunks > 0) {
    return Vector<T, kChunks>(slice, columns);
  } else {
    for (int i = static_cast<int>(threadIdx.x) % kWarpLanes; i < padded<T>(columns);
         i += kWarpLanes) {
      shared[i] = i < columns ? slice[i] : 0.0F;
    }
    __syncwarp();
    return Vector<T, kChunks>(shared);
  }
}

template <typename T, int kChunks>
__global__ void __launch_bounds__(kThreads) decode_down(const DownArguments a) {
  extern __shared__ Word shared[];
  __shared__ float partial[kDownMaxRows][kWarps];
  using Stream = RowStream<T, kChunks, kDownAhead>;
  const int words = words_of<T>(a.slice_columns);
  const int warp_words = Stream::words_needed(chunks_of(words));
  const int slice = static_cast<int>(threadIdx.x) / kWarpLanes;
  float* x = reinterpret_cast<float*>(shared + kWarps * warp_words) +
             (kChunks > 0 ? 0 : slice * padded<T>(a.slice_columns));

  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  const int first = static_cast<int>(blockIdx.x) * a.rows_per_block;
  const int rows = min(a.rows_per_block, a.width - first);
  const bool is_routed = slice < a.routed_slices;
  const bool is_used = slice < a.routed_slices + a.shared_slices;
  const T* weights = nullptr;
  std::int64_t row_elements = a.slice_columns;
  if (is_used && !is_routed) {
    row_elements = static_cast<std::int64_t>(a.shared_slices) * a.slice_columns;
    weights = static_cast<const T*>(a.shared) + (slice - a.routed_slices) * a.slice_columns;
  }
  const auto row = [&](int index) -> const T* {
    return index < rows ? weights + (first + index) * row_elements : nullptr;
  };

  Stream stream(shared + slice * warp_words, words);
  if (is_used && !is_routed) {
#pragma unroll
    for (int i = 0; i < kDownAhead; ++i) stream.issue(i, row(i));
  }
  let_next_kernel_begin();
  wait_for_kernel_before();

  if (is_used) {
    if (is_routed) {
      weights = static_cast<const T*>(a.routed) +
                static_cast<std::int64_t>(a.chosen[slice]) * a.width * a.slice_columns;
#pragma unroll
      for (int i = 0; i < kDownAhead; ++i) stream.issue(i, row(i));
    }
    const Vector<T, kChunks> vector =
        load_slice<T, kChunks>(a.inner + slice * a.slice_columns, a.slice_columns, x);
    for (int index = 0; index < rows; ++index) {
      const float product = warp_sum(stream.dot(index, vector));
      stream.issue(index + kDownAhead, row(index + kDownAhead));
      if (lane == 0) partial[index][slice] = product;
    }
  }
  const int index = static_cast<int>(threadIdx.x);
  float sum = index < rows ? a.hidden[first + index] : 0.0F;
  __syncthreads();
  if (index >= rows) return;
  for (int i = 0; i < a.routed_slices + a.shared_slices; ++i) sum += partial[index][i];
  a.hidden[first + index] = sum;
}

}  // namespace profline::workload::fast
