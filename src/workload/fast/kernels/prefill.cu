#include <algorithm>

#include "workload/fast/kernels/internal/device_primitives.cuh"
#include "workload/fast/kernels/internal/experts.cuh"
#include "workload/fast/kernels/prefill.h"

namespace profline::workload::fast {
namespace {

constexpr int kRouteTokens = 8;  // per block

unsigned ceil_div(std::int64_t a, std::int64_t b) {
  return static_cast<unsigned>((a + b - 1) / b);
}

template <typename T>
__device__ void pack(const float (&values)[kPerWord<T>], T* to) {
  alignas(sizeof(Word)) T packed[kPerWord<T>];
#pragma unroll
  for (int i = 0; i < kPerWord<T>; ++i) store(packed + i, values[i]);
  *reinterpret_cast<Word*>(to) = *reinterpret_cast<const Word*>(packed);
}
template <typename T>
__device__ void load(const T* from, float (&values)[kPerWord<T>]) {
  unpack(*reinterpret_cast<const Word*>(from), values);
}

/// A thread rotates a word of a head's first half with its partner in the second.
template <typename T>
__global__ void __launch_bounds__(kThreads) prefill_rope(const RopeStep a) {
  const int half = a.head_dim / 2;
  const int half_words = half / kPerWord<T>;
  const int head_count = a.heads + 2 * a.kv_heads;
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int word = static_cast<int>(at % half_words);
  const int head = static_cast<int>(at / half_words % head_count);
  const int token = static_cast<int>(at / half_words / head_count);
  if (token >= a.tokens) return;
  const int i = word * kPerWord<T>;
  const T* from = static_cast<const T*>(a.qkv) +
                  (static_cast<std::int64_t>(token) * head_count + head) * a.head_dim + i;
  float first[kPerWord<T>];
  float second[kPerWord<T>];
  load(from, first);
  load(from + half, second);
  const bool is_value = head >= a.heads + a.kv_heads;
  if (!is_value) {
#pragma unroll
    for (int n = 0; n < kPerWord<T>; ++n) {
      const float cos = a.cos[static_cast<std::int64_t>(token) * half + i + n];
      const float sin = a.sin[static_cast<std::int64_t>(token) * half + i + n];
      const float turned = first[n] * cos - second[n] * sin;
      second[n] = second[n] * cos + first[n] * sin;
      first[n] = turned;
    }
  }
  T* base = static_cast<T*>(a.queries);
  int row_head = head;
  int rows = a.tokens;
  if (head >= a.heads) {
    base = static_cast<T*>(is_value ? a.values : a.keys);
    row_head = head - a.heads - (is_value ? a.kv_heads : 0);
    rows = a.capacity;
  }
  T* to = base + (static_cast<std::int64_t>(row_head) * rows + token) * a.head_dim + i;
  pack<T>(first, to);
  pack<T>(second, to + half);
}

/// Loads the block's tokens into shared memory, [D, kRouteTokens] fp32, with zeros for absent ones.
/// Neighbouring threads have neighbouring tokens, so their stores are adjacent.
template <typename T>
__device__ void load_tokens(const RouteStep& a, int first, float* x) {
  const int words = kRouteTokens * words_of<T>(a.width);
  constexpr int kBatch = 4;
  for (int from = static_cast<int>(threadIdx.x); from < words; from += kBatch * kThreads) {
    Word batch[kBatch];
#pragma unroll
    for (int n = 0; n < kBatch; ++n) {
      const int i = from + n * kThreads;
      const int token = first + i % kRouteTokens;
      const bool wanted = i < words && token < a.tokens;
      const T* row = static_cast<const T*>(a.x) + static_cast<std::int64_t>(token) * a.width;
      batch[n] = wanted ? reinterpret_cast<const Word*>(row)[i / kRouteTokens] : Word{0, 0, 0, 0};
    }
#pragma unroll
    for (int n = 0; n < kBatch; ++n) {
      const int i = from + n * kThreads;
      if (i >= words) break;
      float values[kPerWord<T>];
      unpack(batch[n], values);
      const int column = i / kRouteTokens * kPerWord<T>;
#pragma unroll
      for (int k = 0; k < kPerWord<T>; ++k) {
        x[(column + k) * kRouteTokens + i % kRouteTokens] = values[k];
      }
    }
  }
}

__device__ inline void add_scaled(const float4& row, float factor, float4& sum) {
  sum.x = fmaf(row.x, factor, sum.x);
  sum.y = fmaf(row.y, factor, sum.y);
  sum.z = fmaf(row.z, factor, sum.z);
  sum.w = fmaf(row.w, factor, sum.w);
}

/// A thread's path down the router's columns, four experts wide. kAhead of its rows are always in
/// flight to shared memory, where only this thread reads them: the compiler would move loads into
/// registers next to their use, one at a time.
class RouterColumns {
 public:
  static constexpr int kAhead = 8;

