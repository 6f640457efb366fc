#pragma once

#include <string_view>

#include "records/timeline.h"

namespace profline {

/// What a function of the CUDA runtime or driver (or HIP's) does, by its name as profilers write
/// it: `cudaLaunchKernel_v7000`, `cuLaunchKernelEx`, `hipMemcpyAsync`. What is not known is Other.
///
/// Synchronize is what makes the calling thread wait for a device; `cudaStreamWaitEvent` does not,
/// nor does `cudaEventQuery`. Copies that wait, like `cudaMemcpy`, are Copy.
CallKind call_kind(std::string_view function);

/// Whether a name is that of a function of the CUDA runtime or driver (or HIP's). `INVALID` is one:
/// Kineto writes that for functions which are newer than its list of them.
bool is_call_name(std::string_view name);

}  // namespace profline
