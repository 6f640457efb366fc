#include "workload/fast/kernels/decode_graph.h"
#include "workload/fast/kernels/decode_step.h"
#include "workload/fast/kernels/launch.cuh"

namespace profline::workload::fast {
namespace {

cudaError_t capture_step(const DecodePlan& plan, cudaStream_t stream, cudaGraph_t* graph) {
  // Thread-local: what other threads of the process do meanwhile is none of our business.
  PL_CUDA_TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  cudaError_t status = launch_step(plan, stream);
  if (status == cudaSuccess) status = launch_choice(plan, stream);
  const cudaError_t ended = cudaStreamEndCapture(stream, graph);
  return status != cudaSuccess ? status : ended;
}

}  // namespace

void DecodeGraph::reset() {
  if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
  graph_ = nullptr;
}

cudaError_t DecodeGraph::capture(const DecodePlan& plan) {
  reset();
  cudaStream_t stream = nullptr;
  PL_CUDA_TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaGraph_t graph = nullptr;
  cudaError_t status = capture_step(plan, stream, &graph);
  if (status == cudaSuccess) status = cudaGraphInstantiateWithFlags(&graph_, graph, 0);
  if (graph != nullptr) cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  return status;
}

}  // namespace profline::workload::fast
