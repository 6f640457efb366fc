#include "workload/measure/range.h"

#if PROFLINE_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

namespace profline::workload {

namespace {

#if PROFLINE_NVTX
constexpr bool kHasNvtx = true;
void nvtx_push(const char* name) {
  nvtxRangePushA(name);
}
void nvtx_pop() {
  nvtxRangePop();
}
#else
constexpr bool kHasNvtx = false;
void nvtx_push(const char* /*name*/) {}
void nvtx_pop() {}
#endif

}  // namespace

bool has_nvtx() {
  return kHasNvtx;
}

Range::Range(const char* name) {
  nvtx_push(name);
  if (record_.isActive()) record_.before(name);
}

Range::~Range() {
  record_.end();
  nvtx_pop();
}

}  // namespace profline::workload
