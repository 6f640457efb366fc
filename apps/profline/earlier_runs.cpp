#include "earlier_runs.h"

#include <algorithm>

#include <fmt/core.h>

#include "run_index/run_index.h"
#include "run_index/run_series.h"

namespace profline {
namespace {

namespace fs = std::filesystem;
using run_index::IndexedRun;
using run_index::RunIndex;

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
    const fs::path folder = whole(run);
    compared.insert(folder);
    roots.insert(folder.parent_path());
  }
  std::vector<fs::path> folders;
  for (const fs::path& root : roots) {
    for (IndexedRun& run : runs_below(root)) {
      const fs::path folder = root / run.folder;
      if (compared.contains(folder) && !run.fingerprint.empty()) {
        fingerprints_.insert(run.fingerprint);
      }
      folders.push_back(folder);
      known_runs_.push_back(std::move(run));
    }
  }
  const std::vector<bool> opens = run_index::opens_series(known_runs_);
  for (std::size_t i = 0; i < folders.size(); ++i) {
    if (opens[i]) openers_.insert(folders[i]);
  }
}

bool EarlierRuns::opens_series(const fs::path& run) const {
  return openers_.contains(whole(run));
}

std::optional<comparison::KnownSpread> EarlierRuns::spread(const std::string& metric) {
  const auto [place, is_new] = known_.try_emplace(metric);
  if (!is_new) return place->second;
  const auto spread = run_index::spread_of(known_runs_, fingerprints_, metric);
  if (spread) {
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
