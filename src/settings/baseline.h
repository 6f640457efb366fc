#pragma once

#include <cstdint>

#include "settings/limits.h"
#include "settings/stage.h"

namespace profline::settings {

/// `pipeline.baseline`: the run without a profiler that all timings come from.
struct Baseline : Stage {
  Baseline() { enable = Enable::Auto; }

  std::uint32_t warmup_rounds = 2;
  bool warmup_synthetic = true;

  bool operator==(const Baseline&) const = default;
};
constexpr auto fields(std::type_identity<Baseline>) {
  return field_list(
      field("enable", &Baseline::enable, "run this stage; auto: if a stage that measures runs"),
      field("warmup_rounds", &Baseline::warmup_rounds,
            "unmeasured inferences first; config.yaml takes them from torch_profiler's preset")
          .range(0, kMostRounds),
      field("warmup_synthetic", &Baseline::warmup_synthetic,
            "warm up on a grey page instead of the first image; from torch_profiler's preset too"),
      timeout_field());
}

}  // namespace profline::settings
