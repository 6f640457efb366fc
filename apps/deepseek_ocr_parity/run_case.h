#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "base/result.h"
#include "cases.h"
#include "comparison.h"
#include "workload/generation/engine.h"

namespace profline::parity {

/// What one case came to.
struct Outcome {
  std::vector<Difference> tensors;
  IdDifferences forced;   ///< each id chosen after the reference's ids before it
  IdDifferences running;  ///< each id chosen after our own
  std::map<std::string, at::Tensor> computed;  ///< on the CPU; fp32, ids int64

  bool passes() const;
};

/// Runs the case on the engine and compares all that the reference has. An Error when case and
/// reference do not fit together, and for what libtorch throws.
Result<Outcome> run_case(const Case& one, workload::Engine& engine, const Reference& reference);

}  // namespace profline::parity
