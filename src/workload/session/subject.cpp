#include "workload/session/internal/subject.h"

#include <thread>

#include <ATen/Context.h>

#include "schema/scalar_codecs.h"
#include "workload/torch_runtime.h"

namespace profline::workload {
namespace {

std::string device_name(const settings::Device& device) {
  if (device.kind != settings::Device::Kind::Auto) return device.to_string();
  return at::hasCUDA() && at::getNumGPUs() > 0 ? "cuda:0" : "cpu";
}

bool is_deepseek(const RunRequest& request) {
  return std::holds_alternative<settings::deepseek_ocr::Subject>(request.settings.subject);
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

Result<std::unique_ptr<Subject>> open_subject(const RunRequest& request, const Machine& machine,
                                              Progress& progress) {
  return is_deepseek(request) ? open_deepseek_subject(request, machine, progress)
                              : open_dummy_subject(request, machine);
}

Result<Node> trace_subject(const RunRequest& request) {
  if (is_deepseek(request)) return trace_deepseek(request);
  return Error(ErrorKind::Config, "mode static_trace supports only deepseek_ocr");
}

}  // namespace profline::workload
