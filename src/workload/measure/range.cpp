#include "workload/measure/range.h"

#include "workload/measure/nvtx.h"

namespace profline::workload {

Range::Range(const char* name) {
  nvtx_push(name);
  if (record_.isActive()) record_.before(name);
}

Range::~Range() {
  record_.end();
  nvtx_pop();
}

}  // namespace profline::workload
