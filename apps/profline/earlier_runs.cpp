#include "earlier_runs.h"

#include <algorithm>

#include <fmt/core.h>

namespace profline {
namespace {

namespace fs = std::filesystem;

constexpr double kLeastDegrees = 2;

fs::path whole(const fs::path& folder) {
  std::error_code failure;
  fs::path found = fs::canonical(folder, failure);
  return failure ? fs::absolute(folder, failure) : found;
}

}  // namespace

EarlierRuns::EarlierRuns(std::span<const fs::path> runs) {
  std::map<fs::path, std::vector<std::string>> by_root;
  for (const fs::path& run : runs) {
    const fs::path folder = whole(run);
    by_root[folder.parent_path()].push_back(folder.filename().string());
  }
  for (auto& [root, compared] : by_root) {
    auto index = run_index::RunIndex::open(root, run_index::RunIndex::Keep::IfThere);
    if (!index || !index->refresh()) continue;
    const auto known = index->runs();
    if (!known) continue;
    std::vector<std::string> fingerprints;
    for (const run_index::IndexedRun& run : *known) {
      const bool is_compared =
          std::find(compared.begin(), compared.end(), run.folder) != compared.end();
      if (is_compared && !run.fingerprint.empty()) fingerprints.push_back(run.fingerprint);
    }
    roots_.push_back({std::move(*index), std::move(fingerprints)});
  }
}

std::optional<comparison::KnownSpread> EarlierRuns::spread(const std::string& metric) {
  const auto [place, is_new] = known_.try_emplace(metric);
  if (!is_new) return place->second;
  // Of several roots the one that knows most.
  std::optional<statistics::RunSpread> best;
  for (Root& root : roots_) {
    const auto found = root.index.spread(metric, root.fingerprints);
    if (!found || !*found || (*found)->degrees < kLeastDegrees) continue;
    if (!best || (*found)->degrees > best->degrees) best = **found;
  }
  if (best) {
    place->second = comparison::KnownSpread{
        *best,
        fmt::format("by runs of the same things ({:.0f} degrees of freedom) two differ by up "
                    "to {:.1f} %",
                    best->degrees, 100 * best->difference_of_two())};
  }
  return place->second;
}

}  // namespace profline
