#include "workload/model/device.h"

#include <string>

#include <ATen/Context.h>

#include "workload/model/torch_errors.h"

namespace profline::workload {

Result<at::Device> open_device(std::string_view name) {
  const std::string text(name);
  auto parsed = catch_torch([&] { return at::Device(text); });
  if (!parsed || !(parsed->is_cpu() || parsed->is_cuda())) {
    return Error(ErrorKind::Config, "no device is called '" + text + "' (cpu, cuda, cuda:N)");
  }
  if (parsed->is_cpu()) return at::Device(at::kCPU);
  if (!at::hasCUDA()) {
    return Error(
        ErrorKind::NotFound,
        "cannot use device " + text + ": this libtorch has no CUDA, or finds no driver and no GPU");
  }
  const at::DeviceIndex index = parsed->has_index() ? parsed->index() : at::DeviceIndex{0};
  const auto count = static_cast<int>(at::getNumGPUs());
  if (index >= count) {
    return Error(ErrorKind::NotFound, "cannot use device " + text + ": there are " +
                                          std::to_string(count) + " CUDA devices here");
  }
  return at::Device(at::kCUDA, index);
}

}  // namespace profline::workload
