#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/progress.h"
#include "base/result.h"
#include "records/ceilings.h"
#include "workload/ceilings/pace.h"

namespace profline::workload {

struct CeilingsRequest {
  std::string device = "cpu";  ///< `cpu`, `cuda`, `cuda:N`
  int threads = 0;             ///< on a CPU; 0: all
  /// How long measuring may take at most. Less than the default makes every figure shorter and less
  /// exact; what does not fit is left out, and a note says so.
  ceilings::Seconds budget{90};
  std::size_t array_bytes = 0;  ///< at most, of each array in a CPU's memory; 0: beyond its caches
};

struct CeilingsServices {
  Progress& progress;
  const Clock& clock;
  std::function<bool()> stopping;
  std::function<void(ceilings::Seconds)> rest;  ///< sleeps
};

/// Measures what a device reaches. `driver`, `host` and `version` are left to the caller. An Error
/// if this program cannot use the device, or once the user wants to stop.
Result<MachineCeilings> measure_ceilings(const CeilingsRequest& request,
                                         const CeilingsServices& services);

}  // namespace profline::workload
