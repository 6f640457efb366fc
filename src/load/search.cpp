#include "load/search.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/core.h>

#include "base/figures.h"
#include "load/internal/figures.h"

namespace profline::load {
namespace {

constexpr double kLeastRate = 1e-3;

/// All runs at one rate.
struct RateRuns {
  std::uint64_t requests = 0;
  std::uint64_t good = 0;
  std::uint64_t met_runs = 0;
  bool ended_early = false;

  bool met(double share) const {
    return !ended_early && requests > 0 &&
           static_cast<double>(good) >= share * static_cast<double>(requests);
  }
};
using ByRate = std::map<double, RateRuns>;

ByRate by_rate(const std::vector<LoadTrial>& trials) {
  ByRate rates;
  for (const LoadTrial& trial : trials) {
    RateRuns& runs = rates[trial.rate];
    runs.requests += trial.requests;
    runs.good += trial.good;
    runs.met_runs += trial.met ? 1U : 0U;
    runs.ended_early |= trial.ended_early;
  }
  return rates;
}

struct Bracket {
  std::optional<double> met;     ///< the highest one below `missed`
  std::optional<double> missed;  ///< the lowest one
};

Bracket bracket_of(const ByRate& rates, double share) {
  Bracket bracket;
  for (const auto& [rate, runs] : rates) {
    if (!runs.met(share)) {
      bracket.missed = rate;
      break;
    }
    bracket.met = rate;
  }
  return bracket;
}

std::uint64_t runs_at(const std::vector<LoadTrial>& trials, double rate) {
  return static_cast<std::uint64_t>(std::count_if(
      trials.begin(), trials.end(), [&](const LoadTrial& trial) { return trial.rate == rate; }));
}

std::string confidence_of(const LoadSearch& search, const SearchRule& rule) {
  if (!search.rate) {
    return fmt::format("no rate that was tried met the SLOs for {} of the requests",
                       chosen_percent(rule.share));
  }
  std::string text = fmt::format(
      "{} of the requests were good at this rate (95 % interval {} to {})",
      percent(search.share->value), percent(*search.share->low), percent(*search.share->high));
  if (*search.share->low < rule.share) {
    text +=
        fmt::format("; too few requests to be certain that it is {}", chosen_percent(rule.share));
  }
  if (search.missed_rate) {
    text += fmt::format("; the lowest rate that missed the SLOs is {} higher",
                        percent(*search.missed_rate / *search.rate - 1));
  } else {
    text += "; no higher rate was tried";
  }
  return text;
}

}  // namespace

std::optional<double> next_rate(const std::vector<LoadTrial>& trials, const SearchRule& rule) {
  if (trials.empty()) return rule.first_rate;
  if (trials.size() >= rule.most_trials) return std::nullopt;
  const Bracket bracket = bracket_of(by_rate(trials), rule.share);
  if (!bracket.met) {
    const double lower = *bracket.missed / 2;
    return lower < kLeastRate ? std::nullopt : std::optional(lower);
  }
  const double met = *bracket.met;
  if (!bracket.missed && met < rule.most_rate) return std::min(met * 2, rule.most_rate);
  if (bracket.missed && *bracket.missed > met * (1 + rule.resolution)) {
    return std::sqrt(met * *bracket.missed);
  }
  if (runs_at(trials, met) < rule.confirmations) return met;
  return std::nullopt;
}

LoadSearch search_result(std::vector<LoadTrial> trials, const SearchRule& rule) {
  LoadSearch search;
  const ByRate rates = by_rate(trials);
  const Bracket bracket = bracket_of(rates, rule.share);
  search.trials = std::move(trials);
  search.missed_rate = bracket.missed;
  search.rate = bracket.met;
  if (bracket.met) {
    const RateRuns& runs = rates.at(*bracket.met);
    search.share = internal::share_figure(runs.good, runs.requests);
    search.confirmations = runs.met_runs;
  }
  search.confidence = confidence_of(search, rule);
  return search;
}

}  // namespace profline::load
