#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "pipeline/stage.h"
#include "settings/root.h"

namespace profline::pipeline {

/// How many of the baseline's requests a profiled stage gives its workload, and which key says so.
struct ProfiledRequests {
  enum class Reason {
    Samples,    ///< pipeline.<stage>.samples
    Bounded,    ///< all: dataset.sampling.num_samples_per_epoch bounds their number
    Unbounded,  ///< one: nothing bounds it
    Program     ///< a program of the user's own is not given any
  };
  Reason reason = Reason::Program;
  std::optional<std::uint32_t> count{};  ///< the first so many; nothing: all of them
};

/// `samples` is the stage's own setting.
ProfiledRequests profiled_requests(const settings::Root& settings,
                                   std::optional<std::uint32_t> samples);

/// Says in the plan which requests are profiled, and why these.
void add_requests(const ProfiledRequests& requests, std::string_view stage,
                  const settings::Root& settings, StagePlan& plan);

}  // namespace profline::pipeline
