#pragma once

#include <string_view>

#include <ATen/ATen.h>

#include "base/result.h"

namespace profline::workload {

/// The device called `cpu`, `cuda` or `cuda:N`; an Error when this libtorch or this machine has no
/// such device.
Result<at::Device> open_device(std::string_view name);

}  // namespace profline::workload
