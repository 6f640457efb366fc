#pragma once

#include <functional>
#include <string>
#include <vector>

#include <ATen/ATen.h>

namespace profline::zoo {

/// One piece of work on the GPU, under a name of its own.
struct Exhibit {
  std::string name;  ///< of its range
  std::function<at::Tensor()> run;
  bool capturable = true;  ///< never waits for the GPU, so it can be part of a CUDA graph
};

/// Kernels of as many makers and shapes of name as libtorch has: cuBLAS, CUTLASS, cuDNN, flash and
/// memory-efficient attention, ATen's lambdas and functors, reductions, cub's scans and sorts,
/// copies. Their inputs are made here, from a seed.
std::vector<Exhibit> all_exhibits(const at::Device& device);

}  // namespace profline::zoo
