#include "session/stored_runs.h"

#include <algorithm>

#include "analysis/requests/series.h"
#include "base/strings.h"
#include "comparison/row_text.h"
#include "schema/read.h"

namespace profline::session {

namespace fs = std::filesystem;
using run_index::IndexedMetric;
using run_index::IndexedRun;
using run_index::PruneStep;

Result<IndexedRun> find_run(run_index::RunIndex& index, const std::string& wanted) {
  std::error_code failure;
  const fs::path as_folder = fs::weakly_canonical(wanted, failure);
  std::vector<std::string> names;
  for (IndexedRun& run : PL_TRY(index.runs())) {
    names.push_back(run.folder);
    const bool is_it = run.folder == wanted || run.id == wanted ||
                       fs::weakly_canonical(index.root() / run.folder, failure) == as_folder;
    if (is_it) return std::move(run);
  }
  return Error(ErrorKind::NotFound, "there is no run '" + wanted + "' below " +
                                        index.root().string() + did_you_mean(wanted, names));
}

std::vector<std::string> usual_metrics(const std::vector<IndexedRun>& runs) {
  std::vector<std::string> metrics;
  const auto add = [&](std::string name) {
    const bool is_new = std::find(metrics.begin(), metrics.end(), name) == metrics.end();
    if (is_new) metrics.push_back(std::move(name));
  };
  bool has_wall = false;
  for (const IndexedRun& run : runs) {
    std::vector<std::string> names;
    for (const IndexedMetric& metric : run.metrics) names.push_back(metric.name);
    for (std::string& name : requests::usual_figures(names)) add(std::move(name));
    has_wall = has_wall || run.find_metric(requests::kWallFigure) != nullptr;
  }
  if (has_wall) add(std::string(requests::kWallFigure));
  return metrics;
}

std::string metric_text(const IndexedMetric& metric) {
  comparison::Amount amount;
  amount.value = metric.value;
  return comparison::value_text(amount, metric.unit);
}

Node runs_document(const fs::path& root, NodeMap entries) {
  NodeMap document;
  document.set("schema", Node::string("profline.runs/1"));
  document.set("root", Node::string(root.string()));
  for (NodeMap::Entry& entry : entries) {
    document.set(std::move(entry.key), std::move(entry.value));
  }
  return Node::map(std::move(document));
}

Node stored_run_document(const fs::path& root, const IndexedRun& run, const RunRecord& record,
                         std::uint64_t bytes) {
  NodeMap entries;
  entries.set("run", schema::write(run));
  entries.set("bytes", Node::integer(static_cast<std::int64_t>(bytes)));
  entries.set("record", to_node(record));
  return runs_document(root, std::move(entries));
}

Result<Pruned> prune_runs(const fs::path& root, const std::vector<IndexedRun>& runs,
                          std::size_t most, bool dry_run, const Interrupt& interrupt) {
  Pruned pruned;
  for (PruneStep& step : run_index::plan_prune(runs, most)) {
    PruneOutcome outcome{std::move(step)};
    const std::string& folder = outcome.step.run.folder;
    if (outcome.step.action == PruneStep::Action::Remove) {
      outcome.bytes = run_index::bytes_below(root / folder);
      if (interrupt.requested()) {
        outcome.why_not = "interrupted before its turn";
      } else if (!dry_run) {
        const Interrupt::OrderlyStop whole_or_not_at_all(interrupt);
        outcome.why_not = PL_TRY(run_index::remove_run(root, folder)).value_or("");
      }
    }
    pruned.outcomes.push_back(std::move(outcome));
  }
  pruned.latest_is_gone = !dry_run && run_index::remove_dangling_latest(root);
  return pruned;
}

}  // namespace profline::session
