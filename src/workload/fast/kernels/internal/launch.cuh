#pragma once

#include <cstddef>

#include <cuda_runtime.h>

#include "workload/fast/kernels/decode_model.h"

namespace profline::workload::fast {

/// Launches a kernel into the stream; with `overlap` it may start before the previous one has
/// ended, and waits for that one itself.
template <typename... Parameters, typename... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes,
                   cudaStream_t stream, bool overlap, const Arguments&... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = overlap ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

template <typename Kernel>
cudaError_t allow_shared(Kernel kernel, std::size_t bytes) {
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              static_cast<int>(bytes));
}

/// Returns from the function with the first failure.
#define PL_CUDA_TRY(expression)                     \
  do {                                              \
    const cudaError_t pl_status = (expression);     \
    if (pl_status != cudaSuccess) return pl_status; \
  } while (false)

}  // namespace profline::workload::fast
