#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/node.h"
#include "process/interrupt.h"
#include "records/run_record.h"
#include "run_index/run_index.h"
#include "run_index/run_selection.h"

namespace profline::session {

/// The output root of the shipped configuration.
inline constexpr const char* kDefaultRoot = "tmp/profile-output";

/// The run that a user refers to by its folder below the output root, its id, or a path. An Error
/// of kind NotFound names the nearest.
Result<run_index::IndexedRun> find_run(run_index::RunIndex& index, const std::string& wanted);

/// The most informative figures of each run (requests::usual_figures), each once; the wall time of
/// programs last.
std::vector<std::string> usual_metrics(const std::vector<run_index::IndexedRun>& runs);

// What `profline runs --format json` prints: docs/formats/runs.md.

/// The document about runs below `root`, with these entries.
Node runs_document(const std::filesystem::path& root, NodeMap entries);
/// Of `profline runs show`; `bytes` is the size of its folder.
Node stored_run_document(const std::filesystem::path& root, const run_index::IndexedRun& run,
                         const RunRecord& record, std::uint64_t bytes);

/// `5.28 ms`, `190 tokens/s`.
std::string metric_text(const run_index::IndexedMetric& metric);

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
