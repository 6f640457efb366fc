#include "workload/fast/internal/cannot_run.h"
#include "workload/fast/open_engine.h"

namespace profline::workload {

Result<std::unique_ptr<Engine>> make_fast_engine(const DeepseekOcr& model) {
  PL_TRY(check_device(model.options().device));
  return cannot_run_fast(
      "profline-workload was built without its CUDA kernels (PROFLINE_CUDA_KERNELS)");
}

}  // namespace profline::workload
