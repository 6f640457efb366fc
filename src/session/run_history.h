#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "base/result.h"
#include "catalog/history.h"
#include "run_index/indexed_run.h"

namespace profline::session {

/// The history that ends with a run, or with the newest run of a folder of runs. The other runs are
/// those beside it.
Result<catalog::History> compare_history(const std::filesystem::path& run_or_root,
                                         const catalog::HistoryRequest& request);

/// The same for a caller that knows the runs directly below a folder, newest first: no file is read
/// and none is written.
using RunsBelow =
    std::function<std::vector<run_index::IndexedRun>(const std::filesystem::path& folder)>;
Result<catalog::History> compare_history(const std::filesystem::path& run_or_root,
                                         const catalog::HistoryRequest& request,
                                         const RunsBelow& runs_below);

}  // namespace profline::session
