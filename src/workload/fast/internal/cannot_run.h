#pragma once

#include <string>

#include <ATen/ATen.h>

#include "base/result.h"

namespace profline::workload {

inline Error cannot_run_fast(const std::string& why) {
  return {ErrorKind::NotFound, "the fast engine cannot run: " + why};
}

inline Result<void> check_device(at::Device device) {
  if (device.is_cuda()) return {};
  return cannot_run_fast("the device is " + device.str() + ", not a CUDA device");
}

}  // namespace profline::workload
