#pragma once

#include <filesystem>

#include "base/result.h"
#include "catalog/history.h"

namespace profline::session {

/// The history that ends with a run, or with the newest run of a folder of runs. The other runs are
/// those beside it.
Result<catalog::History> compare_history(const std::filesystem::path& run_or_root,
                                         const catalog::HistoryRequest& request);

}  // namespace profline::session
