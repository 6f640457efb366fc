#include "run_index/run_series.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <sstream>
#include <tuple>

#include "analysis/samples/sample_series.h"

namespace profline::run_index {
namespace {

using Seconds = std::chrono::sys_seconds;

constexpr std::chrono::hours kPause{1};
constexpr std::size_t kNewest = 50;

/// Of `2026-11-15T10:20:30.123Z`, without the fraction.
std::optional<Seconds> moment_of(const std::string& timestamp) {
  std::istringstream text(timestamp);
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  char mark = 0;
  text >> year >> mark >> month >> mark >> day >> mark >> hour >> mark >> minute >> mark >> second;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!text || !date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second);
}

bool is_usable(const IndexedRun& run) {
  return run.state == "ok" && run.disturbance <= samples::kDisturbedShare;
}

}  // namespace

std::vector<bool> opens_series(std::span<const IndexedRun> runs) {
  std::vector<std::size_t> order(runs.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    return std::tie(runs[i].started, runs[i].folder) < std::tie(runs[j].started, runs[j].folder);
  });
  std::vector<bool> opens(runs.size(), false);
  std::map<std::string, Seconds> busy_until;  // by machine
  for (const std::size_t i : order) {
    const auto started = moment_of(runs[i].started);
    if (!started) continue;
    const auto [before, is_first] = busy_until.try_emplace(runs[i].host, *started);
    opens[i] = is_first || *started - before->second > kPause;
    before->second =
        std::max({before->second, *started, moment_of(runs[i].ended).value_or(*started)});
  }
  return opens;
}

std::map<std::string, std::vector<std::size_t>> usual_runs(std::span<const IndexedRun> runs) {
  const std::vector<bool> opens = opens_series(runs);
  std::map<std::string, std::vector<std::size_t>> usual;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (is_usable(runs[i]) && !opens[i]) usual[runs[i].fingerprint].push_back(i);
  }
  for (auto& [fingerprint, these] : usual) {
    std::stable_sort(these.begin(), these.end(), [&](std::size_t i, std::size_t j) {
      return runs[i].started > runs[j].started;
    });
    if (these.size() > kNewest) these.resize(kNewest);
  }
  return usual;
}

}  // namespace profline::run_index
