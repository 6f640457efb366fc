#include "runs_command.h"

#include <unistd.h>

#include <algorithm>

#include "base/strings.h"
#include "base/terminal_text.h"
#include "command_line.h"
#include "formats/json_write.h"
#include "option_values.h"
#include "run_index/prune.h"
#include "run_index/run_filter.h"
#include "run_index/run_index.h"
#include "runs_text.h"
#include "schema/read.h"
#include "standard_streams.h"

namespace profline {
namespace {

namespace fs = std::filesystem;
using run_index::IndexedRun;
using run_index::PruneStep;
using run_index::RunFilter;
using run_index::RunIndex;

/// Where conf/config.yaml lets runs be written.
constexpr const char* kDefaultRoot = "tmp/profile-output";

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
  for (const Arguments::Given& option : arguments.options()) {
    if (option.name != "--metric" || !option.value) continue;
    filter.metrics.push_back(PL_TRY(run_index::parse_metric_condition(*option.value)));
  }
  return filter;
}

/// The figures that say most, of those that any of the runs has.
std::vector<std::string> usual_columns(const std::vector<IndexedRun>& runs) {
  std::vector<std::string> columns;
  for (const char* name : {"prefill_ms", "token_ms", "wall_ms"}) {
    const bool is_there = std::any_of(runs.begin(), runs.end(), [&](const IndexedRun& run) {
      return run.find_metric(name) != nullptr;
    });
    if (is_there) columns.emplace_back(name);
  }
  return columns;
}

/// One command's view of the world below an output root.
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

  /// On stderr: the result is not complete without them.
  void tell_notes(bool quiet) const {
    if (quiet) return;
    for (const std::string& note : index_.notes()) {
      print_remark("profline: warning: " + printable(note));
    }
  }

 private:
  Result<std::vector<IndexedRun>> filtered();
  Result<void> print_document(NodeMap body) const;
  Node outcome_node(const PruneOutcome& outcome) const;

  const Arguments& arguments_;
  bool is_json_;
  Palette palette_;
  RunIndex index_;
  RunFilter filter_;
};

Result<std::vector<IndexedRun>> RunsCommand::filtered() {
  std::vector<IndexedRun> runs = PL_TRY(index_.runs());
  std::erase_if(runs, [&](const IndexedRun& run) { return !filter_.holds(run); });
  return runs;
}

Result<void> RunsCommand::print_document(NodeMap body) const {
  NodeMap document;
  document.set("schema", Node::string("profline.runs/1"));
  document.set("root", Node::string(index_.root().string()));
  for (NodeMap::Entry& entry : body) document.set(std::move(entry.key), std::move(entry.value));
  return print_result(PL_TRY(write_json(Node::map(std::move(document)))));
}

Result<void> RunsCommand::list() {
  std::vector<IndexedRun> runs = PL_TRY(filtered());
  if (const auto top = arguments_.value("--top")) {
    if (*top != "all") {
      const std::size_t most = PL_TRY(parse_count(*top, "--top", 1));
      if (runs.size() > most) runs.resize(most);
    }
  }
  if (is_json_) {
    Node list = Node::list();
    for (const IndexedRun& run : runs) list.as_list().push_back(schema::write(run));
    NodeMap body;
    body.set("runs", std::move(list));
    return print_document(std::move(body));
  }
  std::vector<std::string> columns;
  for (const auto& condition : filter_.metrics) columns.push_back(condition.name);
  if (columns.empty()) columns = usual_columns(runs);
  return print_result(runs_text(runs, columns, output_width(), palette_));
}

Result<void> RunsCommand::show(const std::string& wanted) {
  const std::vector<IndexedRun> runs = PL_TRY(index_.runs());
  std::error_code failure;
  const fs::path as_folder = fs::weakly_canonical(wanted, failure);
  std::vector<std::string> names;
  for (const IndexedRun& run : runs) {
    const fs::path folder = index_.root() / run.folder;
    names.push_back(run.folder);
    const bool is_it = run.folder == wanted || run.id == wanted ||
                       fs::weakly_canonical(folder, failure) == as_folder;
    if (!is_it) continue;
    const RunRecord record = PL_TRY(read_run_record(folder));
    const std::uint64_t bytes = run_index::bytes_below(folder);
    if (is_json_) {
      NodeMap body;
      body.set("run", schema::write(run));
      body.set("bytes", Node::integer(static_cast<std::int64_t>(bytes)));
      body.set("record", to_node(record));
      return print_document(std::move(body));
    }
    return print_result(
        for_terminal(run_text(run, record, folder.string(), bytes, output_width(), palette_)));
  }
  return Error(ErrorKind::NotFound, "there is no run '" + wanted + "' below " +
                                        index_.root().string() + did_you_mean(wanted, names));
}

Node RunsCommand::outcome_node(const PruneOutcome& outcome) const {
  const bool goes = outcome.step.action == PruneStep::Action::Remove && outcome.why_not.empty();
  NodeMap entry;
  entry.set("folder", Node::string(outcome.step.run.folder));
  entry.set("action", Node::string(goes ? "remove" : "keep"));
  entry.set("why", Node::string(outcome.why_not.empty() ? outcome.step.why : outcome.why_not));
  entry.set("bytes", goes ? Node::integer(static_cast<std::int64_t>(outcome.bytes)) : Node());
  return Node::map(std::move(entry));
}

