#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "workload/generation/engine.h"

namespace profline::precision {

/// What an engine generated twice by itself, held against its own logits.
struct FreeRun {
  std::int64_t tokens = 0;
  bool repeats = true;    ///< the same ids the second time
  bool is_finite = true;  ///< all logits on the way
  /// Ids in a row, from the first, that the host with its n-gram rule chooses from the same logits.
  std::int64_t hosts_too = 0;

  bool passes() const { return repeats && is_finite && hosts_too == tokens; }
};

/// Greedy, with the default n-gram rule and no end before `tokens`.
Result<FreeRun> free_run(workload::Engine& engine, const std::vector<std::int64_t>& prompt,
                         std::int64_t tokens);

}  // namespace profline::precision
