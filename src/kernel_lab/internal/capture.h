#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernel_lab/lab.h"
#include "kernel_lab/passes.h"

namespace profline::kernel_lab::internal {

/// What one pass left, a record a kernel of it.
struct PassResult {
  std::vector<CaptureRecord> records;
  bool was_cancelled = false;
};

/// Runs the program under ncu for the kernels of a pass and makes their tables. `counted` says who
/// counted launches, for messages; empty: nobody.
Result<PassResult> run_pass(const LabRequest& request, const LabTools& tools,
                            const LabServices& services, std::span<const ChosenKernel> kernels,
                            const Pass& pass, const std::string& counted);

/// A record with what is known of a kernel before ncu runs.
CaptureRecord begun_record(const ChosenKernel& kernel);

}  // namespace profline::kernel_lab::internal
