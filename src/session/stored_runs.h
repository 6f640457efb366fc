#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/interrupt.h"
#include "run_index/prune.h"
#include "run_index/run_index.h"

namespace profline::session {

/// The run that a user means: its folder below the output root, its id, or a path to it. An Error
/// of kind NotFound names the nearest.
Result<run_index::IndexedRun> find_run(run_index::RunIndex& index, const std::string& wanted);

/// The figures that say most, of those that any of the runs has.
std::vector<std::string> usual_metrics(const std::vector<run_index::IndexedRun>& runs);

/// What became of a run, or would.
struct PruneOutcome {
  run_index::PruneStep step;
  std::uint64_t bytes = 0;  ///< of those that are removed
  std::string why_not{};    ///< it was to be removed and was not; empty: it was

  bool is_gone() const {
    return step.action == run_index::PruneStep::Action::Remove && why_not.empty();
  }
};
struct Pruned {
  std::vector<PruneOutcome> outcomes;
  bool latest_is_gone = false;  ///< the link `latest` pointed to a run that is no longer there
};

/// Keeps the newest `most` of these runs below `root`, and any that is still running. Each goes as
/// a whole or not at all; an interrupt keeps those whose turn it is not yet. A dry run removes
/// nothing.
Result<Pruned> prune_runs(const std::filesystem::path& root,
                          const std::vector<run_index::IndexedRun>& runs, std::size_t most,
                          bool dry_run, const Interrupt& interrupt);

}  // namespace profline::session