  __device__ RouterColumns(const RouteStep& a, Word* slots)
      : slots_(slots + threadIdx.x),
        groups_(kThreads / (a.expert_count / 4)),
        group_(static_cast<int>(threadIdx.x) / (a.expert_count / 4)),
        expert_(static_cast<int>(threadIdx.x) % (a.expert_count / 4) * 4),
        width_(group_ < groups_ ? a.width : 0),
        router_(a.router + expert_),
        stride_(a.expert_count) {
    for (int n = 0; n < kAhead; ++n) ask(n);
  }

  __device__ int groups() const { return groups_; }
  __device__ bool has_columns() const { return width_ > 0; }
  /// Index in [groups, kRouteTokens, E].
  __device__ int place(int token) const {
    return (group_ * kRouteTokens + token) * stride_ + expert_;
  }

  /// Sums of the experts' logits over this thread's columns, for tokens x [D, kRouteTokens].
  __device__ void multiply(const float* x, float4 (&sums)[kRouteTokens]) {
    for (int n = 0; column(n) < width_; ++n) {
      wait_for_groups<kAhead - 1>();
      const float4 row = *reinterpret_cast<const float4*>(slots_ + n % kAhead * kThreads);
#pragma unroll
      for (int t = 0; t < kRouteTokens; t += 4) {
        const float4 four = load_four(x + column(n) * kRouteTokens + t);
        add_scaled(row, four.x, sums[t]);
        add_scaled(row, four.y, sums[t + 1]);
        add_scaled(row, four.z, sums[t + 2]);
        add_scaled(row, four.w, sums[t + 3]);
      }
      ask(n + kAhead);
    }
  }

 private:
  __device__ int column(int n) const {
    return group_ + n * groups_;
  }
  __device__ void ask(int n) {
    if (column(n) < width_) {
      const float* row = router_ + static_cast<std::int64_t>(column(n)) * stride_;
      copy_async(slots_ + n % kAhead * kThreads, reinterpret_cast<const Word*>(row));
    }
    end_group();
  }

