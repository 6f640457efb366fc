#include "workload/fast/kernels/decode_step.h"
#include "workload/fast/kernels/internal/attention.cuh"
#include "workload/fast/kernels/internal/head.cuh"

namespace profline::workload::fast {
namespace {

constexpr int kChoiceThreads = 256;
constexpr int kBanThreads = 1024;

/// The best of all blocks becomes the next token.
__global__ void __launch_bounds__(kChoiceThreads) decode_choose(const DecodeBuffers b, int blocks) {
  __shared__ float values[kChoiceThreads / kWarpLanes];
  __shared__ int ids[kChoiceThreads / kWarpLanes];
  wait_for_kernel_before();
  Best best;
  for (int i = static_cast<int>(threadIdx.x); i < blocks; i += kChoiceThreads) {
    best.offer(b.best_values[i], b.best_ids[i]);
  }
  best = block_best(best, values, ids);
  if (threadIdx.x != 0 || b.state->done != 0) return;
  // All banned, or all NaN: the first id, as in the reference.
  const int token = best.value == -INFINITY ? 0 : best.id;
  const int position = b.state->position + 1;
  b.history[position] = token;
  b.out_ids[position] = token;
  b.state->position = position;
  b.state->token = token;
  b.state->stamp += 1;
  b.state->done = token == b.rules->eos_id ? 1 : 0;
}

__global__ void __launch_bounds__(kBanThreads) mark_prompt_bans(const DecodeBuffers b) {
  mark_banned(b.history, b.rules->ngram_size, b.banned_at, b.state);
}

__global__ void __launch_bounds__(kThreads) rank_logits(const DecodeBuffers b, int vocabulary) {
  __shared__ float values[kWarps];
  __shared__ int ids[kWarps];
  const int stamp = b.state->stamp;
  const int stride = static_cast<int>(gridDim.x) * kThreads;
  Best best;
  for (int id = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
       id < vocabulary; id += stride) {
    if (b.banned_at[id] != stamp) best.offer(b.logits[id], id);
  }
  best = block_best(best, values, ids);
  if (threadIdx.x == 0) {
    b.best_values[blockIdx.x] = best.value;
    b.best_ids[blockIdx.x] = best.id;
  }
}

__global__ void force_token(const DecodeBuffers b, const std::int64_t* token) {
  b.state->token = static_cast<int>(*token);
  b.history[b.state->position] = static_cast<int>(*token);
}

__global__ void begin_sequence(const DecodeBuffers b, int position, ChoiceRules rules) {
  b.state->position = position;
  b.state->stamp += 1;
  b.state->done = 0;
  *b.rules = rules;
}

}  // namespace

int head_blocks(int sms) {
  return sms;
}

cudaError_t launch_choice(const DecodePlan& plan, cudaStream_t stream) {
  return launch(decode_choose, 1, kChoiceThreads, 0, stream, plan.overlap, plan.buffers,
                head_blocks(plan.sms));
}

cudaError_t launch_ban_and_rank(const DecodePlan& plan, cudaStream_t stream) {
  PL_CUDA_TRY(launch(mark_prompt_bans, 1, kBanThreads, 0, stream, false, plan.buffers));
  return launch(rank_logits, static_cast<unsigned>(head_blocks(plan.sms)), kThreads, 0, stream,
                false, plan.buffers, plan.shape.vocabulary);
}

cudaError_t launch_begin(const DecodePlan& plan, int position, ChoiceRules rules,
                         cudaStream_t stream) {
  return launch(begin_sequence, 1, 1, 0, stream, false, plan.buffers, position, rules);
}

cudaError_t launch_force_token(const DecodePlan& plan, const std::int64_t* token,
                               cudaStream_t stream) {
  return launch(force_token, 1, 1, 0, stream, false, plan.buffers, token);
}

}  // namespace profline::workload::fast
