#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "workload/fast/kernels/decode_model.h"

namespace profline::workload::fast {

/// Why these kernels cannot run a model of this shape; null if they can.
const char* cannot_decode(const DecodeShape& shape, Stored stored);
/// Raises the kernels' shared memory limits on the current device; call once before they run.
cudaError_t prepare_decode(const DecodePlan& plan);

/// Begins a sequence whose tokens up to `position` are in history; the logits of the last one come
/// next.
cudaError_t launch_begin(const DecodePlan& plan, int position, ChoiceRules rules,
                         cudaStream_t stream);

/// Runs one token through the whole model: reads state.token at state.position, appends its keys
/// and values, writes logits. Banned ids are marked on the way.
cudaError_t launch_step(const DecodePlan& plan, cudaStream_t stream);
/// From logits and bans to the next token: advances history, state and out_ids by one.
cudaError_t launch_choice(const DecodePlan& plan, cudaStream_t stream);

/// Marks what the n-gram rule bans and finds the likeliest of the rest in `logits`, for logits that
/// no step computed: those of a prompt. launch_choice must follow.
cudaError_t launch_ban_and_rank(const DecodePlan& plan, cudaStream_t stream);
/// Sets the newest token to this one, [1] on the device, whatever was chosen.
cudaError_t launch_force_token(const DecodePlan& plan, const std::int64_t* token,
                               cudaStream_t stream);

/// A decode step and the choice after it as one CUDA graph: positions and lengths are read on the
/// device, so the same graph serves every token as long as the plan's memory stays in place.
class DecodeGraph {
 public:
  DecodeGraph() = default;
  DecodeGraph(const DecodeGraph&) = delete;
  DecodeGraph& operator=(const DecodeGraph&) = delete;
  ~DecodeGraph() { reset(); }

  /// Replaces the previous capture.
  cudaError_t capture(const DecodePlan& plan);
  cudaError_t launch(cudaStream_t stream) const { return cudaGraphLaunch(graph_, stream); }
  void reset();

 private:
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace profline::workload::fast