  Word* slots_;
  int groups_, group_, expert_, width_;
  const float* router_;
  int stride_;
};

/// Room for all threads' rows in flight and, after them, for all their sums.
constexpr int kRouteWords = kThreads * std::max(RouterColumns::kAhead, kRouteTokens);

/// A thread sums four experts' logits of all the block's tokens over a part of the columns; then a
/// warp chooses for each token.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    prefill_route(const RouteStep a, const RoutingRule rule) {
  extern __shared__ Word shared[];
  __shared__ float logits[kRouteTokens][kMaxExperts];
  __shared__ WarpRouting routings[kWarps];
  static_assert(kRouteTokens == kWarps, "a warp for each token");
  float* parts = reinterpret_cast<float*>(shared);  // [groups, kRouteTokens, E]
  float* x = parts + kRouteWords * 4;               // [D, kRouteTokens]
  const int first = static_cast<int>(blockIdx.x) * kRouteTokens;
  RouterColumns columns(a, shared);
  load_tokens<T>(a, first, x);
  __syncthreads();
  float4 sums[kRouteTokens] = {};
  columns.multiply(x, sums);
  __syncthreads();  // the sums overwrite the rows, which must no longer be read
  if (columns.has_columns()) {
#pragma unroll
    for (int t = 0; t < kRouteTokens; ++t) {
      *reinterpret_cast<float4*>(parts + columns.place(t)) = sums[t];
    }
  }
  __syncthreads();
  const int groups = columns.groups();
  for (int i = static_cast<int>(threadIdx.x); i < kRouteTokens * a.expert_count; i += kThreads) {
    float sum = 0;
#pragma unroll 8
    for (int g = 0; g < groups; ++g) sum += parts[g * kRouteTokens * a.expert_count + i];
    logits[i / a.expert_count][i % a.expert_count] = sum;
  }
  __syncthreads();
  const int warp = static_cast<int>(threadIdx.x) / kWarpLanes;
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  if (first + warp >= a.tokens) return;
  choose_experts(logits[warp], rule, routings[warp]);
  if (lane < a.experts_per_token) {
    const std::int64_t place = static_cast<std::int64_t>(first + warp) * a.experts_per_token + lane;
    a.experts[place] = routings[warp].experts[lane];
    a.weights[place] = routings[warp].weights[lane];
  }
}

/// One block per expert: counts the assignments before it, then numbers its own in order.
__global__ void __launch_bounds__(kThreads) prefill_order(const GroupStep a) {
  __shared__ int before[kWarps];
  __shared__ int mine[kWarps];
  const int expert = static_cast<int>(blockIdx.x);
  const int count = a.tokens * a.experts_per_token;
  const int warp = static_cast<int>(threadIdx.x) / kWarpLanes;
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  int lower = 0;
  int equal = 0;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) {
    lower += a.experts[i] < expert ? 1 : 0;
    equal += a.experts[i] == expert ? 1 : 0;
  }
  lower = __reduce_add_sync(kAllLanes, lower);
  equal = __reduce_add_sync(kAllLanes, equal);
  if (lane == 0) {
    before[warp] = lower;
    mine[warp] = equal;
  }
  __syncthreads();
  int next = 0;
  int own = 0;
  for (int i = 0; i < kWarps; ++i) {
    next += before[i];
    own += mine[i];
  }
  if (threadIdx.x == 0) a.ends[expert] = next + own;
  for (int from = 0; from < count; from += kThreads) {
    const int i = from + static_cast<int>(threadIdx.x);
    const bool is_mine = i < count && a.experts[i] == expert;
    const unsigned holders = __ballot_sync(kAllLanes, is_mine);
    __syncthreads();  // the previous round has read its counts
    if (lane == 0) mine[warp] = __popc(holders);
    __syncthreads();
    int place = next + __popc(holders & ((1U << static_cast<unsigned>(lane)) - 1U));
    for (int w = 0; w < kWarps; ++w) {
      if (w < warp) place += mine[w];
      next += mine[w];
    }
    if (is_mine) a.places[i] = place;
  }
}

/// One block per assignment: copies its token's row to its place.
__global__ void __launch_bounds__(kThreads) prefill_gather(const GroupStep a, int row_words) {
  const int assignment = static_cast<int>(blockIdx.x);
  const Word* from = static_cast<const Word*>(a.x) +
                     static_cast<std::int64_t>(assignment / a.experts_per_token) * row_words;
  Word* to =
      static_cast<Word*>(a.rows) + static_cast<std::int64_t>(a.places[assignment]) * row_words;
  for (int i = static_cast<int>(threadIdx.x); i < row_words; i += kThreads) to[i] = from[i];
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    prefill_swiglu(const T* gate_up, T* out, std::int64_t words, int inner) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (at >= words) return;
  const int row_words = inner / kPerWord<T>;
  const std::int64_t row = at / row_words;
  const int column = static_cast<int>(at % row_words) * kPerWord<T>;
  float gate[kPerWord<T>];
  float up[kPerWord<T>];
  load(gate_up + row * 2 * inner + column, gate);
  load(gate_up + row * 2 * inner + inner + column, up);
#pragma unroll
  for (int i = 0; i < kPerWord<T>; ++i) gate[i] = gate[i] / (1.0F + expf(-gate[i])) * up[i];
  pack<T>(gate, out + row * inner + column);
}

