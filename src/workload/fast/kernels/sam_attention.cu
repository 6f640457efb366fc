#include "workload/fast/kernels/internal/device_primitives.cuh"
#include "workload/fast/kernels/prefill.h"

namespace profline::workload::fast {
namespace {

/// The index of a window's token among all tokens of the maps, or that of the padding.
__device__ std::int64_t token_of(const SamWindows& w, int window, int row, int column) {
  const int across = (w.side + w.window - 1) / w.window;
  const int map = window / (across * across);
  const int y = window / across % across * w.window + row;
  const int x = window % across * w.window + column;
  const std::int64_t padding = static_cast<std::int64_t>(w.maps) * w.side * w.side;
  if (y >= w.side || x >= w.side) return padding;
  return (static_cast<std::int64_t>(map) * w.side + y) * w.side + x;
}

/// A thread computes one word of a query and of its key, and of the value if there is one.
template <typename T>
__global__ void __launch_bounds__(kThreads) sam_pack(const SamPack a, std::int64_t words) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (at >= words) return;
  const SamWindows& w = a.windows;
  const int row_words = a.length / kPerWord<T>;
  const int head_words = w.head_dim / kPerWord<T>;
  const int word = static_cast<int>(at % row_words);
  const std::int64_t place = at / row_words;  // [window, head, token]
  const int tokens = w.window * w.window;
  const int token = static_cast<int>(place % tokens);
  const int head = static_cast<int>(place / tokens % w.heads);
  const int window = static_cast<int>(place / tokens / w.heads);
  const int row = token / w.window;
  const int column = token % w.window;
  const std::int64_t source = token_of(w, window, row, column);

  Word* queries = static_cast<Word*>(a.queries);
  Word* keys = static_cast<Word*>(a.keys);
  if (word < head_words) {
    const std::int64_t from = (source * 3 * w.heads + head) * head_words + word;
    const std::int64_t next = static_cast<std::int64_t>(w.heads) * head_words;
    const Word* qkv = static_cast<const Word*>(a.qkv);
    queries[at] = qkv[from];
    keys[at] = qkv[from + next];
    static_cast<Word*>(a.values)[place * head_words + word] = qkv[from + 2 * next];
    return;
  }
  const std::int64_t padding = static_cast<std::int64_t>(w.maps) * w.side * w.side;
  const T* products =
      static_cast<const T*>(a.products) + (head * (padding + 1) + source) * (4 * w.window);
  alignas(sizeof(Word)) T query[kPerWord<T>];
  alignas(sizeof(Word)) T key[kPerWord<T>];
#pragma unroll
  for (int i = 0; i < kPerWord<T>; ++i) {
    const int other = (word - head_words) * kPerWord<T> + i;  // key row, then key column
    const bool is_column = other >= w.window;
    const int theirs = is_column ? other - w.window : other;
    const int mine = is_column ? column : row;
    const bool is_there = other < 2 * w.window;
    const int product = (is_column ? 2 * w.window - 1 : 0) + mine - theirs + w.window - 1;
    store(query + i, is_there ? widen(products[product]) : 0.0F);
    store(key + i, is_there && theirs == mine ? 1.0F : 0.0F);
  }
  queries[at] = *reinterpret_cast<const Word*>(query);
  keys[at] = *reinterpret_cast<const Word*>(key);
}

/// A thread copies one word.
__global__ void __launch_bounds__(kThreads)
    sam_unpack(const SamWindows w, const Word* attended, Word* tokens, int head_words,
               std::int64_t words) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (at >= words) return;
  const int across = (w.side + w.window - 1) / w.window;
  const int word = static_cast<int>(at % head_words);
  const int head = static_cast<int>(at / head_words % w.heads);
  const std::int64_t token = at / head_words / w.heads;
  const int x = static_cast<int>(token % w.side);
  const int y = static_cast<int>(token / w.side % w.side);
  const int map = static_cast<int>(token / w.side / w.side);
  const int window = (map * across + y / w.window) * across + x / w.window;
  const int inside = y % w.window * w.window + x % w.window;
  const std::int64_t from =
      ((static_cast<std::int64_t>(window) * w.heads + head) * w.window * w.window + inside) *
          head_words +
      word;
  tokens[at] = attended[from];
}

template <typename T>
cudaError_t pack_as(const SamPack& pack, cudaStream_t stream) {
  const SamWindows& w = pack.windows;
  const std::int64_t words = static_cast<std::int64_t>(w.count()) * w.heads * w.window * w.window *
                             words_of<T>(pack.length);
  const auto blocks = static_cast<unsigned>((words + kThreads - 1) / kThreads);
  return launch(sam_pack<T>, blocks, kThreads, 0, stream, false, pack, words);
}

}  // namespace

cudaError_t launch_sam_pack(const SamPack& pack, Stored stored, cudaStream_t stream) {
  return stored == Stored::Bf16 ? pack_as<__nv_bfloat16>(pack, stream)
                                : pack_as<float>(pack, stream);
}

cudaError_t launch_sam_unpack(const SamWindows& windows, const void* attended, void* tokens,
                              Stored stored, cudaStream_t stream) {
  const int head_words = stored == Stored::Bf16 ? words_of<__nv_bfloat16>(windows.head_dim)
                                                : words_of<float>(windows.head_dim);
  const std::int64_t words = static_cast<std::int64_t>(windows.maps) * windows.side * windows.side *
                             windows.heads * head_words;
  const auto blocks = static_cast<unsigned>((words + kThreads - 1) / kThreads);
  return launch(sam_unpack, blocks, kThreads, 0, stream, false, windows,
                static_cast<const Word*>(attended), static_cast<Word*>(tokens), head_words, words);
}

}  // namespace profline::workload::fast
