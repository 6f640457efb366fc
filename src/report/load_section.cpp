#include <fmt/format.h>

#include "base/figures.h"
#include "formats/markup.h"
#include "report/write_reports.h"
#include "summary/load.h"

namespace profline::report {
namespace {

using markdown::code;
using markdown::plain;
using LoadTable = markdown::Table;

constexpr double kNsPerMs = 1e6;

std::string latency_cell(const summary::LoadLatencyFigure& figure) {
  const std::string interval = summary::latency_interval(figure);
  const std::string text = plain(summary::latency_text(figure));
  return interval.empty() ? text : text + " [" + interval + "]";
}

std::string latency_table(const SummaryLoad& load) {
  LoadTable table(
      {{"latency", LoadTable::Align::Left}, {"n"}, {"p50"}, {"p90"}, {"p95"}, {"p99"}, {"mean"}});
  std::string meanings;
  for (const summary::LoadLatencyRow& row : summary::load_latencies(load)) {
    std::vector<std::string> cells = {std::string(row.name), std::to_string(row.latency->n)};
    for (const auto& figure : summary::latency_figures(*row.latency)) {
      cells.push_back(latency_cell(figure));
    }
    table.add(std::move(cells));
    meanings += fmt::format("- {}: {}\n", row.name, row.meaning);
  }
  return table.text() + '\n' + meanings;
}

std::string rate_table(const SummaryLoad& load) {
  LoadTable table({{"throughput", LoadTable::Align::Left}, {"value"}, {"95 % interval"}});
  for (const summary::LoadRateRow& row : summary::load_rates(load)) {
    table.add({row.name, plain(row.value), row.interval});
  }
  return table.text();
}

std::string error_table(const SummaryLoad& load) {
  std::string text = summary::failure_words(load) + ".\n";
  if (load.errors.empty()) return text;
  LoadTable table({{"kind", LoadTable::Align::Left},
                   {"requests"},
                   {"share"},
                   {"the first one", LoadTable::Align::Left}});
  for (const LoadError& error : load.errors) {
    table.add({code(error.kind), std::to_string(error.count),
               percent_of(static_cast<std::int64_t>(error.count),
                          static_cast<std::int64_t>(load.counts.measured)),
               plain(error.example)});
  }
  return text + '\n' + table.text();
}

std::string client_table(const SummaryLoad& load) {
  LoadTable table(
      {{"delay", LoadTable::Align::Left}, {"p50"}, {"p99"}, {"max"}, {"", LoadTable::Align::Left}});
  for (const summary::LoadDelayRow& row : summary::client_delays(load)) {
    table.add({std::string(row.name), duration(row.delay->p50_ms * kNsPerMs),
               duration(row.delay->p99_ms * kNsPerMs), duration(row.delay->max_ms * kNsPerMs),
               std::string(row.meaning)});
  }
  return table.text() + '\n' + summary::client_words(load) + ".\n";
}

std::optional<double> ns_of_ms(const std::optional<double>& ms) {
  return ms ? std::optional(*ms * kNsPerMs) : std::nullopt;
}

std::string search_table(const SummaryLoad& load) {
  if (!load.search) return "";
  LoadTable table({{"rate"},
                   {"requests"},
                   {"good"},
                   {"95 % interval"},
                   {"SLOs", LoadTable::Align::Left},
                   {"TTFT p50"},
                   {"TTFT p99"},
                   {"TPOT p50"},
                   {"TPOT p99"}});
  for (const LoadTrial& trial : load.search->trials) {
    table.add({human_rate(trial.rate, "requests"), std::to_string(trial.requests),
               percent(trial.share.value),
               percent(trial.share.low) + " to " + percent(trial.share.high),
               trial.met           ? "met"
               : trial.ended_early ? "not met, ended early"
                                   : "not met",
               duration(ns_of_ms(trial.ttft_p50_ms)), duration(ns_of_ms(trial.ttft_p99_ms)),
               duration(ns_of_ms(trial.tpot_p50_ms)), duration(ns_of_ms(trial.tpot_p99_ms))});
  }
  std::string text = "\n### Search\n\n" + plain(summary::search_words(load)) + ".";
  if (!load.search->confidence.empty())
    text += " Confidence: " + plain(load.search->confidence) + ".";
  return text + "\n\n" + table.text();
}

std::string finding_list(const SummaryLoad& load) {
  std::string text;
  for (const Finding& finding : load.findings) {
    text +=
        "- " + plain(finding.text) + (finding.fix.empty() ? "" : "; " + plain(finding.fix)) + '\n';
  }
  return text.empty() ? "" : "\nFindings:\n\n" + text;
}

}  // namespace

std::string load_section(const RunSummary& summary) {
  if (!summary.load) return "";
  const SummaryLoad& load = *summary.load;
  std::string text = "\n## Load\n\n" + plain(load.configuration) + ".\n";
  text += search_table(load);
  if (load.counts.succeeded > 0) {
    text +=
        "\n### Latency and throughput\n\n" + latency_table(load) + '\n' + rate_table(load) + '\n';
    const std::string good = summary::good_words(load);
    if (!good.empty()) text += plain(good) + ".\n\n";
    const std::string note = summary::mark_note(load);
    if (!note.empty()) text += fmt::format("{}: {}.\n\n", plain(summary::kMark), plain(note));
    text += fmt::format("{}. {}. From {}.\n", plain(summary::steady_words(load)),
                        summary::kIntervalNote, code(load.source));
  }
  text += "\n### Errors\n\n" + error_table(load);
  text += "\n### The client's own error\n\n";
  if (load.counts.succeeded > 0) text += plain(summary::limit_words(load)) + ".\n\n";
  return text + client_table(load) + finding_list(load);
}

}  // namespace profline::report
