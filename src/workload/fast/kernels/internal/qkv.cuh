#pragma once

#include <cstddef>
#include <cstdint>

#include "workload/fast/kernels/internal/device_primitives.cuh"
#include "workload/fast/kernels/internal/launch.cuh"

namespace profline::workload::fast {

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
