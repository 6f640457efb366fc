#pragma once

#include <cstdint>

#include "workload/fast/kernels/internal/device_primitives.cuh"

namespace profline::workload::fast {

/// Attention of one query to all previous keys, with each head's keys cut into splits; the next
/// kernel combines the results of the splits.
struct AttentionArguments {
  const float* queries;  // [H d]
  const void* keys;      // [K, capacity, d]
  const void* values;
  float* attended;  // [splits, H d], not divided by the sum
  float* maxima;    // [splits, H], of scores in base 2
  float* sums;      // [splits, H]
  DecodeState* state;
  int heads, kv_heads, head_dim, capacity, splits;
  float scale;  // of scores, including log2(e)
  // Only in the first layer, whose extra block marks what the n-gram rule bans; else null.
  const int* history;
  const ChoiceRules* rules;
  int* banned_at;
};

constexpr int kAttentionThreads = 256;

/// The number of keys that a block processes at once; a split is a multiple of it.
constexpr int kKeysAtOnce = 64;

/// The number of keys, without the newest one, in each split, and the number of splits. The newest
/// key belongs to the last split.
struct Splits {
  int keys, count;

  __host__ __device__ Splits(int earlier_keys, int most) {
    const int even = (earlier_keys + most - 1) / most;
    keys = even <= kKeysAtOnce ? kKeysAtOnce : (even + kKeysAtOnce - 1) / kKeysAtOnce * kKeysAtOnce;
    count = earlier_keys == 0 ? 1 : (earlier_keys + keys - 1) / keys;
  }
};

/// Marks, with the state's stamp, each id that followed an earlier occurrence of the last n − 1
/// ids.
__device__ inline void mark_banned(const int* history, int size, int* banned_at,
                                   DecodeState* state) {
  const int length = state->position + 1;
  const int stamp = state->stamp;
  if (size == 0 || length + 1 < size) return;
  const int* tail = history + length - (size - 1);
  for (int place = size - 1 + static_cast<int>(threadIdx.x); place < length;
       place += static_cast<int>(blockDim.x)) {
    const int* earlier = history + place - (size - 1);
    int i = size - 2;  // from the end, where they differ soonest
    while (i >= 0 && earlier[i] == tail[i]) --i;
    if (i < 0) {
      banned_at[history[place]] = stamp;
      state->banned = stamp;
    }
  }
}

/// Softmax-weighted values so far, for one group of lanes; a lane has kPerWord<T> of the head's
/// elements.
template <typename T>
struct Attended {
  float max = -INFINITY;
  float sum = 0;
  float values[kPerWord<T>] = {};

  /// A score of −∞ stands for an absent key.
  template <int kCount>
  __device__ void add(const float (&scores)[kCount], const Word (&words)[kCount]) {
    float larger = max;
#pragma unroll
    for (int k = 0; k < kCount; ++k) larger = fmaxf(larger, scores[k]);
    const float base = larger == -INFINITY ? 0.0F : larger;
    const float keep = quick_exp2(max - base);
    max = larger;
    sum *= keep;
#pragma unroll
    for (int i = 0; i < kPerWord<T>; ++i) values[i] *= keep;
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      const float weight = quick_exp2(scores[k] - base);
      float value[kPerWord<T>];
      unpack(words[k], value);
#pragma unroll
      for (int i = 0; i < kPerWord<T>; ++i) values[i] = fmaf(weight, value[i], values[i]);
      sum += weight;
    }
  }
};

