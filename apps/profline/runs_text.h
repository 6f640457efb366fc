#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "records/run_record.h"
#include "run_index/indexed_run.h"
#include "run_index/prune.h"
#include "text_table.h"

namespace profline {

/// One line a run; `metrics` names the figures that have a column.
std::string runs_text(std::span<const run_index::IndexedRun> runs,
                      std::span<const std::string> metrics, std::size_t width,
                      const Palette& palette);

/// All that is to know of one run without opening its files.
std::string run_text(const run_index::IndexedRun& run, const RunRecord& record,
                     const std::string& folder, std::uint64_t bytes, std::size_t width,
                     const Palette& palette);

/// What became of a run, or would.
struct PruneOutcome {
  run_index::PruneStep step;
  std::uint64_t bytes = 0;  ///< of those that are removed
  std::string why_not;      ///< it was to be removed and was not; empty: it was
};
std::string prune_text(std::span<const PruneOutcome> outcomes, bool dry_run, std::size_t width,
                       const Palette& palette);

}  // namespace profline
