#include "workload/torch_build.h"

#include <dlfcn.h>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <torch/version.h>

namespace profline::workload {
namespace {

/// libtorch says which BLAS it was built for, not which one the dynamic linker gave it. On Debian
/// that is one package more or less, and a factor of 30; so ask for functions only one of them has.
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

}  // namespace profline::workload