/// kLanes lanes hold a key: head_dim elements, one word each.
template <typename T, int kLanes>
__global__ void __launch_bounds__(kAttentionThreads) decode_attention(const AttentionArguments a) {
  constexpr int kGroups = kAttentionThreads / kLanes;
  constexpr int kBatch =
      kKeysAtOnce * kLanes / kAttentionThreads > 0 ? kKeysAtOnce * kLanes / kAttentionThreads : 1;
  __shared__ float group_max[kGroups];
  __shared__ float group_sum[kGroups];
  __shared__ float group_values[kGroups][kLanes * kPerWord<T> + 1];

  const int position = a.state->position;
  if (static_cast<int>(blockIdx.x) == a.heads) {
    let_next_kernel_begin();
    wait_for_kernel_before();
    if (blockIdx.y == 0) {
      mark_banned(a.history, a.rules->ngram_size, a.banned_at, a.state);
    }
    return;
  }
  const Splits splits(position, a.splits);
  const int head = static_cast<int>(blockIdx.x);
  const int split = static_cast<int>(blockIdx.y);
  if (split >= splits.count) return;

  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int group = static_cast<int>(threadIdx.x) / kLanes;
  const int kv_head = head / (a.heads / a.kv_heads);
  const std::int64_t head_words = static_cast<std::int64_t>(kv_head) * a.capacity * kLanes;
  const Word* keys = static_cast<const Word*>(a.keys) + head_words + lane;
  const Word* values = static_cast<const Word*>(a.values) + head_words + lane;
  const int begin = split * splits.keys;
  const int end = min(position, begin + splits.keys);

  Word key_words[kBatch] = {};
  Word value_words[kBatch] = {};
  const auto load = [&](const Word* from, Word(&words)[kBatch], int first) {
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const int key = first + group + i * kGroups;
      if (key < end) words[i] = from[static_cast<std::int64_t>(key) * kLanes];
    }
  };
  // Keys of earlier tokens do not depend on the previous kernel.
  load(keys, key_words, begin);
  load(values, value_words, begin);
  let_next_kernel_begin();
  wait_for_kernel_before();

  const bool has_newest = split == splits.count - 1;
  Word newest_key = {};
  Word newest_value = {};
  if (has_newest && group == 0) {
    newest_key = keys[static_cast<std::int64_t>(position) * kLanes];
    newest_value = values[static_cast<std::int64_t>(position) * kLanes];
  }
  float query[kPerWord<T>];
#pragma unroll
  for (int i = 0; i < kPerWord<T>; ++i) {
    query[i] = a.queries[head * a.head_dim + lane * kPerWord<T> + i] * a.scale;
  }
  const auto score = [&](const Word& word) {
    float key[kPerWord<T>];
    unpack(word, key);
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kPerWord<T>; ++i) sum = fmaf(query[i], key[i], sum);
#pragma unroll
    for (int step = kLanes / 2; step > 0; step /= 2) sum += __shfl_xor_sync(kAllLanes, sum, step);
    return sum;
  };

  Attended<T> attended;
  for (int from = begin; from < end; from += kBatch * kGroups) {
    float scores[kBatch];
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const float found = score(key_words[i]);
      scores[i] = from + group + i * kGroups < end ? found : -INFINITY;
    }
    load(keys, key_words, from + kBatch * kGroups);
    attended.add(scores, value_words);
    load(values, value_words, from + kBatch * kGroups);
  }
  if (has_newest) {
    const float newest[] = {score(newest_key)};
    const Word newest_values[] = {newest_value};
    if (group == 0) attended.add(newest, newest_values);
  }

#pragma unroll
  for (int i = 0; i < kPerWord<T>; ++i) {
    group_values[group][lane * kPerWord<T> + i] = attended.values[i];
  }
  if (lane == 0) {
    group_max[group] = attended.max;
    group_sum[group] = attended.sum;
  }
  __syncthreads();
  float max = -INFINITY;
  for (int g = 0; g < kGroups; ++g) max = fmaxf(max, group_max[g]);
  for (int i = static_cast<int>(threadIdx.x); i < a.head_dim; i += kAttentionThreads) {
    float sum = 0;
    for (int g = 0; g < kGroups; ++g)
      sum = fmaf(quick_exp2(group_max[g] - max), group_values[g][i], sum);
    a.attended[(static_cast<std::int64_t>(split) * a.heads + head) * a.head_dim + i] = sum;
  }
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int g = 0; g < kGroups; ++g) sum = fmaf(quick_exp2(group_max[g] - max), group_sum[g], sum);
    a.maxima[split * a.heads + head] = max;
    a.sums[split * a.heads + head] = sum;
  }
}

}  // namespace profline::workload::fast
