#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "run_index/indexed_run.h"

namespace profline::run_index {

/// What happens to a run.
struct PruneStep {
  enum class Action { Keep, Remove };

  IndexedRun run;
  Action action = Action::Keep;
  std::string why;  ///< `one of the 5 newest`, `older than the 5 newest`, `it is still running`
};

/// Keeps the `keep` newest of the finished runs and removes the others; a running one is kept and
/// does not count. `newest_first` as returned by RunIndex::runs(); pure.
std::vector<PruneStep> plan_prune(const std::vector<IndexedRun>& newest_first, std::size_t keep);

/// Size of all files below a folder.
std::uint64_t bytes_below(const std::filesystem::path& folder);

/// Removes a run while holding its lock. Returns nothing if it was removed, else why it was not (it
/// is still running, is not a run any more, or is not in the root). `folder` is relative to `root`;
/// no link on the path is followed. It vanishes from the root at once; removing its content takes
/// longer.
Result<std::optional<std::string>> remove_run(const std::filesystem::path& root,
                                              const std::filesystem::path& folder);

/// Removes the link `latest` of a root if its target is gone; returns whether it did.
bool remove_dangling_latest(const std::filesystem::path& root);

}  // namespace profline::run_index
