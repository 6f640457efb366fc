#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "workload/fast/kernels/decode_model.h"

namespace profline::workload::fast {

/// Why no kernel here can run a model of this shape; null when they can.
const char* cannot_decode(const DecodeShape& shape, Stored stored);
/// Raises the kernels' limits of shared memory on the current device; once, before they run.
cudaError_t prepare_decode(const DecodePlan& plan);

/// A sequence begins whose tokens up to `position` are in history; its last one's logits come next.
cudaError_t launch_begin(const DecodePlan& plan, int position, ChoiceRules rules,
                         cudaStream_t stream);

/// One token through the whole model: reads state.token at state.position, appends its keys and
/// values, leaves logits. Banned ids are marked on the way.
cudaError_t launch_step(const DecodePlan& plan, cudaStream_t stream);
/// From logits and bans to the next token: history, state and out_ids go on by one.
cudaError_t launch_choice(const DecodePlan& plan, cudaStream_t stream);

/// Marks what the n-gram rule bans, and finds the likeliest of the rest in `logits`, for logits
/// that no step has made: those of a prompt. launch_choice comes next.
cudaError_t launch_ban_and_rank(const DecodePlan& plan, cudaStream_t stream);
/// The newest token is this one, [1] on the device, whatever was chosen.
cudaError_t launch_force_token(const DecodePlan& plan, const std::int64_t* token,
                               cudaStream_t stream);

/// A decode step and the choice behind it as one CUDA graph: positions and lengths are read on the
/// device, so the same graph serves every token as long as the plan's memory stays where it is.
class DecodeGraph {
 public:
  DecodeGraph() = default;
  DecodeGraph(const DecodeGraph&) = delete;
  DecodeGraph& operator=(const DecodeGraph&) = delete;
  ~DecodeGraph() { reset(); }

  /// Replaces what was captured before.
  cudaError_t capture(const DecodePlan& plan);
  cudaError_t launch(cudaStream_t stream) const { return cudaGraphLaunch(graph_, stream); }
  void reset();

 private:
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace profline::workload::fast
