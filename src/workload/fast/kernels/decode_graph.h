#pragma once

#include <cuda_runtime_api.h>

#include "workload/fast/kernels/decode_model.h"

namespace profline::workload::fast {

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
