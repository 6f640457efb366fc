#include <unistd.h>

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "catalog/history.h"
#include "command_line.h"
#include "comparison/ci_checks.h"
#include "comparison/compare.h"
#include "comparison/comparison.h"
#include "comparison/row_text.h"
#include "formats/json.h"
#include "process/runner.h"
#include "schema/read.h"
#include "session/run_comparison.h"
#include "session/run_history.h"
#include "session/stored_runs.h"
#include "standard_streams.h"
#include "text_table.h"
#include "verb.h"

namespace profline {
namespace {

using namespace comparison;
using Align = TextTable::Align;

constexpr std::size_t kDifferences = 12;

std::string side_line(std::string_view name, const std::vector<ComparedRun>& side) {
  const ComparedRun& first = side.front();
  std::string line = fmt::format("{}  {}", name, printable(side_text(side)));
  if (!first.experiment.empty()) line += ", '" + printable(first.experiment) + "'";
  for (const std::string& fact : {first.device, first.host, first.commit}) {
    if (!fact.empty()) line += ", " + printable(fact);
  }
  return line + '\n';
}

std::string difference_text(const Difference& difference) {
  const std::string name = printable(difference.key) + ": ";
  if (!difference.a) return "+ " + name + printable(difference.b.value_or(""));
  if (!difference.b) return "- " + name + printable(*difference.a);
  return name + printable(*difference.a) + " -> " + printable(*difference.b);
}

std::string differences(const Comparison& comparison, std::size_t width, const Palette& palette) {
  std::string text;
  for (const DifferenceList& list : difference_lists(comparison)) {
    const std::string none = no_difference_text(comparison, list);
    const std::string title = palette.heading(pad_width(list.title, 13));
    if (!none.empty()) {
      text += title + palette.faint(none) + '\n';
      continue;
    }
    const std::size_t all = list.differences->size();
    for (std::size_t i = 0; i < std::min(all, kDifferences); ++i) {
      const std::string lead = i == 0 ? title : std::string(13, ' ');
      text += lead + fit_width(difference_text((*list.differences)[i]), width - 13) + '\n';
    }
    if (all > kDifferences) {
      text += palette.faint(fmt::format("{:13}and {} more\n", "", all - kDifferences));
    }
  }
  return text;
}

std::string table(const Section& section, std::size_t top, std::size_t width,
                  const Palette& palette) {
  std::vector<TextTable::Column> columns = {{"A"},
                                            {"B"},
                                            {"change"},
                                            {"interval", Align::Right, false, 1},
                                            {"verdict", Align::Left},
                                            {"detectable", Align::Right, false, 3}};
  if (section.has_clocks) columns.push_back({"equal clocks", Align::Right, false, 2});
  if (section.has_calls) columns.push_back({"calls", Align::Right, false, 4});
  columns.push_back({"", Align::Left, true});
  TextTable rows(columns);
  for (std::size_t i = 0; i < std::min(top, section.rows.size()); ++i) {
    const Row& row = *section.rows[i];
    std::vector<std::string> cells = {
        value_text(row.a, row.unit), value_text(row.b, row.unit), change_cell(row),
        interval_text(row),          verdict_text(row),           smallest_text(row)};
    if (section.has_clocks) cells.push_back(change_text(row.change_at_equal_clocks));
    if (section.has_calls) cells.push_back(calls_text(row));
    cells.push_back(row.shape.empty() ? row.short_name : row.short_name + " " + row.shape);
    rows.add(std::move(cells));
  }
  std::string text = rows.render(width, palette);
  if (section.rows.size() > top) {
    text += palette.faint(fmt::format("  and {} more\n", section.rows.size() - top));
  }
  if (section.has_stars) text += palette.faint(fmt::format("  * {}\n", kPairedNote));
  return text;
}

/// For the terminal; at most `top` rows of operators and of kernels.
std::string comparison_text(const Comparison& comparison, std::size_t top, std::size_t width,
                            const Palette& palette) {
  std::string text = side_line("A", comparison.a) + side_line("B", comparison.b) + '\n';
  text += differences(comparison, width, palette);
  for (const std::string& note : comparison.notes) {
    text += palette.warning("note") + "         " + printable(note) + '\n';
  }
  for (const Section& section : sections_of(comparison)) {
    text +=
        '\n' + palette.heading(section.title) + "  " + palette.faint(section.explanation) + '\n';
    text += table(section, is_captured(section.family) ? top : section.rows.size(), width, palette);
  }
  text += '\n' + palette.heading(printable(tally_text(comparison))) + '\n';
  for (const std::string& reason : withheld_texts(comparison)) text += printable(reason) + '\n';
  text += palette.faint(
      fmt::format("changes up to {} do not matter; {} intervals; 'detectable' is the smallest "
                  "change "
                  "that would\nhave been found 4 times in 5; run-to-run spread: {}\n",
                  chosen_percent(comparison.threshold), chosen_percent(comparison.confidence),
                  printable(comparison.run_spread)));
  return text;
}

/// What the options request.
struct CompareOptions {
  session::ComparisonRequest comparison;
  std::size_t top = kDefaultTop;
};

Result<CompareOptions> compare_options(const Arguments& arguments) {
  CompareOptions options;
  if (const auto given = arguments.value("--threshold")) {
    options.comparison.threshold = PL_TRY(parse_share(*given, "--threshold"));
  }
  if (const auto given = arguments.value("--run-spread")) {
    options.comparison.run_spread = PL_TRY(parse_share(*given, "--run-spread"));
  }
  options.top = PL_TRY(rows_asked_for(arguments)).value_or(kDefaultTop);
  options.comparison.metrics = arguments.each_value("--metric");
  return options;
}

/// What a CI system gets besides the result: its test report, annotations and the job's summary.
struct CiOutput {
  std::string suite;
  std::vector<Check> checks;
  std::string markdown;
};

/// Appends to the file that GitHub Actions shows on the page of a job.
Result<void> add_to_step_summary(const std::string& markdown) {
  const std::string file = environment_variable("GITHUB_STEP_SUMMARY").value_or("");
  if (file.empty()) return {};
  const std::string before = read_file(file).value_or("");
  return write_file_atomic(file, before + markdown + "\n");
}

Result<void> write_for_ci(const CiOutput& output, const Arguments& arguments) {
  if (const auto file = arguments.value("--junit")) {
    PL_TRY(write_file_atomic(*file, junit_report(output.suite, output.checks)));
  }
  if (!arguments.has("--github")) return {};
  // The runner reads commands from both streams, and stdout has the result.
  const std::string annotations = github_annotations(output.suite, output.checks);
  for (const std::string_view line : lines(annotations)) print_remark(line);
  return add_to_step_summary(output.markdown);
}

Result<void> write_pages(const Comparison& found, const Arguments& arguments, std::size_t top) {
  if (const auto file = arguments.value("--markdown")) {
    PL_TRY(write_file_atomic(*file, comparison::markdown_page(found, {.top = top})));
  }
  if (const auto file = arguments.value("--html")) {
    PL_TRY(write_file_atomic(*file, comparison::html_page(found, {.top = top})));
  }
  return write_for_ci({.suite = "profline compare",
                       .checks = checks_of(found),
                       .markdown = comparison::markdown_page(found, {.top = top})},
                      arguments);
}

std::string history_text(const catalog::History& history, std::size_t width,
                         const Palette& palette) {
  std::string text = fmt::format("newest  {}, '{}', {}, {}\n", printable(history.run),
                                 printable(history.experiment), printable(history.workload),
                                 printable(history.device_name));
  for (const std::string& note : history.notes) {
    text += palette.warning("note") + "    " + printable(note) + '\n';
  }
  TextTable table({{"metric", Align::Left},
                   {"level"},
                   {"newest"},
                   {"change"},
                   {"verdict", Align::Left},
                   {"runs", Align::Right, false, 1},
                   {"oldest to newest", Align::Left, true, 2}});
  for (const catalog::MetricHistory& metric : history.metrics) {
    const auto& newest = metric.newest;
    table.add(
        {metric.name, newest ? catalog::value_text(newest->before, metric.unit) : "–",
         metric.points.empty() ? "–" : catalog::value_text(metric.points.back().value, metric.unit),
         newest ? signed_percent(newest->change) : "–",
         std::string(schema::name_of(metric.verdict)), std::to_string(metric.points.size()),
         catalog::sparkline(metric.points)});
  }
  text += '\n' + table.render(width, palette) + '\n';
  for (const catalog::MetricHistory& metric : history.metrics) {
    // A large change without a verdict needs the reason as well.
    const bool looks_changed = metric.newest && std::abs(metric.newest->change) > history.threshold;
    if (metric.verdict == Verdict::Undecided && !looks_changed) continue;
    text += palette.heading(metric.name) + "  " + printable(catalog::change_words(metric)) + '\n';
  }
  if (history.regressions.empty()) text += "no regression\n";
  for (const catalog::LeftOutRun& run : history.left_out) {
    text += palette.faint("left out: " + printable(run.folder) + ", " + printable(run.why)) + '\n';
  }
  return text + palette.faint(fmt::format("changes up to {} do not matter; level: the runs before "
                                          "the newest, since the last change\n",
                                          chosen_percent(history.threshold)));
}

/// `profline compare --history N [RUN]`
Result<ExitCode> print_history(const CompareOptions& chosen, const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  for (const char* other : {"--html", "--run-spread"}) {
    if (arguments.has(other)) return usage(std::string(other) + " has no meaning with --history");
  }
  if (arguments.words.size() > 1) {
    return usage(
        fmt::format("'profline compare --history N' takes one run or folder of runs, not "
                    "{}",
                    arguments.words.size()));
  }
  catalog::HistoryRequest request;
  request.most = PL_TRY(whole_number(arguments, "--history")).value_or(request.most);
  request.threshold = chosen.comparison.threshold;
  request.metrics = chosen.comparison.metrics;
  const std::string from =
      arguments.words.empty() ? session::kDefaultRoot : arguments.words.front();
  const catalog::History found = PL_TRY(session::compare_history(from, request));
  const std::string markdown = catalog::markdown_page(found);
  if (const auto file = arguments.value("--markdown")) {
    PL_TRY(write_file_atomic(*file, markdown));
  }
  PL_TRY(write_for_ci(
      {.suite = "profline history", .checks = catalog::checks_of(found), .markdown = markdown},
      arguments));
  if (invocation.output.format == OutputFormat::Json) {
    PL_TRY(print_result(PL_TRY(to_document(found))));
  } else {
    const Palette palette(wants_color(arguments.value("--color"), STDOUT_FILENO));
    PL_TRY(print_result(for_terminal(history_text(found, output_width(), palette))));
  }
  const std::string on = arguments.value("--fail-on").value_or("slower");
  const bool is_unknown = std::any_of(
      found.metrics.begin(), found.metrics.end(),
      [](const auto& metric) { return !metric.newest && metric.verdict == Verdict::Undecided; });
  const bool fails =
      (on != "never" && !found.regressions.empty()) || (on == "undecided" && is_unknown);
  return fails ? ExitCode::Failed : ExitCode::Done;
}

bool is_failure(const Comparison& found, const Arguments& arguments) {
  const std::string on = arguments.value("--fail-on").value_or("slower");
  if (on == "never") return false;
  if (!found.regressions.empty()) return true;
  if (on != "undecided") return false;
  for (const comparison::Row& row : found.rows) {
    if (row.verdict == std::optional(comparison::Verdict::Undecided)) return true;
  }
  return false;
}

/// One line per metric of each pair of jobs.
std::string pairs_text(const session::SweepComparison& found, std::size_t width,
                       const Palette& palette) {
  TextTable rows({{"job", Align::Left},
                  {"metric", Align::Left},
                  {"A"},
                  {"B"},
                  {"change"},
                  {"interval", Align::Right, false, 1},
                  {"verdict", Align::Left}});
  for (const auto& pair : found.pairs) {
    for (const Row& row : pair.comparison.rows) {
      if (row.family != Family::Metric) continue;
      rows.add({pair.label, row.short_name, value_text(row.a, row.unit),
                value_text(row.b, row.unit), change_cell(row), interval_text(row),
                verdict_text(row)});
    }
  }
  std::string text = rows.render(width, palette);
  for (const std::string& job : found.only_a) text += "only in A: " + printable(job) + '\n';
  for (const std::string& job : found.only_b) text += "only in B: " + printable(job) + '\n';
  return text;
}

Node strings(const std::vector<std::string>& texts) {
  Node list = Node::list();
  for (const std::string& text : texts) list.as_list().push_back(Node::string(text));
  return list;
}

Result<std::string> pairs_json(const session::SweepComparison& found) {
  NodeMap document;
  document.set("schema", Node::string("profline.sweep_comparison/1"));
  Node pairs = Node::list();
  for (const auto& pair : found.pairs) {
    NodeMap entry;
    entry.set("overrides", Node::string(pair.overrides));
    entry.set("comparison", schema::write(pair.comparison));
    pairs.as_list().push_back(Node::map(std::move(entry)));
  }
  document.set("pairs", std::move(pairs));
  document.set("only_a", strings(found.only_a));
  document.set("only_b", strings(found.only_b));
  return write_json(Node::map(std::move(document)));
}

Result<ExitCode> print_pairs(const session::SweepComparison& found, const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  if (arguments.has("--markdown") || arguments.has("--html")) {
    return usage("--markdown and --html need two runs, not two sweeps: name a job of each");
  }
  if (arguments.has("--junit") || arguments.has("--github")) {
    return usage("--junit and --github need two runs, not two sweeps: name a job of each");
  }
  if (invocation.output.format == OutputFormat::Json) {
    PL_TRY(print_result(PL_TRY(pairs_json(found))));
  } else {
    const Palette palette(wants_color(arguments.value("--color"), STDOUT_FILENO));
    PL_TRY(print_result(for_terminal(pairs_text(found, output_width(), palette))));
  }
  const bool failed = std::any_of(found.pairs.begin(), found.pairs.end(), [&](const auto& pair) {
    return is_failure(pair.comparison, arguments);
  });
  return failed ? ExitCode::Failed : ExitCode::Done;
}

/// `profline compare RUN_A RUN_B`: what changed, with a verdict per metric and an exit code.
class CompareVerb final : public Verb {
 public:
  std::string_view name() const override { return "compare"; }
  std::string_view summary() const override {
    return "compare two runs, folders of runs or sweeps, with a verdict per metric";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline compare runs/base runs/head", "what changed; exit code 1 for a regression"},
        {"profline compare runs/base runs/head --metric request_ms --threshold 3%",
         "one metric; changes up to 3 % are ignored"},
        {"profline compare --history 20 --github",
         "the newest run against the 20 before it, in CI"},
    };
  }
  std::string_view words() const override { return "RUN_A RUN_B | --history N [RUN]"; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace

std::vector<Option> CompareVerb::options() const {
  using Takes = Option::Takes;
  return {
      {"--threshold", "", Takes::Value, "SHARE",
       "ignore changes up to this size [1%, on a CPU 5%]"},
      {"--metric", "", Takes::Value, "NAME",
       "only these rows: a name, a pattern with * and ?, or metrics, phases, operators, kernels; "
       "may be repeated"},
      {"--fail-on",
       "",
       Takes::Value,
       "VERDICT",
       "verdict that causes exit code 1 [slower]",
       {"slower", "undecided", "never"}},
      {"--run-spread", "", Takes::Value, "SHARE",
       "known spread between two runs of the same thing"},
      {"--history", "", Takes::Value, "N",
       "the newest run against up to N earlier ones of the same experiment and kind of machine: "
       "where their level changed"},
      {"--markdown", "", Takes::Value, "FILE", "also write Markdown for a pull request"},
      {"--html", "", Takes::Value, "FILE", "also write an HTML page"},
      {"--junit", "", Takes::Value, "FILE",
       "also write a test report (JUnit XML), one test per row"},
      {"--github", "", Takes::Nothing, "",
       "annotate the job of GitHub Actions and add to its summary"},
      {"--top", "", Takes::Value, "N", "operators and kernels to show, or 'all' [20]"},
  };
}

Result<ExitCode> CompareVerb::run(const Services& services, const Invocation& invocation) const {
  const Arguments& arguments = invocation.arguments;
  if (arguments.has("--history")) {
    return print_history(PL_TRY(compare_options(arguments)), invocation);
  }
  if (arguments.words.size() != 2) {
    return Error(ErrorKind::Config,
                 fmt::format("'profline compare RUN_A RUN_B' takes two folders of runs, not {}",
                             arguments.words.size()))
        .with_reason("usage");
  }
  const CompareOptions chosen = PL_TRY(compare_options(arguments));
  const auto sweeps = PL_TRY(session::compare_sweeps(arguments.words[0], arguments.words[1],
                                                     chosen.comparison, services.interrupt));
  if (sweeps) return print_pairs(*sweeps, invocation);
  const Comparison found = PL_TRY(session::compare_runs(arguments.words[0], arguments.words[1],
                                                        chosen.comparison, services.interrupt));
  PL_TRY(write_pages(found, arguments, chosen.top));
  if (invocation.output.format == OutputFormat::Json) {
    PL_TRY(print_result(PL_TRY(to_document(found))));
  } else {
    const Palette palette(wants_color(arguments.value("--color"), STDOUT_FILENO));
    PL_TRY(print_result(for_terminal(comparison_text(found, chosen.top, output_width(), palette))));
  }
  return is_failure(found, arguments) ? ExitCode::Failed : ExitCode::Done;
}

std::unique_ptr<Verb> compare_verb() {
  return std::make_unique<CompareVerb>();
}

}  // namespace profline
