#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/overrides/override.h"
#include "config/overrides/parser.h"

namespace profline::config {

/// The names of a config group's options, for `glob`.
using GroupOptions = std::function<Result<std::vector<std::string>>(const std::string& group)>;

/// What expanding sweeps needs from its environment.
struct SweepServices {
  GroupOptions group_options = {};  ///< if empty, a glob is an Error
  RandomBelow random_below = system_random();
};

/// How many jobs one command line may expand to.
constexpr std::size_t kMaxSweepJobs = 1'000'000;

/// The items of a sweep, each as text that may follow '='. An Error if the items cannot be
/// enumerated: an interval (reason `sweep_unsupported`), a step of 0 or NaN (`invalid_range`), more
/// than `at_most` items (`sweep_too_large`), or a sweep inside the sweep (`validation`).
Result<std::vector<std::string>> sweep_items(const Override& sweep, const SweepServices& services,
                                             std::size_t at_most = kMaxSweepJobs);

using Job = std::vector<std::string>;  ///< its overrides, none of them a sweep
using Batch = std::vector<Job>;

/// The jobs of a command line, as Hydra's basic sweeper makes them: every combination of the
/// overrides' items, with the last override varying fastest, in batches of at most `max_batch_size`
/// (by default all in one). Of several overrides with the same key element the last one counts, in
/// the place of the first.
Result<std::vector<Batch>> expand_sweeps(std::span<const Override> overrides,
                                         std::optional<std::int64_t> max_batch_size,
                                         const SweepServices& services);

}  // namespace profline::config
