#include "workload/session/machine.h"

#include <thread>

#include <ATen/Context.h>

#include "schema/enum_codec.h"
#include "workload/model/device.h"
#include "workload/threads.h"

namespace profline::workload {
namespace {

std::string device_name(const settings::Device& device) {
  if (device.kind != settings::Device::Kind::Auto) return device.to_string();
  return at::hasCUDA() && at::getNumGPUs() > 0 ? "cuda:0" : "cpu";
}

}  // namespace

Result<Machine> open_machine(const settings::Root& settings) {
  const at::Device device = PL_TRY(open_device(device_name(settings.device)));
  const std::uint32_t threads = settings.pipeline.workload.threads.value_or(
      std::max(1U, std::thread::hardware_concurrency()));
  use_threads(static_cast<int>(threads));
  return Machine{device, PL_TRY(make_device_clock(device)), threads};
}

at::ScalarType scalar_type(settings::Dtype dtype) {
  switch (dtype) {
    case settings::Dtype::Bf16:
      return at::kBFloat16;
    case settings::Dtype::Fp16:
      return at::kHalf;
    case settings::Dtype::Fp32:
      break;
  }
  return at::kFloat;
}

std::string dtype_text(settings::Dtype dtype) {
  return std::string(schema::name_of(dtype));
}

}  // namespace profline::workload
