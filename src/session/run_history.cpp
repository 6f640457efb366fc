#include "session/run_history.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "run/run.h"
#include "run_index/run_index.h"

namespace profline::session {

namespace fs = std::filesystem;
using run_index::IndexedRun;
using run_index::RunIndex;

Result<catalog::History> compare_history(const fs::path& run_or_root,
                                         const catalog::HistoryRequest& request) {
  std::error_code failure;
  fs::path whole = fs::weakly_canonical(run_or_root, failure);
  if (failure) whole = run_or_root;
  const bool is_run = run::holds_run(whole);
  const fs::path root = is_run ? whole.parent_path() : whole;
  RunIndex index = PL_TRY(RunIndex::open(root, RunIndex::Keep::IfThere));
  PL_TRY(index.refresh());
  const std::vector<IndexedRun> runs = PL_TRY(index.runs());  // newest first
  const std::string folder = whole.lexically_relative(root).string();
  const auto newest =
      is_run ? std::find_if(runs.begin(), runs.end(),
                            [&](const IndexedRun& run) { return run.folder == folder; })
             : runs.begin();
  if (newest == runs.end()) {
    return Error(ErrorKind::NotFound, "there are no runs in " + run_or_root.string());
  }
  catalog::History history = PL_TRY(catalog::history_of(root.string(), *newest, runs, request));
  for (const std::string& note : index.notes()) history.notes.push_back(note);
  return history;
}

}  // namespace profline::session
