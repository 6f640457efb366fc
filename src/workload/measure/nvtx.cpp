#include "workload/measure/nvtx.h"

#if PROFLINE_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

namespace profline::workload {

#if PROFLINE_NVTX
bool has_nvtx() {
  return true;
}
void nvtx_push(const char* name) {
  nvtxRangePushA(name);
}
void nvtx_pop() {
  nvtxRangePop();
}
#else
bool has_nvtx() {
  return false;
}
void nvtx_push(const char* /*name*/) {}
void nvtx_pop() {}
#endif

}  // namespace profline::workload
