#include <unistd.h>

#include <algorithm>
#include <set>
#include <span>

#include <fmt/core.h>

#include "base/figures.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "command_line.h"
#include "formats/json.h"
#include "records/run_record.h"
#include "run/run.h"
#include "run_index/run_index.h"
#include "run_index/run_selection.h"
#include "schema/read.h"
#include "session/run_comparison.h"
#include "session/run_export.h"
#include "session/stored_runs.h"
#include "standard_streams.h"
#include "text_table.h"
#include "verb.h"

namespace profline {
namespace {

namespace fs = std::filesystem;
using run_index::IndexedMetric;
using run_index::IndexedRun;
using run_index::RunFilter;
using run_index::RunIndex;
using session::PruneOutcome;
using Align = TextTable::Align;

Result<RunFilter> filter_of(const Arguments& arguments) {
  RunFilter filter;
  filter.experiment = arguments.value("--experiment");
  filter.model = arguments.value("--model");
  filter.device = arguments.value("--device");
  if (const auto since = arguments.value("--since")) {
    filter.since = PL_TRY(run_index::parse_moment(*since, "--since"));
  }
  if (const auto until = arguments.value("--until")) {
    filter.until = PL_TRY(run_index::parse_moment(*until, "--until"));
  }
  for (const std::string& condition : arguments.each_value("--metric")) {
    filter.metrics.push_back(PL_TRY(run_index::parse_metric_condition(condition)));
  }
  return filter;
}

constexpr std::string_view kNone = "–";

/// `2026-11-15 17:16:52` from a full timestamp.
std::string moment(const std::string& timestamp) {
  constexpr std::size_t kSeconds = 19;
  std::string text = timestamp.substr(0, kSeconds);
  if (text.size() > 10) text[10] = ' ';
  return or_dash(text);
}

std::string metric_text(const IndexedMetric* metric) {
  return metric == nullptr ? std::string(kNone) : session::metric_text(*metric);
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

using SweepLabels = std::map<std::string, std::string>;

/// One line per run; `metrics` names the figures that have a column. `sweeps` has the swept values
/// of jobs of sweeps, by folder.
std::string runs_text(std::span<const IndexedRun> runs, std::span<const std::string> metrics,
                      const SweepLabels& sweeps, std::size_t width, const Palette& palette) {
  if (runs.empty()) return "no runs\n";
  std::vector<TextTable::Column> columns = {{"run", Align::Left},
                                            {"started (UTC)", Align::Left, false, 3},
                                            {"state", Align::Left},
                                            {"workload", Align::Left},
                                            {"device", Align::Left}};
  for (const std::string& metric : metrics) columns.push_back({metric});
  if (!sweeps.empty()) columns.push_back({"swept", Align::Left});
  columns.push_back({"experiment", Align::Left, true});
  TextTable table(columns);
  for (const IndexedRun& run : runs) {
    std::vector<std::string> cells = {run.folder, moment(run.started), run.state,
                                      or_dash(run.model.empty() ? run.program : run.model),
                                      or_dash(run.device)};
    for (const std::string& metric : metrics) {
      cells.push_back(metric_text(run.find_metric(metric)));
    }
    if (!sweeps.empty()) {
      const auto swept = sweeps.find(run.folder);
      cells.push_back(swept == sweeps.end() ? std::string(kNone) : swept->second);
    }
    cells.push_back(run.experiment);
    table.add(std::move(cells));
  }
  return table.render(width, palette);
}

/// Everything about one run that is known without opening its files.
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
          palette.faint(run.is_too_short()
                            ? "without a profiler, median over all requests: too few to tell which "
                              "of them are steady"
                            : "without a profiler, median over steady requests") +
          '\n';
  TextTable metrics({{"metric", Align::Left}, {"value"}, {"requests"}});
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
    const bool goes = outcome.is_gone();
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
  return text + fmt::format("{} {} of {}, {}\n", dry_run ? "would remove" : "removed", removed,
                            counted(outcomes.size(), "run"), human_bytes(freed));
}

/// What a command works with below an output root.
class RunsCommand {
 public:
  RunsCommand(const Invocation& invocation, RunIndex index, RunFilter filter)
      : arguments_(invocation.arguments),
        is_json_(invocation.output.format == OutputFormat::Json),
        palette_(wants_color(arguments_.value("--color"), STDOUT_FILENO)),
        index_(std::move(index)),
        filter_(std::move(filter)) {}

  Result<void> list();
  Result<void> show(const std::string& wanted);
  Result<void> prune(const Interrupt& interrupt);
  Result<void> rebuild();
  Result<void> write_table();

  /// On stderr: the result is not complete without them.
  void print_notes(bool quiet) const {
    if (quiet) return;
    for (const std::string& note : index_.notes()) {
      print_remark("profline: warning: " + printable(note));
    }
  }

