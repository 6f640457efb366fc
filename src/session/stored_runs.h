#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/interrupt.h"
#include "run_index/run_index.h"
#include "run_index/run_selection.h"

namespace profline::session {

/// The run that a user refers to by its folder below the output root, its id, or a path. An Error
/// of kind NotFound names the nearest.
Result<run_index::IndexedRun> find_run(run_index::RunIndex& index, const std::string& wanted);

/// The most informative figures of each run (requests::usual_figures), each once; the wall time of
/// programs last.
std::vector<std::string> usual_metrics(const std::vector<run_index::IndexedRun>& runs);

/// What happened to a run, or would happen.
struct PruneOutcome {
  run_index::PruneStep step;
  std::uint64_t bytes = 0;  ///< of removed files
  std::string why_not{};    ///< why it was not removed as planned; empty: it was removed

  bool is_gone() const {
    return step.action == run_index::PruneStep::Action::Remove && why_not.empty();
  }
};
struct Pruned {
  std::vector<PruneOutcome> outcomes;
  bool latest_is_gone = false;  ///< the link `latest` pointed to a removed run
};

/// Keeps the newest `most` of these runs below `root`, and any that is still running. Each run is
/// removed completely or not at all; after an interrupt the remaining ones are kept. A dry run
/// removes nothing.
Result<Pruned> prune_runs(const std::filesystem::path& root,
                          const std::vector<run_index::IndexedRun>& runs, std::size_t most,
                          bool dry_run, const Interrupt& interrupt);

}  // namespace profline::session