Result<void> RunsCommand::prune(const Interrupt& interrupt) {
  const auto keep = arguments_.value("--keep");
  if (!keep) {
    return Error(ErrorKind::Config,
                 "'profline runs prune' needs to know how many to keep: --keep N");
  }
  const bool dry_run = arguments_.has("--dry-run");
  const std::size_t most = PL_TRY(parse_count(*keep, "--keep", 0));
  std::vector<PruneOutcome> outcomes;
  for (PruneStep& step : run_index::plan_prune(PL_TRY(filtered()), most)) {
    PruneOutcome outcome{std::move(step), 0, ""};
    const fs::path folder = index_.root() / outcome.step.run.folder;
    if (outcome.step.action == PruneStep::Action::Remove) {
      outcome.bytes = run_index::bytes_below(folder);
      if (interrupt.requested()) {
        outcome.why_not = "interrupted before its turn";
      } else if (!dry_run) {
        const Interrupt::OrderlyStop whole_or_not_at_all(interrupt);
        outcome.why_not =
            PL_TRY(run_index::remove_run(index_.root(), outcome.step.run.folder)).value_or("");
      }
    }
    outcomes.push_back(std::move(outcome));
  }
  const bool unlinked = !dry_run && run_index::remove_dangling_latest(index_.root());
  if (!is_json_) {
    return print_result(prune_text(outcomes, dry_run, output_width(), palette_) +
                        (unlinked ? "removed the link latest, whose run is gone\n" : ""));
  }
  Node list = Node::list();
  for (const PruneOutcome& outcome : outcomes) list.as_list().push_back(outcome_node(outcome));
  NodeMap body;
  body.set("dry_run", Node::boolean(dry_run));
  body.set("pruned", std::move(list));
  return print_document(std::move(body));
}

Result<void> RunsCommand::rebuild() {
  PL_TRY(index_.rebuild());
  return list();
}

}  // namespace

std::vector<Option> RunsVerb::options() const {
  using Takes = Option::Takes;
  return {
      {"--root", "", Takes::Value, "FOLDER",
       "where runs are written to (default tmp/profile-output)"},
      {"--experiment", "", Takes::Value, "TEXT", "only runs whose experiment has this in it"},
      {"--model", "", Takes::Value, "TEXT",
       "only runs of a model or program that has this in its name"},
      {"--device", "", Takes::Value, "TEXT", "only runs on this device: cuda:0, or part of a name"},
      {"--since", "", Takes::Value, "DAY", "only runs begun then or later, UTC: 2026-11-15"},
      {"--until", "", Takes::Value, "DAY", "only runs begun until the end of it"},
      {"--metric", "", Takes::Value, "NAME",
       "only runs that have this figure, or where it holds: 'token_ms<5'; may be repeated"},
      {"--top", "", Takes::Value, "N", "only the newest N"},
      {"--keep", "", Takes::Value, "N", "prune: keep the newest N, and any that is still running"},
      {"--dry-run", "", Takes::Nothing, "", "prune: only say what would be removed"},
  };
}

Result<ExitCode> RunsVerb::run(const Services& services, const Invocation& invocation) const {
  const Arguments& arguments = invocation.arguments;
  const std::vector<std::string>& words = arguments.words;
  const std::string action = words.empty() ? "list" : words.front();
  const std::vector<std::string> actions = {"list", "show", "prune", "rebuild"};
  const std::size_t takes = action == "show" ? 2 : 1;
  if (std::find(actions.begin(), actions.end(), action) == actions.end()) {
    return Error(ErrorKind::Config, "'runs " + action + "' is not known; there is '" +
                                        join(actions, "', '") + "'" + did_you_mean(action, actions))
        .with_reason("usage");
  }
  if (!words.empty() && words.size() != takes) {
    return Error(ErrorKind::Config, action == "show"
                                        ? "'profline runs show RUN' takes one run"
                                        : "'profline runs " + action +
                                              "' takes options only, and no '" + words[1] + "'")
        .with_reason("usage");
  }
  RunFilter filter = PL_TRY(filter_of(arguments));
  // What decides which runs are removed must come from the runs themselves.
  const auto keep = action == "prune" ? RunIndex::Keep::No : RunIndex::Keep::Yes;
  RunIndex index = PL_TRY(RunIndex::open(arguments.value("--root").value_or(kDefaultRoot), keep));
  PL_TRY(index.refresh());
  RunsCommand command(invocation, std::move(index), std::move(filter));
  Result<void> done;
  if (action == "list") done = command.list();
  if (action == "show") done = command.show(words[1]);
  if (action == "prune") done = command.prune(services.interrupt);
  if (action == "rebuild") done = command.rebuild();
  if (!done) return done.error();
  command.tell_notes(invocation.output.verbosity < 0);
  return ExitCode::Done;
}

}  // namespace profline
