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

namespace {

/// Where the runs of a history are, and which of them is the newest.
struct Place {
  fs::path root;
  std::string run;  ///< below the root; empty: the newest that is there
};

Place place_of(const fs::path& run_or_root) {
  std::error_code failure;
  fs::path whole = fs::weakly_canonical(run_or_root, failure);
  if (failure) whole = run_or_root;
  if (!run::holds_run(whole)) return {whole, ""};
  return {whole.parent_path(), whole.filename().string()};
}

Result<catalog::History> history_at(const Place& place, const std::vector<IndexedRun>& runs,
                                    const catalog::HistoryRequest& request) {
  const auto newest = place.run.empty()
                          ? runs.begin()
                          : std::find_if(runs.begin(), runs.end(), [&](const IndexedRun& run) {
                              return run.folder == place.run;
                            });
  if (newest == runs.end()) {
    return Error(ErrorKind::NotFound, "there are no runs in " + (place.root / place.run).string());
  }
  return catalog::history_of(place.root.string(), *newest, runs, request);
}

}  // namespace

Result<catalog::History> compare_history(const fs::path& run_or_root,
                                         const catalog::HistoryRequest& request) {
  const Place place = place_of(run_or_root);
  RunIndex index = PL_TRY(RunIndex::open(place.root, RunIndex::Keep::IfThere));
  PL_TRY(index.refresh());
  catalog::History history = PL_TRY(history_at(place, PL_TRY(index.runs()), request));
  for (const std::string& note : index.notes()) history.notes.push_back(note);
  return history;
}

Result<catalog::History> compare_history(const fs::path& run_or_root,
                                         const catalog::HistoryRequest& request,
                                         const RunsBelow& runs_below) {
  const Place place = place_of(run_or_root);
  return history_at(place, runs_below(place.root), request);
}

}  // namespace profline::session
