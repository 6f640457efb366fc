#pragma once

#include <string>

#include "formats/node.h"

namespace profline::workload {

/// The libtorch this program runs with, as far as it decides what can be measured and how fast.
struct TorchBuild {
  std::string version;   ///< "1.13.0"
  bool cuda = false;     ///< compiled with CUDA
  int cuda_devices = 0;  ///< devices it can use now
  std::string blas;      ///< "OpenBLAS 0.3.21 …", "MKL", "reference": what multiplies matrices
  int threads = 0;       ///< what libtorch uses unless told
};

TorchBuild torch_build();

/// As `profline.torch_build/1`.
Node to_node(const TorchBuild& build);

}  // namespace profline::workload
