#include <algorithm>
#include <set>

#include "base/strings.h"
#include "formats/json.h"
#include "mcp/internal/answers.h"
#include "run/names/artifact_names.h"
#include "run/run.h"
#include "run_index/run_selection.h"
#include "session/stored_runs.h"

namespace profline::mcp {
namespace {

namespace fs = std::filesystem;
using catalog::KnownRun;
using run_index::IndexedRun;

bool mentions(const IndexedRun& run, const std::string& text) {
  for (const std::string* field :
       {&run.id, &run.folder, &run.experiment, &run.model, &run.program, &run.device,
        &run.device_name, &run.host, &run.commit, &run.state}) {
    if (contains_text(*field, text)) return true;
  }
  return false;
}

Result<run_index::RunFilter> filter_of(const RunsArguments& asked) {
  run_index::RunFilter filter;
  if (asked.since) filter.since = PL_TRY(run_index::parse_moment(*asked.since, "since"));
  if (asked.until) filter.until = PL_TRY(run_index::parse_moment(*asked.until, "until"));
  for (const std::string& condition : asked.metric) {
    filter.metrics.push_back(PL_TRY(run_index::parse_metric_condition(condition)));
  }
  return filter;
}

/// `profline runs show`, which has the metrics of a run.
Result<std::size_t> add_shown(const Sources& sources, const KnownRun& run, Answer& answer) {
  PL_TRY(sources.catalog.check_files(run.folder));
  const RunRecord record = PL_TRY(run::Run::open(run.folder)).record();
  const std::vector<std::string> words = {"runs", "show", run.row.folder, "--root",
                                          run.root.string()};
  return answer.add(printed_by(
      words,
      session::stored_run_document(run.root, run.row, record, run_index::bytes_below(run.folder))));
}

void add_metrics(const KnownRun& run, std::size_t shown, const std::set<std::string>& names,
                 Answer& answer) {
  for (std::size_t i = 0; i < run.row.metrics.size(); ++i) {
    const run_index::IndexedMetric& metric = run.row.metrics[i];
    if (!names.empty() && !names.contains(metric.name)) continue;
    const std::string pointer = below("/run/metrics", i);
    answer.fact(shown, below(pointer, "value"), run.row.folder + ": " + metric.name + ", median",
                session::metric_text(metric));
    if (names.empty()) {
      answer.fact(shown, below(pointer, "n"), run.row.folder + ": " + metric.name + ", requests");
    }
  }
}

/// The JSON files of a run that `summary` can look in, by name.
std::string json_files(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code failure;
  for (fs::recursive_directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    if (at->path().extension() == ".json" && at.depth() < 3) {
      names.insert(at->path().lexically_relative(folder).string());
    }
  }
  const std::vector<std::string> sorted(names.begin(), names.end());
  return join(sorted, ", ");
}

Result<Answer> one_run(const Sources& sources, const std::string& wanted) {
  const OpenRun run = PL_TRY(open_run(sources, wanted));
  Answer answer;
  const std::size_t record = answer.add(PL_TRY(read_document(run.file(run::files::kRecord))));
  const std::size_t shown = PL_TRY(add_shown(sources, run.known, answer));
  answer.say("The run " + run.name() + " is " + run.known.row.state + ".");
  answer.facts(shown, "/run", run.name(),
               {"state", "experiment", "model", "program", "device", "device_name", "host",
                "version", "commit", "started", "ended", "exit_code", "steadiness", "disturbance"});
  answer.fact(record, "/timing/total_ns", run.name() + ": timing.total_ns");
  add_metrics(run.known, shown, {}, answer);
  if (run.known.row.metrics.empty()) {
    answer.missing("metrics", "nothing was measured without a profiler in this run");
  }
  const Node* stages = answer.tree(record).find("stages");
  for (std::size_t i = 0; stages != nullptr && i < stages->as_list().size(); ++i) {
    const std::string name = text_of(stages->as_list()[i], "name");
    const std::string pointer = below("/stages", i);
    answer.fact(record, below(pointer, "state"), "stage " + name + ": state");
    answer.fact(record, below(below(pointer, "timing"), "total_ns"),
                "stage " + name + ": total_ns");
    if (const Node* findings = stages->as_list()[i].find("findings")) {
      for (std::size_t at = 0; at < findings->as_list().size(); ++at) {
        answer.fact(record, below(below(below(pointer, "findings"), at), "text"),
                    "stage " + name + ": " + text_of(findings->as_list()[at], "severity"));
      }
    }
  }
  add_stages_without_result(run, answer);
  answer.note("JSON files: " + json_files(run.known.folder));
  return answer;
}

std::string metric_names(const catalog::Catalog& catalog) {
  std::set<std::string> names;
  for (const KnownRun& run : catalog.runs()) {
    for (const auto& metric : run.row.metrics) names.insert(metric.name);
  }
  const std::vector<std::string> sorted(names.begin(), names.end());
  return sorted.empty() ? "none" : join(sorted, ", ");
}

}  // namespace

Result<Answer> answer_runs(const Sources& sources, const RunsArguments& asked) {
  if (asked.run) return one_run(sources, *asked.run);
  const run_index::RunFilter filter = PL_TRY(filter_of(asked));
  std::vector<const KnownRun*> found;
  for (const KnownRun& run : sources.catalog.runs()) {
    if (asked.find && !mentions(run.row, *asked.find)) continue;
    if (filter.holds(run.row)) found.push_back(&run);
  }
  Answer answer;
  for (const std::string& note : sources.catalog.notes()) answer.note(note);
  if (found.empty()) {
    answer.say("No run matches.");
    answer.missing("runs", "no run below " + sources.catalog.roots_text() +
                               " matches; the metrics there are: " + metric_names(sources.catalog));
    return answer;
  }
  if (found.size() > asked.top) {
    answer.note("there are more runs: narrow the search, or raise top");
    found.resize(asked.top);
  }
  std::vector<IndexedRun> rows;
  rows.reserve(found.size());
  for (const KnownRun* run : found) rows.push_back(run->row);
  std::set<std::string> metrics;
  for (const std::string& name : session::usual_metrics(rows)) metrics.insert(name);
  for (const auto& condition : filter.metrics) metrics.insert(condition.name);
  answer.say("Runs, newest first.");
  for (const KnownRun* run : found) {
    const auto shown = add_shown(sources, *run, answer);
    if (!shown) {
      answer.missing(run->row.folder, shown.error().to_string());
      continue;
    }
    answer.facts(*shown, "/run", run->row.folder,
                 {"state", "started", "experiment", "model", "program", "device_name"});
    add_metrics(*run, *shown, metrics, answer);
  }
  return answer;
}

}  // namespace profline::mcp
