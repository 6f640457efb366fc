#pragma once

#include <cstddef>
#include <cstdint>

#include "workload/fast/kernels/internal/attention.cuh"
#include "workload/fast/kernels/internal/device_primitives.cuh"

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

/// Norm, query, key and value projections, rotary positions, and keys and values into the cache:
/// everything before attention, in one pass over the weights.
struct QkvArguments {
  const void* norm;       // [D]
  const void* weights;    // [(H + 2K) d, D]
  const void* embedding;  // in the first layer, which looks up its token; else null
  float* hidden;          // [D]: read, or written by the first layer
  float* queries;         // [H d]
  void* keys;             // [K, capacity, d]
  void* values;
  const float* cos;  // [capacity, d/2]
  const float* sin;
  const DecodeState* state;
  int width, heads, kv_heads, head_dim, capacity;
  float eps;
};

constexpr int kQkvAhead = 2;

template <typename T>
std::size_t qkv_shared_bytes(int width) {
  const int words = PairStream<T, 0, kQkvAhead>::words_needed(words_of<T>(width));
  return sizeof(Word) * kWarps * words + sizeof(float) * (padded<T>(width) + kWarps);
}

/// Rows i and i + d/2 of a head rotate together, so a warp has both: pair p is row i of head h.
template <typename T>
struct QkvPair {
  int head, i;

  __device__ QkvPair(int pair, int head_dim)
      : head(pair / (head_dim / 2)), i(pair % (head_dim / 2)) {}
  __device__ const T* row(const T* weights, int second, int head_dim, int width) const {
    const int row = head * head_dim + i + second * (head_dim / 2);
    return weights + static_cast<std::int64_t>(row) * width;
  }
};

/// The rotation of a pair; loaded before the products that it rotates are ready.
struct Turn {
  float cos = 1;
  float sin = 0;

  template <typename T>
  __device__ Turn(const QkvArguments& a, const QkvPair<T>& pair, int position) {
    if (pair.head >= a.heads + a.kv_heads) return;  // values are not rotated
    const std::int64_t place = static_cast<std::int64_t>(position) * (a.head_dim / 2) + pair.i;
    cos = a.cos[place];
    sin = a.sin[place];
  }
};

template <typename T>
__device__ void write_pair(const QkvArguments& a, const QkvPair<T>& pair, const Turn& turn,
                           float first, float second, int position) {
  const int half = a.head_dim / 2;
  const bool is_value = pair.head >= a.heads + a.kv_heads;
  if (!is_value) {
    const float turned = first * turn.cos - second * turn.sin;
    second = second * turn.cos + first * turn.sin;
    first = turned;
  }
  if (pair.head < a.heads) {
    float* to = a.queries + pair.head * a.head_dim + pair.i;
    to[0] = first;
    to[half] = second;
    return;
  }
  const int kv_head = pair.head - a.heads - (is_value ? a.kv_heads : 0);
  T* cache = static_cast<T*>(is_value ? a.values : a.keys);
  T* to =
      cache + (static_cast<std::int64_t>(kv_head) * a.capacity + position) * a.head_dim + pair.i;
  store(to, first);
  store(to + half, second);
}

template <typename T, int kChunks>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm) decode_qkv(const QkvArguments a) {
  extern __shared__ Word shared[];
  using Stream = PairStream<T, kChunks, kQkvAhead>;
  const int words = words_of<T>(a.width);
  const int warp_words = Stream::words_needed(words);
  float* x = reinterpret_cast<float*>(shared + kWarps * warp_words);
  float* sums = x + padded<T>(a.width);

  const int warp = static_cast<int>(threadIdx.x) / kWarpLanes;
  const int first = static_cast<int>(blockIdx.x) * kWarps + warp;
  const int stride = static_cast<int>(gridDim.x) * kWarps;
  const int pairs = (a.heads + 2 * a.kv_heads) * (a.head_dim / 2);
  const T* weights = static_cast<const T*>(a.weights);
  const auto issue = [&](Stream& stream, int index) {
    const int pair = first + index * stride;
    if (pair >= pairs) return stream.issue(index, nullptr, nullptr);
    const QkvPair<T> rows(pair, a.head_dim);
    stream.issue(index, rows.row(weights, 0, a.head_dim, a.width),
                 rows.row(weights, 1, a.head_dim, a.width));
  };

  Stream stream(shared + warp * warp_words, words);
#pragma unroll
  for (int i = 0; i < kQkvAhead; ++i) issue(stream, i);
  const WidthPart norm(static_cast<const T*>(a.norm), a.width);
  const int position = a.state->position;  // no kernel of a step changes it
  Turn next_turn(a, QkvPair<T>(first, a.head_dim), position);
  let_next_kernel_begin();
  wait_for_kernel_before();

  float scale = 0;
  if (a.embedding != nullptr) {
    const T* embedded =
        static_cast<const T*>(a.embedding) + static_cast<std::int64_t>(a.state->token) * a.width;
    const WidthPart hidden(embedded, a.width);
    scale = weigh_and_scale<T>(hidden, norm, a.width, a.eps, x, sums);
    if (blockIdx.x == 0) {
#pragma unroll
      for (int n = 0; n < kWidthFours; ++n) {
        if (WidthPart::place(n) < a.width) {
          *reinterpret_cast<float4*>(a.hidden + WidthPart::place(n)) = hidden.fours[n];
        }
      }
    }
  } else {
    const WidthPart hidden(a.hidden, a.width);
    scale = weigh_and_scale<T>(hidden, norm, a.width, a.eps, x, sums);
  }

  const Vector<T, kChunks> vector(x);
  int index = 0;
  for (int pair = first; pair < pairs; pair += stride, ++index) {
    const Turn turn = next_turn;
    next_turn = Turn(a, QkvPair<T>(pair + stride, a.head_dim), position);
    const float2 product = stream.dot(index, vector);
    issue(stream, index + kQkvAhead);
    const float2 sum = warp_sum(product);
    if (threadIdx.x % kWarpLanes == 0) {
      write_pair(a, QkvPair<T>(pair, a.head_dim), turn, sum.x * scale, sum.y * scale, position);
    }
  }
}

}  // namespace profline::workload::fast
