#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAGraph.h>

namespace profline::workload::fast {

/// Computations with a few shapes, replayed as CUDA graphs: hundreds of launches become one. A new
/// computation is run directly the first time, captured the second time, and replayed from then on.
class GraphCache {
 public:
  /// Besides its inputs and result, it may only access device memory that stays in place, and must
  /// never wait for the device.
  using Body = std::function<at::Tensor(const std::vector<at::Tensor>& inputs)>;

  GraphCache() : pool_(at::cuda::graph_pool_handle()) {}

  /// `key` identifies the computation and every shape in it. The result is valid until the next run
  /// with the same key.
  at::Tensor run(const std::string& key, const std::vector<at::Tensor>& inputs, const Body& body);
  void clear() { entries_.clear(); }
  /// How many graphs were captured so far, including those that are gone.
  std::size_t captured() const { return captured_; }

 private:
  struct Entry {
    std::vector<at::Tensor> inputs;
    at::Tensor output;
    std::unique_ptr<at::cuda::CUDAGraph> graph;  // null: seen once
  };
  void capture(Entry& entry, const std::vector<at::Tensor>& inputs, const Body& body);

  at::cuda::MempoolId_t pool_;  // shared: they never run at the same time
  std::map<std::string, Entry> entries_;
  std::size_t captured_ = 0;
};

}  // namespace profline::workload::fast