/// One block per token.
template <typename T>
__global__ void __launch_bounds__(kThreads) prefill_combine(const CombineStep a) {
  const std::int64_t token = blockIdx.x;
  for (int column = static_cast<int>(threadIdx.x) * kPerWord<T>; column < a.width;
       column += kThreads * kPerWord<T>) {
    float sum[kPerWord<T>];
    float term[kPerWord<T>];
    load(static_cast<const T*>(a.hidden) + token * a.width + column, sum);
    load(static_cast<const T*>(a.shared) + token * a.width + column, term);
#pragma unroll
    for (int i = 0; i < kPerWord<T>; ++i) sum[i] += term[i];
    for (int chosen = 0; chosen < a.experts_per_token; ++chosen) {
      const std::int64_t assignment = token * a.experts_per_token + chosen;
      const float weight = a.weights[assignment];
      load(static_cast<const T*>(a.by_expert) +
               static_cast<std::int64_t>(a.places[assignment]) * a.width + column,
           term);
#pragma unroll
      for (int i = 0; i < kPerWord<T>; ++i) sum[i] = fmaf(weight, term[i], sum[i]);
    }
    pack<T>(sum, static_cast<T*>(a.out) + token * a.width + column);
  }
}

template <typename T>
cudaError_t rope(const RopeStep& step, cudaStream_t stream) {
  const std::int64_t threads = static_cast<std::int64_t>(step.tokens) *
                               (step.heads + 2 * step.kv_heads) * (step.head_dim / 2 / kPerWord<T>);
  return launch(prefill_rope<T>, ceil_div(threads, kThreads), kThreads, 0, stream, false, step);
}

template <typename T>
cudaError_t route(const RouteStep& step, cudaStream_t stream) {
  const RoutingRule rule{step.expert_count, step.experts_per_token, step.scaling, step.normalise};
  const std::size_t bytes = sizeof(Word) * kRouteWords +
                            sizeof(float) * kRouteTokens * static_cast<std::size_t>(step.width);
  PL_CUDA_TRY(allow_shared(prefill_route<T>, bytes));
  return launch(prefill_route<T>, ceil_div(step.tokens, kRouteTokens), kThreads, bytes, stream,
                false, step, rule);
}

template <typename T>
cudaError_t group(const GroupStep& step, cudaStream_t stream) {
  PL_CUDA_TRY(launch(prefill_order, static_cast<unsigned>(step.expert_count), kThreads, 0, stream,
                     false, step));
  return launch(prefill_gather, static_cast<unsigned>(step.tokens * step.experts_per_token),
                kThreads, 0, stream, false, step, words_of<T>(step.width));
}

template <typename T>
cudaError_t swiglu(const void* gate_up, void* out, int rows, int inner, cudaStream_t stream) {
  const std::int64_t words = static_cast<std::int64_t>(rows) * words_of<T>(inner);
  return launch(prefill_swiglu<T>, ceil_div(words, kThreads), kThreads, 0, stream, false,
                static_cast<const T*>(gate_up), static_cast<T*>(out), words, inner);
}

template <typename T>
cudaError_t combine(const CombineStep& step, cudaStream_t stream) {
  return launch(prefill_combine<T>, static_cast<unsigned>(step.tokens), kThreads, 0, stream, false,
                step);
}

}  // namespace

cudaError_t launch_rope(const RopeStep& step, Stored stored, cudaStream_t stream) {
  return stored == Stored::Bf16 ? rope<__nv_bfloat16>(step, stream) : rope<float>(step, stream);
}

cudaError_t launch_route(const RouteStep& step, Stored stored, cudaStream_t stream) {
  return stored == Stored::Bf16 ? route<__nv_bfloat16>(step, stream) : route<float>(step, stream);
}

cudaError_t launch_group(const GroupStep& step, Stored stored, cudaStream_t stream) {
  return stored == Stored::Bf16 ? group<__nv_bfloat16>(step, stream) : group<float>(step, stream);
}

cudaError_t launch_swiglu(const void* gate_up, void* out, int rows, int inner, Stored stored,
                          cudaStream_t stream) {
  return stored == Stored::Bf16 ? swiglu<__nv_bfloat16>(gate_up, out, rows, inner, stream)
                                : swiglu<float>(gate_up, out, rows, inner, stream);
}

cudaError_t launch_combine(const CombineStep& step, Stored stored, cudaStream_t stream) {
  return stored == Stored::Bf16 ? combine<__nv_bfloat16>(step, stream)
                                : combine<float>(step, stream);
}

}  // namespace profline::workload::fast
