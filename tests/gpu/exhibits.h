#pragma once

#include <functional>
#include <string>
#include <vector>

#include <ATen/ATen.h>

namespace profline::zoo {

/// One piece of work on the GPU, with its name.
struct Exhibit {
  std::string name;  ///< of its range
  std::function<at::Tensor()> run;
  bool capturable = true;  ///< never waits for the GPU, so it can be part of a CUDA graph
};

/// Kernels from as many libraries, and with as many forms of names, as libtorch has: cuBLAS,
/// CUTLASS, cuDNN, flash and memory-efficient attention, ATen's lambdas and functors, reductions,
/// cub's scans and sorts, copies. Their inputs are generated here, from a seed.
std::vector<Exhibit> all_exhibits(const at::Device& device);

}  // namespace profline::zoo
