#pragma once

#include "workload/fast/kernels/device_primitives.cuh"
#include "workload/fast/kernels/launch.cuh"
#include "workload/fast/kernels/routing.cuh"

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
  RoutingRule rule;           // no experts in a dense layer
  int width, shared_inner, routed_inner, parts;
  float eps;
};

constexpr int kGateUpAhead = 2;

/// Sums of the router's logits are made in so many groups of threads, four experts a thread.
__host__ __device__ constexpr int router_groups(int experts) {
  return experts > 0 ? kThreads / ((experts + 3) / 4) : 0;
}

template <typename T>
std::size_t gate_up_shared_bytes(int width, int experts) {
  const int words = PairStream<T, 0, kGateUpAhead>::words_needed(words_of<T>(width));
  return sizeof(Word) * kWarps * words +
         sizeof(float) * (padded<T>(width) + kWarps + router_groups(experts) * experts);
}

/// Fours of router_parts that a thread loads at once.
constexpr int kRouterBatch = 8;

/// The router's logits from the blocks that made them, into shared memory: group g's at
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
/// All groups' into `logits`; the block meets behind it.
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
  return x / (1.0F + expf(-x));
}

/// A warp's way through the pairs of a gate row and its up row, from one to the next by a stride.
/// Shared ones come first: they are known before the router is.
struct GateUpCursor {
  int chosen;  // which of the chosen experts; below 0: shared
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
  /// In `inner`.
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
__global__ void __launch_bounds__(kThreads) decode_gate_up(const GateUpArguments a) {
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
  let_next_kernel_begin();
  wait_for_kernel_before();

  const WidthPart hidden(a.hidden, a.width);
  if (a.routed != nullptr) add_router_parts(a, parts);
  const float scale = weigh_and_scale<T>(hidden, norm, a.width, a.eps, x, sums);
  if (a.routed != nullptr) {
    join_router_parts(a, parts, scale, logits);
    choose_experts(logits, a.rule, routing);
    if (first == 0 && lane < a.rule.experts_per_token) a.chosen[lane] = routing.experts[lane];
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

constexpr int kDownAhead = 3;
constexpr int kDownMaxRows = 32;  // even

/// Vectors are in shared memory only where their size is not known when compiled.
template <typename T, int kChunks>
std::size_t down_shared_bytes(int slice_columns) {
  const int words = PairStream<T, 0, kDownAhead>::words_needed(words_of<T>(slice_columns));
  return sizeof(Word) * kWarps * words +
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
  using Stream = PairStream<T, kChunks, kDownAhead>;
  const int words = words_of<T>(a.slice_columns);
  const int warp_words = Stream::words_needed(words);
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
  // Of a last row alone both are the same.
  const auto issue = [&](Stream& stream, int pair) {
    if (2 * pair >= rows) return stream.issue(pair, nullptr, nullptr);
    const T* row = weights + (first + 2 * pair) * row_elements;
    stream.issue(pair, row, 2 * pair + 1 < rows ? row + row_elements : row);
  };

  Stream stream(shared + slice * warp_words, words);
  if (is_used && !is_routed) {
#pragma unroll
    for (int i = 0; i < kDownAhead; ++i) issue(stream, i);
  }
  let_next_kernel_begin();
  wait_for_kernel_before();

  if (is_used) {
    if (is_routed) {
      weights = static_cast<const T*>(a.routed) +
                static_cast<std::int64_t>(a.chosen[slice]) * a.width * a.slice_columns;
#pragma unroll
      for (int i = 0; i < kDownAhead; ++i) issue(stream, i);
    }
    const Vector<T, kChunks> vector =
        load_slice<T, kChunks>(a.inner + slice * a.slice_columns, a.slice_columns, x);
    for (int pair = 0; 2 * pair < rows; ++pair) {
      const float2 product = stream.dot(pair, vector);
      issue(stream, pair + kDownAhead);
      const float2 sum = warp_sum(product);
      if (lane < 2) partial[2 * pair + lane][slice] = lane == 0 ? sum.x : sum.y;
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
