#include "session/run_export.h"

#include <utility>
#include <vector>

#include "formats/csv.h"
#include "formats/json.h"
#include "schema/docs.h"
#include "schema/read.h"

namespace profline::session {
namespace {

using run_index::IndexedMetric;
using run_index::IndexedRun;

std::string swept_of(const IndexedRun& run, const SweptValues& swept) {
  const auto found = swept.find(run.folder);
  return found == swept.end() ? std::string() : found->second;
}

/// A number that reads back as the same one.
std::string number_text(double value) {
  return write_json(Node::real(value), {.indent = 0}).value_or("");
}

std::vector<std::string> row_of(const IndexedRun& run, const IndexedMetric* metric,
                                const std::string& swept) {
  return {run.folder,
          run.id,
          run.experiment,
          run.state,
          run.exit_code ? std::to_string(*run.exit_code) : "",
          run.model,
          run.program,
          run.device,
          run.device_name,
          run.host,
          run.version,
          run.commit,
          run.started,
          run.ended,
          run.fingerprint,
          number_text(run.disturbance),
          run.steadiness,
          swept,
          metric == nullptr ? "" : metric->name,
          metric == nullptr ? "" : metric->unit,
          metric == nullptr ? "" : number_text(metric->value),
          metric == nullptr ? "" : std::to_string(metric->n),
          run.configuration};
}

}  // namespace

std::string runs_csv(std::span<const IndexedRun> runs, const SweptValues& swept) {
  std::string text;
  csv::append_export(text,
                     {"folder",  "id",     "experiment",  "state",       "exit_code",    "model",
                      "program", "device", "device_name", "host",        "version",      "commit",
                      "started", "ended",  "fingerprint", "disturbance", "steadiness",   "swept",
                      "metric",  "unit",   "value",       "n",           "configuration"});
  for (const IndexedRun& run : runs) {
    const std::string values = swept_of(run, swept);
    if (run.metrics.empty()) csv::append_export(text, row_of(run, nullptr, values));
    for (const IndexedMetric& metric : run.metrics) {
      csv::append_export(text, row_of(run, &metric, values));
    }
  }
  return text;
}

Result<std::string> runs_jsonl(std::span<const IndexedRun> runs, const SweptValues& swept) {
  std::string lines;
  for (const IndexedRun& run : runs) {
    Node entry = schema::write(run);
    entry.as_map().set("swept", Node::string(swept_of(run, swept)));
    lines += PL_TRY(write_json(entry, {.indent = 0})) + '\n';
  }
  return lines;
}

}  // namespace profline::session
