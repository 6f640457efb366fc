#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAGraph.h>

namespace profline::workload::fast {

/// Computations of a few shapes, replayed as CUDA graphs: hundreds of launches become one. What is
/// met for the first time is run as it is, the second time captured, from then on replayed.
class GraphCache {
 public:
  /// Reads and writes nothing but device memory that stays where it is, beside its inputs and what
  /// it returns; never waits for the device.
  using Body = std::function<at::Tensor(const std::vector<at::Tensor>& inputs)>;

  GraphCache() : pool_(at::cuda::graph_pool_handle()) {}

  /// `key` names the computation and all shapes in it. The result is good until the next run with
  /// the same key.
  at::Tensor run(const std::string& key, const std::vector<at::Tensor>& inputs, const Body& body);
  void clear() { entries_.clear(); }

 private:
  struct Entry {
    std::vector<at::Tensor> inputs;
    at::Tensor output;
    std::unique_ptr<at::cuda::CUDAGraph> graph;  // null: met once
  };
  void capture(Entry& entry, const std::vector<at::Tensor>& inputs, const Body& body);

  at::cuda::MempoolId_t pool_;  // one for all: they never run at the same time
  std::map<std::string, Entry> entries_;
};

}  // namespace profline::workload::fast
