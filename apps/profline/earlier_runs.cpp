#include "earlier_runs.h"

#include <fmt/core.h>

#include "comparison/series_groups.h"
#include "run_index/run_index.h"
#include "run_index/run_series.h"

namespace profline {
namespace {

namespace fs = std::filesystem;
using run_index::IndexedRun;
using run_index::RunIndex;

/// Three runs of a thing; fewer say next to nothing about a spread.
constexpr double kLeastDegrees = 2;

fs::path whole(const fs::path& folder) {
  std::error_code failure;
  fs::path found = fs::canonical(folder, failure);
  return failure ? fs::absolute(folder, failure) : found;
}

std::vector<IndexedRun> runs_below(const fs::path& root) {
  auto index = RunIndex::open(root, RunIndex::Keep::IfThere);
  if (!index || !index->refresh()) return {};
  return index->runs().value_or(std::vector<IndexedRun>());
}

}  // namespace

EarlierRuns::EarlierRuns(std::span<const fs::path> runs) {
  std::set<fs::path> compared;
  std::set<fs::path> roots;
  for (const fs::path& run : runs) {
    compared.insert(whole(run));
    roots.insert(whole(run).parent_path());
  }
  std::vector<IndexedRun> known;
  std::vector<fs::path> folders;
  std::set<std::string> fingerprints;
  for (const fs::path& root : roots) {
    for (IndexedRun& run : runs_below(root)) {
      folders.push_back(root / run.folder);
      if (compared.contains(folders.back())) fingerprints.insert(run.fingerprint);
      known.push_back(std::move(run));
    }
  }
  const std::vector<bool> opens = run_index::opens_series(known);
  for (std::size_t i = 0; i < folders.size(); ++i) {
    if (opens[i]) openers_.insert(folders[i]);
  }
  for (const auto& [fingerprint, usual] : run_index::usual_runs(known)) {
    if (fingerprint.empty() || !fingerprints.contains(fingerprint)) continue;
    auto& group = groups_.emplace_back();
    for (const std::size_t i : usual) {
      auto measured = comparison::read_measurements(folders[i], {.captures = false});
      if (measured) group.push_back(std::move(*measured));
    }
  }
}

bool EarlierRuns::opens_series(const fs::path& run) const {
  return openers_.contains(whole(run));
}

std::optional<statistics::RunSpread> EarlierRuns::spread_within(const std::string& metric) const {
  std::vector<statistics::RunUnits> groups;
  bool paired = true;
  for (const auto& runs : groups_) {
    comparison::SeriesGroup group;
    for (const comparison::RunMeasurements& run : runs) {
      for (const comparison::Series& series : run.series) {
        if (series.name == metric) group.a.push_back(&series);
      }
    }
    if (group.a.empty()) continue;
    comparison::PairedUnits units = comparison::pair_units(group, true);
    paired = paired && units.paired;
    groups.push_back(std::move(units.a));
  }
  auto spread = statistics::spread_within(groups, paired);
  return spread && spread->degrees >= kLeastDegrees ? spread : std::nullopt;
}

std::optional<comparison::KnownSpread> EarlierRuns::spread(const std::string& metric) {
  const auto [place, is_new] = known_.try_emplace(metric);
  if (!is_new) return place->second;
  if (const auto spread = spread_within(metric)) {
    place->second = comparison::KnownSpread{
        *spread,
        fmt::format("runs of the same things differ by up to {:.1f} % (two at a time, {:.0f} "
                    "degrees of freedom)",
                    100 * spread->difference_of_two(), spread->degrees),
        comparison::KnownSpread::Basis::Runs};
  }
  return place->second;
}

}  // namespace profline
