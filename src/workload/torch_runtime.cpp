#include "workload/torch_runtime.h"

#include <dlfcn.h>

#include <string>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <torch/version.h>

namespace profline::workload {

void use_threads(int count) {
  at::set_num_threads(count);
  using SetThreads = void (*)(int);
  if (void* found = dlsym(RTLD_DEFAULT, "openblas_set_num_threads")) {
    reinterpret_cast<SetThreads>(found)(count);
  }
}

namespace {

/// libtorch reports the BLAS it was built for, not the one that the dynamic linker loaded. On
/// Debian the difference is one package, and a factor of 30, so look for functions that only one of
/// them has.
std::string loaded_blas() {
  using ConfigText = char* (*)();
  if (void* found = dlsym(RTLD_DEFAULT, "openblas_get_config")) {
    return reinterpret_cast<ConfigText>(found)();
  }
  if (at::hasMKL() || dlsym(RTLD_DEFAULT, "mkl_get_version_string") != nullptr) return "MKL";
  if (dlsym(RTLD_DEFAULT, "bli_info_get_version_str") != nullptr) return "BLIS";
  return "reference";
}

}  // namespace

TorchBuild torch_build() {
  TorchBuild build;
  build.version = TORCH_VERSION;
  build.cuda = at::hasCUDA();
  build.cuda_devices = build.cuda ? static_cast<int>(at::getNumGPUs()) : 0;
  build.blas = loaded_blas();
  build.threads = at::get_num_threads();
  return build;
}

Node to_node(const TorchBuild& build) {
  NodeMap map;
  map.set("schema", Node::string("profline.torch_build/1"));
  map.set("version", Node::string(build.version));
  map.set("cuda", Node::boolean(build.cuda));
  map.set("cuda_devices", Node::integer(build.cuda_devices));
  map.set("blas", Node::string(build.blas));
  map.set("threads", Node::integer(build.threads));
  return Node::map(std::move(map));
}

Error torch_error(const std::exception& thrown) {
  const auto* own = dynamic_cast<const c10::Error*>(&thrown);
  std::string message = own == nullptr ? thrown.what() : own->what_without_backtrace();
  if (const auto end = message.find('\n'); end != std::string::npos) message.resize(end);
  return {ErrorKind::Tool, "libtorch: " + message};
}

Result<at::Device> open_device(std::string_view name) {
  const std::string text(name);
  auto parsed = catch_torch([&] { return at::Device(text); });
  if (!parsed || !(parsed->is_cpu() || parsed->is_cuda())) {
    return Error(ErrorKind::Config, "there is no device named '" + text + "' (cpu, cuda, cuda:N)");
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
