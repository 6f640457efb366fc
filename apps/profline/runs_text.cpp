#include "runs_text.h"

#include <fmt/core.h>

#include "base/figures.h"
#include "base/terminal_text.h"

namespace profline {
namespace {

using run_index::IndexedMetric;
using run_index::IndexedRun;
using Align = TextTable::Align;
using Action = run_index::PruneStep::Action;

constexpr std::string_view kNone = "–";

std::string or_dash(const std::string& text) {
  return text.empty() ? std::string(kNone) : text;
}

/// `2026-11-15 17:16:52` of a timestamp with all its digits.
std::string moment(const std::string& timestamp) {
  constexpr std::size_t kSeconds = 19;
  std::string text = timestamp.substr(0, kSeconds);
  if (text.size() > 10) text[10] = ' ';
  return or_dash(text);
}

std::string metric_text(const IndexedMetric* metric) {
  if (metric == nullptr) return std::string(kNone);
  if (metric->unit == "ms") return human_duration(FractionalNanoseconds(metric->value * 1e6));
  if (metric->unit == "tokens/s") return human_rate(metric->value, "tokens");
  return human_count(metric->value);
}

std::string exit_text(const IndexedRun& run) {
  return run.exit_code ? fmt::format("{}, exit code {}", run.state, *run.exit_code) : run.state;
}

std::string stage_time(const StageRecord& stage) {
  if (stage.timing.total_ns == 0) return std::string(kNone);
  return human_elapsed(std::chrono::nanoseconds(stage.timing.total_ns));
}

std::string stages_text(const RunRecord& record, std::size_t width, const Palette& palette) {
  if (record.stages.empty()) return "";
  TextTable stages(
      {{"stage", Align::Left}, {"state", Align::Left}, {"time"}, {"", Align::Left, true}});
  for (const StageRecord& stage : record.stages) {
    stages.add({stage.name, std::string(to_text(stage.state)), stage_time(stage), stage.why});
  }
  std::string text = '\n' + palette.heading("stages") + '\n' + stages.render(width, palette);
  for (const StageRecord& stage : record.stages) {
    for (const Finding& finding : stage.findings) {
      if (finding.severity == Severity::Note) continue;
      text += "  " + palette.warning(printable(stage.name)) + "  " + printable(finding.text) + '\n';
    }
  }
  return text;
}

}  // namespace

std::string runs_text(std::span<const IndexedRun> runs, std::span<const std::string> metrics,
                      std::size_t width, const Palette& palette) {
  if (runs.empty()) return "no runs\n";
  std::vector<TextTable::Column> columns = {{"run", Align::Left},
                                            {"started (UTC)", Align::Left, false, 3},
                                            {"state", Align::Left},
                                            {"workload", Align::Left},
                                            {"device", Align::Left}};
  for (const std::string& metric : metrics) columns.push_back({metric});
  columns.push_back({"experiment", Align::Left, true});
  TextTable table(columns);
  for (const IndexedRun& run : runs) {
    std::vector<std::string> cells = {run.folder, moment(run.started), run.state,
                                      or_dash(run.model.empty() ? run.program : run.model),
                                      or_dash(run.device)};
    for (const std::string& metric : metrics) {
      cells.push_back(metric_text(run.find_metric(metric)));
    }
    cells.push_back(run.experiment);
    table.add(std::move(cells));
  }
  return table.render(width, palette);
}

std::string run_text(const IndexedRun& run, const RunRecord& record, const std::string& folder,
                     std::uint64_t bytes, std::size_t width, const Palette& palette) {
  std::string text = palette.heading(printable(run.id)) + '\n';
  const auto line = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {:<12}{}\n", name, printable(value));
  };
  line("folder", folder);
  line("state", exit_text(run));
  line("experiment", run.experiment);
  line("started", run.started);
  line("ended", run.ended);
  line("model", run.model);
  line("program", run.program);
  line("device", run.device_name.empty() ? run.device : run.device + ", " + run.device_name);
  line("host", run.host);
  line("profline", run.version + (run.commit.empty() ? "" : ", " + run.commit));
  for (const std::string& override : record.command_line.overrides) line("override", override);
  line("size", human_bytes(bytes));
  line("fingerprint", run.fingerprint);

  text += stages_text(record, width, palette);
  if (run.metrics.empty()) return text;
  text += '\n' + palette.heading("metrics") + "  " +
          palette.faint("without a profiler, median over images") + '\n';
  TextTable metrics({{"metric", Align::Left}, {"value"}, {"images"}});
  for (const IndexedMetric& metric : run.metrics) {
    metrics.add({metric.name, metric_text(&metric), std::to_string(metric.n)});
  }
  return text + metrics.render(width, palette);
}

std::string prune_text(std::span<const PruneOutcome> outcomes, bool dry_run, std::size_t width,
                       const Palette& palette) {
  TextTable table({{"", Align::Left},
                   {"run", Align::Left},
                   {"started (UTC)", Align::Left},
                   {"size"},
                   {"why", Align::Left, true}});
  std::uint64_t freed = 0;
  std::size_t removed = 0;
  for (const PruneOutcome& outcome : outcomes) {
    const bool goes = outcome.step.action == Action::Remove && outcome.why_not.empty();
    const std::string verb = dry_run ? "would remove" : "removed";
    if (goes) {
      freed += outcome.bytes;
      ++removed;
    }
    table.add({goes ? verb : "kept", outcome.step.run.folder, moment(outcome.step.run.started),
               goes ? human_bytes(outcome.bytes) : std::string(kNone),
               outcome.why_not.empty() ? outcome.step.why : outcome.why_not});
  }
  std::string text = table.empty() ? "" : table.render(width, palette);
  return text + fmt::format("{} {} of {} runs, {}\n", dry_run ? "would remove" : "removed", removed,
                            outcomes.size(), human_bytes(freed));
}

}  // namespace profline