 private:
  Result<std::vector<IndexedRun>> filtered();
  Result<void> check_metrics(std::span<const IndexedRun> runs) const;
  Result<void> print_document(NodeMap body) const;
  Node outcome_node(const PruneOutcome& outcome) const;

  const Arguments& arguments_;
  bool is_json_;
  Palette palette_;
  RunIndex index_;
  RunFilter filter_;
};

/// A metric that no run has is a mistake, unless there are no runs.
Result<void> RunsCommand::check_metrics(std::span<const IndexedRun> runs) const {
  if (runs.empty()) return {};
  std::set<std::string> names;
  for (const IndexedRun& run : runs) {
    for (const IndexedMetric& metric : run.metrics) names.insert(metric.name);
  }
  const std::vector<std::string> known(names.begin(), names.end());
  for (const auto& condition : filter_.metrics) {
    if (names.contains(condition.name)) continue;
    const bool is_list = condition.name.find(',') != std::string::npos;
    return Error(ErrorKind::NotFound, "--metric: no run has '" + condition.name + "'" +
                                          (is_list ? "; repeat --metric for each name"
                                                   : did_you_mean(condition.name, known)));
  }
  return {};
}

Result<std::vector<IndexedRun>> RunsCommand::filtered() {
  std::vector<IndexedRun> runs = PL_TRY(index_.runs());
  PL_TRY(check_metrics(runs));
  std::erase_if(runs, [&](const IndexedRun& run) { return !filter_.holds(run); });
  return runs;
}

Result<void> RunsCommand::print_document(NodeMap body) const {
  return print_result(PL_TRY(write_json(session::runs_document(index_.root(), std::move(body)))));
}

Result<void> RunsCommand::list() {
  std::vector<IndexedRun> runs = PL_TRY(filtered());
  const std::size_t most = PL_TRY(rows_asked_for(arguments_)).value_or(runs.size());
  if (runs.size() > most) runs.resize(most);
  const SweepLabels sweeps = session::sweep_labels(index_.root(), runs);
  if (is_json_) {
    Node list = Node::list();
    for (const IndexedRun& run : runs) {
      Node entry = schema::write(run);
      const auto swept = sweeps.find(run.folder);
      if (swept != sweeps.end()) entry.as_map().set("swept", Node::string(swept->second));
      list.as_list().push_back(std::move(entry));
    }
    NodeMap body;
    body.set("runs", std::move(list));
    return print_document(std::move(body));
  }
  std::vector<std::string> columns;
  for (const auto& condition : filter_.metrics) columns.push_back(condition.name);
  if (columns.empty()) columns = session::usual_metrics(runs);
  return print_result(runs_text(runs, columns, sweeps, output_width(), palette_));
}

Result<void> RunsCommand::show(const std::string& wanted) {
  const IndexedRun run = PL_TRY(session::find_run(index_, wanted));
  const fs::path folder = index_.root() / run.folder;
  const RunRecord record = PL_TRY(run::read_record(folder));
  const std::uint64_t bytes = run_index::bytes_below(folder);
  if (!is_json_) {
    return print_result(
        for_terminal(run_text(run, record, folder.string(), bytes, output_width(), palette_)));
  }
  return print_result(
      PL_TRY(write_json(session::stored_run_document(index_.root(), run, record, bytes))));
}

Node RunsCommand::outcome_node(const PruneOutcome& outcome) const {
  const bool goes = outcome.is_gone();
  NodeMap entry;
  entry.set("folder", Node::string(outcome.step.run.folder));
  entry.set("action", Node::string(goes ? "remove" : "keep"));
  entry.set("why", Node::string(outcome.why_not.empty() ? outcome.step.why : outcome.why_not));
  entry.set("bytes", goes ? Node::integer(static_cast<std::int64_t>(outcome.bytes)) : Node());
  return Node::map(std::move(entry));
}

Result<void> RunsCommand::prune(const Interrupt& interrupt) {
  const auto keep = PL_TRY(whole_number(arguments_, "--keep", {.least = 0}));
  if (!keep) {
    return Error(ErrorKind::Config,
                 "'profline runs prune' needs to know how many to keep: --keep N");
  }
  const bool dry_run = arguments_.has("--dry-run");
  const session::Pruned pruned =
      PL_TRY(session::prune_runs(index_.root(), PL_TRY(filtered()), *keep, dry_run, interrupt));
  if (!is_json_) {
    return print_result(
        prune_text(pruned.outcomes, dry_run, output_width(), palette_) +
        (pruned.latest_is_gone ? "removed the link latest, whose run no longer exists\n" : ""));
  }
  Node list = Node::list();
  for (const PruneOutcome& outcome : pruned.outcomes) {
    list.as_list().push_back(outcome_node(outcome));
  }
  NodeMap body;
  body.set("dry_run", Node::boolean(dry_run));
  body.set("pruned", std::move(list));
  return print_document(std::move(body));
}

Result<void> RunsCommand::rebuild() {
  PL_TRY(index_.rebuild());
  return list();
}

Result<void> RunsCommand::write_table() {
  const auto form = arguments_.value("--as");
  if (!form) return usage("'profline runs export' needs a form: --as csv, or --as jsonl");
  const std::vector<IndexedRun> runs = PL_TRY(filtered());
  const SweepLabels sweeps = session::sweep_labels(index_.root(), runs);
  return print_result(form == "csv" ? session::runs_csv(runs, sweeps)
                                    : PL_TRY(session::runs_jsonl(runs, sweeps)));
}

/// `profline runs`: lists the runs below the output root, newest first, shows one of them, or
/// prunes old ones.
class RunsVerb final : public Verb {
 public:
  std::string_view name() const override { return "runs"; }
  std::string_view summary() const override {
    return "list the runs under the output root, show one, export or prune them";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline runs --metric 'token_ms<5'", "runs that decode a token in under 5 ms"},
        {"profline runs export --as csv > runs.csv",
         "every metric of every run, for a spreadsheet"},
        {"profline runs prune --keep 20 --dry-run",
         "show what would be removed to keep the newest 20"},
    };
  }
  std::string_view words() const override { return "[show RUN|export|prune|rebuild]"; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace

std::vector<Option> RunsVerb::options() const {
  using Takes = Option::Takes;
  return {
      {"--root", "", Takes::Value, "FOLDER",
       "output root, the folder that contains the runs [tmp/profile-output]"},
      {"--experiment", "", Takes::Value, "TEXT", "only runs whose experiment contains this text"},
      {"--model", "", Takes::Value, "TEXT",
       "only runs whose model or program name contains this text"},
      {"--device", "", Takes::Value, "TEXT",
       "only runs on this device: cuda:0, or part of its name"},
      {"--since", "", Takes::Value, "DAY",
       "only runs started on or after this day (UTC), such as 2026-11-15"},
      {"--until", "", Takes::Value, "DAY", "only runs started on or before this day (UTC)"},
      {"--metric", "", Takes::Value, "NAME",
       "only runs with this metric, or that meet a condition such as 'token_ms<5'; may be "
       "repeated"},
      {"--top", "", Takes::Value, "N", "only the newest N"},
      {"--as",
       "",
       Takes::Value,
       "FORM",
       "export: csv, one line per run and metric, or jsonl, one line per run",
       {"csv", "jsonl"}},
      {"--keep", "", Takes::Value, "N",
       "prune: keep the newest N runs and those still in progress"},
      {"--dry-run", "", Takes::Nothing, "", "prune: only show what would be removed"},
  };
}

Result<ExitCode> RunsVerb::run(const Services& services, const Invocation& invocation) const {
  const Arguments& arguments = invocation.arguments;
  const std::vector<std::string>& words = arguments.words;
  const std::string action = words.empty() ? "list" : words.front();
  const std::vector<std::string> actions = {"list", "show", "export", "prune", "rebuild"};
  const std::size_t takes = action == "show" ? 2 : 1;
  if (std::find(actions.begin(), actions.end(), action) == actions.end()) {
    return Error(ErrorKind::Config, "'runs " + action + "' is not known; there is '" +
                                        join(actions, "', '") + "'" + did_you_mean(action, actions))
        .with_reason("usage");
  }
  if (!words.empty() && words.size() != takes) {
    return Error(ErrorKind::Config,
                 action == "show"
                     ? "'profline runs show RUN' takes one run"
                     : "'profline runs " + action + "' takes only options, not '" + words[1] + "'")
        .with_reason("usage");
  }
  RunFilter filter = PL_TRY(filter_of(arguments));
  // The decision which runs are removed must be based on the runs themselves.
  const auto keep = action == "prune" ? RunIndex::Keep::No : RunIndex::Keep::Yes;
  RunIndex index =
      PL_TRY(RunIndex::open(arguments.value("--root").value_or(session::kDefaultRoot), keep));
  PL_TRY(index.refresh());
  RunsCommand command(invocation, std::move(index), std::move(filter));
  Result<void> done;
  if (action == "list") done = command.list();
  if (action == "show") done = command.show(words[1]);
  if (action == "export") done = command.write_table();
  if (action == "prune") done = command.prune(services.interrupt);
  if (action == "rebuild") done = command.rebuild();
  if (!done) return done.error();
  command.print_notes(invocation.output.verbosity < 0);
  return ExitCode::Done;
}

std::unique_ptr<Verb> runs_verb() {
  return std::make_unique<RunsVerb>();
}

}  // namespace profline
