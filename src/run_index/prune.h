#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "run_index/indexed_run.h"

namespace profline::run_index {

/// What becomes of a run.
struct PruneStep {
  enum class Action { Keep, Remove };

  IndexedRun run;
  Action action = Action::Keep;
  std::string why;  ///< `one of the 5 newest`, `older than the 5 newest`, `it is still running`
};

/// Keeps the `keep` newest of the finished runs and removes the others; one that is going on is
/// kept and does not count. `newest_first` as RunIndex::runs() gives them; pure.
std::vector<PruneStep> plan_prune(const std::vector<IndexedRun>& newest_first, std::size_t keep);

/// Size of all files below a folder.
std::uint64_t bytes_below(const std::filesystem::path& folder);

/// Removes a run, with its lock held: nothing when it was removed, else why it was not (it is going
/// on after all, is no run any more, or does not lie in the root). `folder` is relative to `root`;
/// no link on the way is followed. It vanishes from the root at once; removing what is in it takes
/// longer.
Result<std::optional<std::string>> remove_run(const std::filesystem::path& root,
                                              const std::filesystem::path& folder);

/// Removes the link `latest` of a root when what it points to is gone; true when it did.
bool remove_dangling_latest(const std::filesystem::path& root);

}  // namespace profline::run_index
