#include <algorithm>
#include <string_view>
#include <vector>

#include "catalog/history.h"
#include "comparison/comparison.h"
#include "comparison/row_text.h"
#include "comparison/run_measurements.h"
#include "formats/json.h"
#include "mcp/internal/answers.h"
#include "schema/docs.h"
#include "session/run_comparison.h"
#include "session/run_history.h"

namespace profline::mcp {
namespace {

namespace fs = std::filesystem;

/// A run by any of its names, or a folder of runs below a root.
Result<fs::path> side_called(const Sources& sources, const std::string& wanted) {
  const auto run = sources.catalog.find(wanted);
  if (run) return run->folder;
  if (run.error().kind() != ErrorKind::NotFound) return run.error();
  const auto folder = sources.catalog.inside(wanted);
  std::error_code failure;
  if (folder && fs::is_directory(*folder, failure)) return *folder;
  return run.error();
}

void add_row(std::size_t document, std::size_t index, const comparison::Row& row, Answer& answer) {
  const std::string pointer = below("/rows", index);
  const std::string what = row.shape.empty() ? row.short_name : row.short_name + " " + row.shape;
  answer.facts(document, pointer, what, {"verdict", "change", "low", "high"});
  answer.fact(document, below(below(pointer, "a"), "value"), what + ": a",
              comparison::value_text(row.a, row.unit));
  answer.fact(document, below(below(pointer, "b"), "value"), what + ": b",
              comparison::value_text(row.b, row.unit));
  if (!row.withheld.empty()) answer.fact(document, below(pointer, "withheld"), what + ": withheld");
  if (row.verdict == std::optional(comparison::Verdict::Undecided)) {
    answer.fact(document, below(pointer, "smallest_effect"),
                what + ": smallest change that would have been found");
  }
  if (!row.a) answer.missing(what + ": a", "the first side has no such row");
  if (!row.b) answer.missing(what + ": b", "the second side has no such row");
}

/// Notes contain figures, so they are facts: a fact says where it is from.
void add_notes(std::size_t document, std::size_t count, Answer& answer) {
  for (std::size_t i = 0; i < count; ++i) {
    answer.fact(document, below("/notes", i), "note");
  }
}

void add_differences(std::size_t document, const comparison::Comparison& found, Answer& answer) {
  constexpr std::size_t kMost = 12;
  const auto add = [&](std::string_view list, const std::vector<comparison::Difference>& all) {
    for (std::size_t i = 0; i < std::min(all.size(), kMost); ++i) {
      const std::string pointer = below(below("/differences", list), i);
      answer.fact(document, below(pointer, "a"), all[i].key + ": a");
      answer.fact(document, below(pointer, "b"), all[i].key + ": b");
    }
    if (all.size() > kMost) {
      answer.note("there are more differences of " + std::string(list) + " than are listed here");
    }
  };
  add("config", found.differences.config);
  add("environment", found.differences.environment);
}

/// The runs of a side, if all of their files may be read.
Result<std::vector<fs::path>> readable_runs_in(const Sources& sources, const fs::path& folder) {
  std::vector<fs::path> runs = PL_TRY(comparison::runs_in(folder));
  for (const fs::path& run : runs) PL_TRY(sources.catalog.check_files(run));
  return runs;
}

/// The runs directly below a folder, as the catalog has them.
std::vector<run_index::IndexedRun> known_below(const Sources& sources, const fs::path& folder) {
  std::vector<run_index::IndexedRun> rows;
  for (const catalog::KnownRun& run : sources.catalog.runs()) {
    if (auto row = catalog::row_within(run, folder)) rows.push_back(*std::move(row));
  }
  return rows;
}

/// Compares without writing anything, not even the index of the runs.
Result<comparison::Comparison> compared(const Sources& sources, const fs::path& a,
                                        const fs::path& b,
                                        const session::ComparisonRequest& request) {
  const session::KnownRuns known{
      [&](const fs::path& folder) { return known_below(sources, folder); },
      [&](const fs::path& run) { return sources.catalog.check_files(run).has_value(); }};
  return session::compare_runs(
      {PL_TRY(readable_runs_in(sources, a)), PL_TRY(readable_runs_in(sources, b))}, request,
      sources.services.interrupt, &known);
}

Result<Answer> answer_history(const Sources& sources, const fs::path& run,
                              const CompareArguments& asked) {
  catalog::HistoryRequest request;
  request.most = static_cast<std::size_t>(*asked.history);
  request.threshold = asked.threshold;
  request.metrics = asked.metric;
  std::vector<std::string> words = {"compare", "--history", std::to_string(*asked.history),
                                    run.string()};
  for (const std::string& metric : asked.metric) words.insert(words.end(), {"--metric", metric});
  if (asked.threshold) {
    words.insert(words.end(), {"--threshold", schema::float_text(*asked.threshold)});
  }
  Answer answer;
  const auto found = session::compare_history(
      run, request, [&](const fs::path& folder) { return known_below(sources, folder); });
  if (!found && found.error().kind() == ErrorKind::NotFound) {
    answer.say("It was not captured.");
    answer.missing("metrics", found.error().to_string());
    return answer;
  }
  if (!found) return found.error();
  const std::size_t document =
      answer.add(printed_by(words, PL_TRY(parse_json(PL_TRY(to_document(*found)), "the history"))));
  answer.say(found->regressions.empty() ? "No metric is slower than it was."
                                        : "Metrics are slower than they were.");
  answer.facts(document, "", "history", {"run", "experiment", "device_name", "threshold"});
  for (std::size_t i = 0; i < found->metrics.size(); ++i) {
    const catalog::MetricHistory& metric = found->metrics[i];
    const std::string pointer = below("/metrics", i);
    answer.fact(document, below(pointer, "verdict"), metric.name + ": verdict");
    answer.fact(document, below(below(pointer, "newest"), "value"), metric.name + ": newest",
                metric.newest ? catalog::value_text(metric.newest->value, metric.unit) : "");
    answer.fact(document, below(below(pointer, "newest"), "change"), metric.name + ": change");
    for (std::size_t at = 0; at < metric.changes.size(); ++at) {
      const std::string change = below(below(pointer, "changes"), at);
      answer.facts(document, change, metric.name + ": level changed",
                   {"folder", "started", "commit", "commit_before", "change", "verdict"});
      answer.fact(document, below(change, "before"), metric.name + ": level before",
                  catalog::value_text(metric.changes[at].before, metric.unit));
      answer.fact(document, below(change, "after"), metric.name + ": level after",
                  catalog::value_text(metric.changes[at].after, metric.unit));
    }
    if (!metric.newest) {
      answer.missing(metric.name + ": newest", "too few comparable runs before it");
    }
  }
  add_notes(document, found->notes.size(), answer);
  for (std::size_t i = 0; i < found->left_out.size(); ++i) {
    answer.facts(document, below("/left_out", i), "left out", {"folder", "why"});
  }
  return answer;
}

}  // namespace

Result<Answer> answer_compare(const Sources& sources, const CompareArguments& asked) {
  constexpr std::size_t kMostRows = 20;
  if (asked.history.has_value() == asked.b.has_value()) {
    return Error(ErrorKind::Config, "give either b or history");
  }
  const fs::path a = PL_TRY(side_called(sources, asked.a));
  if (asked.history) return answer_history(sources, a, asked);
  const fs::path b = PL_TRY(side_called(sources, *asked.b));
  session::ComparisonRequest request;
  request.metrics = asked.metric;
  if (request.metrics.empty()) request.metrics = {"metrics", "phases"};
  request.threshold = asked.threshold;
  auto found = compared(sources, a, b, request);
  const bool is_absent = !found && found.error().kind() == ErrorKind::NotFound;
  if (is_absent && asked.metric.empty()) {  // of a program, say, that marks no phases
    request.metrics = {"metrics"};
    found = compared(sources, a, b, request);
  }
  std::vector<std::string> words = {"compare", a.string(), b.string()};
  for (const std::string& metric : request.metrics) {
    words.insert(words.end(), {"--metric", metric});
  }
  if (asked.threshold) {
    words.insert(words.end(), {"--threshold", schema::float_text(*asked.threshold)});
  }
  Answer answer;
  if (!found && found.error().kind() == ErrorKind::NotFound) {
    answer.say("It was not captured.");
    answer.missing("rows to compare", found.error().to_string());
    return answer;
  }
  if (!found) return found.error();
  const std::size_t document = answer.add(
      printed_by(words, PL_TRY(parse_json(PL_TRY(to_document(*found)), "the comparison"))));
  answer.say(found->regressions.empty() ? "No regression was found."
                                        : "There are regressions: rows that are SLOWER.");
  answer.say("A row that is UNDECIDED proves neither a change nor that nothing changed.");
  for (std::size_t i = 0; i < std::min(found->rows.size(), kMostRows); ++i) {
    add_row(document, i, found->rows[i], answer);
  }
  if (found->rows.size() > kMostRows) answer.note("there are more rows: ask for them by metric");
  answer.facts(document, "", "comparison", {"threshold", "confidence", "run_spread"});
  add_notes(document, found->notes.size(), answer);
  add_differences(document, *found, answer);
  return answer;
}

}  // namespace profline::mcp
