#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "records/load.h"

/// The search for the highest rate at which enough requests are good.
namespace profline::load {

struct SearchRule {
  double first_rate = 1;            ///< where it starts
  double share = 0.9;               ///< of requests that must be good
  double resolution = 0.02;         ///< it ends when the rates around the result are this close
  std::uint32_t confirmations = 2;  ///< runs at the result that must meet the SLOs together
  std::uint32_t most_trials = 40;
  double most_rate = 100'000;
};

/// The rate of the next run; nothing: the search is over. Rates are doubled or halved until one
/// meets the SLOs and one does not, then bisected; the result is confirmed by a further run. All
/// runs at one rate count together.
std::optional<double> next_rate(const std::vector<LoadTrial>& trials, const SearchRule& rule);

/// What the runs show.
LoadSearch search_result(std::vector<LoadTrial> trials, const SearchRule& rule);

}  // namespace profline::load
