#pragma once

#include <map>
#include <span>
#include <string>

#include "base/result.h"
#include "run_index/indexed_run.h"

/// Runs as tables for other programs: docs/formats/runs.md. Columns and keys do not depend on the
/// runs, and later versions only add to their end.
namespace profline::session {

/// The swept values of jobs of sweeps, by folder: sweep_labels().
using SweptValues = std::map<std::string, std::string>;

/// CSV with a header and one line per run and metric; a run without metrics has one line.
std::string runs_csv(std::span<const run_index::IndexedRun> runs, const SweptValues& swept);

/// One JSON object per line and run, as in `profline runs --format json`.
Result<std::string> runs_jsonl(std::span<const run_index::IndexedRun> runs,
                               const SweptValues& swept);

}  // namespace profline::session
