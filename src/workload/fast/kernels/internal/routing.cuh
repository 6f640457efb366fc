#pragma once

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

}  // namespace profline::workload::fast
