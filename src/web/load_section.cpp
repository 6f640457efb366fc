#include <algorithm>

#include <fmt/format.h>

#include "base/figures.h"
#include "summary/load.h"
#include "web/internal/sections.h"
#include "web/markup.h"

namespace profline::web {
namespace {

using LoadAlign = Table::Align;

constexpr double kNsPerMs = 1e6;
constexpr std::size_t kLatencyBins = 40;
constexpr std::size_t kMostLoadRows = 500;
/// Of a curve; longer loads are shown in steps of several seconds.
constexpr std::size_t kMostCurvePoints = 900;

std::optional<double> ns_of(const std::optional<double>& ms) {
  return ms ? std::optional(*ms * kNsPerMs) : std::nullopt;
}

/// The figure, and below it its interval.
Cell latency_cell(const summary::LoadLatencyFigure& figure) {
  Markup shown = text(summary::latency_text(figure));
  const std::string interval = summary::latency_interval(figure);
  if (!interval.empty()) {
    shown += element("small", {{"class", "interval"}}, text(interval));
  }
  return {shown, figure.figure ? std::optional(figure.figure->value) : std::nullopt, {}};
}

Markup latency_table(const SummaryLoad& load) {
  Table table(
      "latency-table", "latencies of the load",
      {{"latency", LoadAlign::Left}, {"n"}, {"p50"}, {"p90"}, {"p95"}, {"p99"}, {"mean"}, {"max"}});
  std::string meanings;
  for (const summary::LoadLatencyRow& row : summary::load_latencies(load)) {
    std::vector<Cell> cells = {text_cell(row.name), number_cell(row.latency->n)};
    for (const auto& figure : summary::latency_figures(*row.latency)) {
      cells.push_back(latency_cell(figure));
    }
    cells.push_back(duration_cell(ns_of(row.latency->max_ms)));
    table.add(cells);
    meanings += fmt::format("{}{}: {}", meanings.empty() ? "" : "; ", row.name, row.meaning);
  }
  return table.markup() + source_line(meanings + ".", {});
}

Markup rate_table(const SummaryLoad& load) {
  Table table("throughput-table", "throughput of the load",
              {{"throughput", LoadAlign::Left}, {"value"}, {"95 % interval"}});
  for (const summary::LoadRateRow& row : summary::load_rates(load)) {
    table.add({text_cell(row.name), {text(row.value), {}, {}}, {text(row.interval), {}, {}}});
  }
  return table.markup();
}

Markup result_notes(const SummaryLoad& load) {
  Markup html;
  const std::string note = summary::mark_note(load);
  if (!note.empty()) {
    html +=
        element("p", {{"class", "from mark"}}, text(fmt::format("{} {}.", summary::kMark, note)));
  }
  const std::string good = summary::good_words(load);
  if (!good.empty()) html += source_line(good + ".", {});
  return html +
         source_line(fmt::format("{}. {}.", summary::steady_words(load), summary::kIntervalNote),
                     {load.source});
}

std::vector<double> latencies(const run::Requests& requests, std::string_view id) {
  std::vector<double> values;
  for (const Request& request : requests) {
    const auto e2e = static_cast<double>(request.ns);
    const auto ttft = static_cast<double>(request.ttft_ns.value_or(0));
    if (id == "e2e") values.push_back(e2e);
    if (id == "ttft" && request.ttft_ns) values.push_back(ttft);
    if (id == "tpot" && request.ttft_ns && request.new_tokens.value_or(0) > 1) {
      values.push_back((e2e - ttft) / static_cast<double>(*request.new_tokens - 1));
    }
    if (id != "itl") continue;
    for (const Phase& phase : request.phases) {
      if (phase.steps_ns) {
        values.insert(values.end(), phase.steps_ns->begin(), phase.steps_ns->end());
      }
    }
  }
  return values;
}

/// From the requests, in fine bins; without them as load.json has it.
Histogram latency_histogram(const PageSource& source, const summary::LoadLatencyRow& row) {
  const auto& all = run::load_requests(source.run);
  if (all) {
    // The steady part is the end of the load.
    const std::uint64_t steady = source.summary.load->metrics.e2e.n;
    const std::size_t first = all->size() - std::min<std::size_t>(all->size(), steady);
    const run::Requests requests(all->begin() + static_cast<std::ptrdiff_t>(first), all->end());
    std::vector<double> values = latencies(requests, row.id);
    if (!values.empty()) return histogram(std::move(values), kLatencyBins);
  }
  Histogram stored;
  for (const double edge : row.latency->histogram.edges_ms) stored.edges.push_back(edge * kNsPerMs);
  stored.counts.assign(row.latency->histogram.counts.begin(), row.latency->histogram.counts.end());
  return stored;
}

Node latency_data(const PageSource& source, const summary::LoadLatencyRow& row) {
  const Histogram bins = latency_histogram(source, row);
  Node percentiles = Node::list();
  for (const auto& figure : summary::latency_figures(*row.latency)) {
    if (!figure.figure || figure.name == "mean" || figure.name == "p95") continue;
    percentiles.as_list().push_back(object({{"name", Node::string(std::string(figure.name))},
                                            {"ns", number(figure.figure->value * kNsPerMs)}}));
  }
  const std::optional<double> slo = row.id == "ttft"   ? source.summary.load->slo_ttft_ms
                                    : row.id == "tpot" ? source.summary.load->slo_tpot_ms
                                                       : std::nullopt;
  return object({{"name", Node::string(std::string(row.name))},
                 {"unit", Node::string(row.id == "itl" ? "events" : "requests")},
                 {"edges_ns", numbers(bins.edges)},
                 {"counts", numbers(bins.counts)},
                 {"above", Node::integer(static_cast<std::int64_t>(bins.above))},
                 {"percentiles", std::move(percentiles)},
                 {"slo_ns", number(ns_of(slo))}});
}

void add_latencies(Section& section, const PageSource& source) {
  Section charts{"", ""};
  for (const summary::LoadLatencyRow& row : summary::load_latencies(*source.summary.load)) {
    if (row.latency->n == 0) continue;
    charts.add_chart(std::string(row.id), fmt::format("distribution of {}", row.name),
                     text(fmt::format("{}: {}.", row.name, row.meaning)),
                     latency_data(source, row));
  }
  for (auto& chart : charts.charts) section.charts.push_back(std::move(chart));
  section.body += element("div", {{"class", "plots"}}, charts.body);
}

/// Sums of `step` neighbouring seconds, divided by `per`; the last value for amounts in flight.
std::vector<double> curve(const std::vector<LoadSecond>& seconds, std::size_t step,
                          double (*value)(const LoadSecond&), bool is_level) {
  std::vector<double> values;
  for (std::size_t from = 0; from < seconds.size(); from += step) {
    const std::size_t to = std::min(from + step, seconds.size());
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += value(seconds[i]);
    values.push_back(is_level ? value(seconds[to - 1]) : sum / static_cast<double>(to - from));
  }
  return values;
}

/// When each profiler's window was, since its own load began.
Node windows_data(const RunSummary& summary) {
  constexpr double kSecondNs = 1e9;
  Node windows = Node::list();
  for (const ServerRecord& server : summary.server) {
    if (!server.window || server.load.start_ns == 0) continue;
    const auto since = [&](std::int64_t ns) {
      return number(static_cast<double>(ns - server.load.start_ns) / kSecondNs);
    };
    windows.as_list().push_back(object({{"name", Node::string(server.stage)},
                                        {"from_s", since(server.window->open_ns)},
                                        {"to_s", since(server.window->close_ns)}}));
  }
  return windows;
}

Node seconds_data(const RunSummary& summary, const std::vector<LoadSecond>& seconds) {
  const SummaryLoad& load = *summary.load;
  const std::size_t step = (seconds.size() + kMostCurvePoints - 1) / kMostCurvePoints;
  Node curves = Node::list();
  const auto add = [&](const char* name, const char* unit, double (*value)(const LoadSecond&),
                       bool is_level) {
    curves.as_list().push_back(
        object({{"name", Node::string(name)},
                {"unit", Node::string(unit)},
                {"values", numbers(curve(seconds, step, value, is_level))}}));
  };
  add(
      "completed", "requests/s", [](const LoadSecond& one) { return double(one.completed); },
      false);
  add(
      "output", "tokens/s", [](const LoadSecond& one) { return one.output_tokens; }, false);
  add(
      "in flight", "requests", [](const LoadSecond& one) { return double(one.in_flight); }, true);
  add(
      "failed", "requests/s", [](const LoadSecond& one) { return double(one.failed); }, false);
  std::vector<double> at;
  for (std::size_t i = 0; i < seconds.size(); i += step) at.push_back(seconds[i].at_s);
  return object({{"at_s", numbers(at)},
                 {"curves", std::move(curves)},
                 {"steady_s", numbers({load.steady.start_s, load.steady.end_s})},
                 {"windows", windows_data(summary)}});
}

Markup seconds_table(const std::vector<LoadSecond>& seconds) {
  Table table("seconds-table", "the load second by second",
              {{"second"}, {"sent"}, {"completed"}, {"failed"}, {"in flight"}, {"output tokens"}});
  for (std::size_t i = 0; i < std::min(seconds.size(), kMostLoadRows); ++i) {
    const LoadSecond& second = seconds[i];
    table.add({{text(fmt::format("{:.0f}", second.at_s)), second.at_s, {}},
               number_cell(second.sent),
               number_cell(second.completed),
               number_cell(second.failed),
               number_cell(second.in_flight),
               count_cell(second.output_tokens)});
  }
  Markup html = table.markup();
  if (seconds.size() > kMostLoadRows) {
    html += source_line(
        fmt::format("The first {} of {}.", kMostLoadRows, counted(seconds.size(), "second")), {});
  }
  return element("details", {{"class", "more"}},
                 element("summary", text(fmt::format("Each second ({})", seconds.size()))) + html);
}

void add_seconds(Section& section, const PageSource& source) {
  const auto& record = source.run.get(run::kLoad);
  if (!record || record->seconds.empty()) return;
  const SummaryLoad& load = *source.summary.load;
  section.body += element("h3", text("Over time"));
  std::string caption =
      load.search ? "The last run of the search, warm-up included. " : "Warm-up included. ";
  caption += "Shaded: the steady part.";
  Node data = seconds_data(source.summary, record->seconds);
  if (!data.find("windows")->as_list().empty()) {
    caption += " Dashed: where in its own load each profiler had its window.";
  }
  section.add_chart("seconds", "throughput, requests in flight and errors over time", text(caption),
                    std::move(data));
  section.body += seconds_table(record->seconds);
}

Node search_data(const SummaryLoad& load) {
  const LoadSearch& search = *load.search;
  std::vector<const LoadTrial*> trials;
  for (const LoadTrial& trial : search.trials) trials.push_back(&trial);
  std::stable_sort(trials.begin(), trials.end(),
                   [](const LoadTrial* a, const LoadTrial* b) { return a->rate < b->rate; });
  Node list = Node::list();
  for (const LoadTrial* trial : trials) {
    list.as_list().push_back(object({{"rate", number(trial->rate)},
                                     {"met", Node::boolean(trial->met)},
                                     {"good", number(trial->share.value)},
                                     {"low", number(trial->share.low)},
                                     {"high", number(trial->share.high)},
                                     {"ttft_p50_ns", number(ns_of(trial->ttft_p50_ms))},
                                     {"ttft_p99_ns", number(ns_of(trial->ttft_p99_ms))},
                                     {"tpot_p50_ns", number(ns_of(trial->tpot_p50_ms))},
                                     {"tpot_p99_ns", number(ns_of(trial->tpot_p99_ms))}}));
  }
  return object({{"trials", std::move(list)},
                 {"rate", number(search.rate)},
                 {"slo_ttft_ns", number(ns_of(load.slo_ttft_ms))},
                 {"slo_tpot_ns", number(ns_of(load.slo_tpot_ms))},
                 {"slo_share", number(load.slo_share)}});
}

Markup trial_table(const LoadSearch& search) {
  Table table("trials-table", "the runs of the search",
              {{"rate"},
               {"requests"},
               {"good", LoadAlign::Right, "requests that met every SLO"},
               {"95 % interval"},
               {"SLOs", LoadAlign::Left},
               {"TTFT p50"},
               {"TTFT p99"},
               {"TPOT p50"},
               {"TPOT p99"},
               {"E2E p99"}});
  for (const LoadTrial& trial : search.trials) {
    table.add({{text(human_rate(trial.rate, "requests")), trial.rate, {}},
               number_cell(trial.requests),
               bar_cell(trial.share.value),
               {text(percent(trial.share.low) + " to " + percent(trial.share.high)), {}, {}},
               text_cell(trial.met           ? "met"
                         : trial.ended_early ? "not met, ended early"
                                             : "not met"),
               duration_cell(ns_of(trial.ttft_p50_ms)),
               duration_cell(ns_of(trial.ttft_p99_ms)),
               duration_cell(ns_of(trial.tpot_p50_ms)),
               duration_cell(ns_of(trial.tpot_p99_ms)),
               duration_cell(ns_of(trial.e2e_p99_ms))});
  }
  return table.markup();
}

void add_search(Section& section, const SummaryLoad& load) {
  if (!load.search) return;
  section.body += element("h3", text("Search for the highest rate")) +
                  element("p", text(summary::search_words(load) + "." +
                                    (load.search->confidence.empty()
                                         ? ""
                                         : " Confidence: " + load.search->confidence + ".")));
  if (!load.search->trials.empty()) {
    section.add_chart("search", "latency and share of good requests against the offered rate",
                      text("Latency and good requests against the offered rate, one point per run. "
                           "Vertical line: the result. Dashed: the SLOs."),
                      search_data(load));
  }
  section.body +=
      trial_table(*load.search) + source_line("In the order in which they ran.", {load.source});
}

Markup error_part(const SummaryLoad& load) {
  Markup html =
      element("h3", text("Errors")) + element("p", text(summary::failure_words(load) + "."));
  if (load.errors.empty()) return html;
  Table table("errors-table", "errors by kind",
              {{"kind", LoadAlign::Left},
               {"requests"},
               {"share", LoadAlign::Right, "of the measured requests"},
               {"the first one", LoadAlign::Text}});
  for (const LoadError& error : load.errors) {
    const double all = static_cast<double>(std::max<std::uint64_t>(1, load.counts.measured));
    table.add({code_cell(error.kind), number_cell(error.count),
               share_cell(static_cast<double>(error.count) / all), text_cell(error.example)});
  }
  return html + table.markup();
}

Markup client_part(const SummaryLoad& load) {
  Table table("client-table", "delays of the client",
              {{"delay", LoadAlign::Left}, {"p50"}, {"p99"}, {"max"}, {"what", LoadAlign::Text}});
  for (const summary::LoadDelayRow& row : summary::client_delays(load)) {
    table.add({text_cell(row.name), duration_cell(row.delay->p50_ms * kNsPerMs),
               duration_cell(row.delay->p99_ms * kNsPerMs),
               duration_cell(row.delay->max_ms * kNsPerMs), text_cell(row.meaning)});
  }
  return element("h3", text("The client's own error")) + table.markup() +
         source_line(summary::client_words(load) + ".", {load.source});
}

std::optional<double> lateness_of(const Request& request, const char* attribute) {
  const auto ns = request.integer(attribute);
  return ns ? std::optional(static_cast<double>(*ns)) : std::nullopt;
}

Markup load_requests(const run::Artifact<run::Requests>& requests) {
  if (!requests || requests->empty()) return {};
  Table table("requests-table", "measured requests that succeeded",
              {{"request", LoadAlign::Left},
               {"start", LoadAlign::Right, "since the first of these requests"},
               {"prompt tokens"},
               {"output tokens"},
               {"TTFT"},
               {"TPOT"},
               {"E2E"},
               {"send lateness"},
               {"event delay", LoadAlign::Right, "the largest of its events"}});
  table.with_search();
  const auto count_of = [](const std::optional<std::uint64_t>& count) {
    return count_cell(count ? std::optional(static_cast<double>(*count)) : std::nullopt);
  };
  const std::int64_t start = requests->front().start_ns.value_or(0);
  for (std::size_t i = 0; i < std::min(requests->size(), kMostLoadRows); ++i) {
    const Request& request = (*requests)[i];
    const std::vector<double> tpot = latencies({request}, "tpot");
    const std::vector<double> ttft = latencies({request}, "ttft");
    const auto first = [](const std::vector<double>& values) {
      return values.empty() ? std::optional<double>() : std::optional(values.front());
    };
    table.add({code_cell(std::to_string(request.id)),
               duration_cell(request.start_ns
                                 ? std::optional(static_cast<double>(*request.start_ns - start))
                                 : std::nullopt),
               count_of(request.prompt_tokens), count_of(request.new_tokens),
               duration_cell(first(ttft)), duration_cell(first(tpot)),
               duration_cell(static_cast<double>(request.ns)),
               duration_cell(lateness_of(request, "lateness_ns")),
               duration_cell(lateness_of(request, "event_delay_ns"))});
  }
  Markup html = table.markup();
  std::string what;
  if (requests->size() > kMostLoadRows) {
    what = fmt::format("The first {} of {}.", kMostLoadRows, counted(requests->size(), "request"));
  }
  return element("details", {{"class", "more"}},
                 element("summary", text(fmt::format("Each request ({})", requests->size()))) +
                     html + source_line(what, {requests.file}));
}

Markup finding_list(const SummaryLoad& load) {
  Markup items;
  for (const Finding& finding : load.findings) {
    Markup item = text(finding.text);
    if (!finding.fix.empty()) {
      item += element("span", {{"class", "fix"}}, text(" Fix: " + finding.fix));
    }
    items += element("li", item);
  }
  if (items.empty()) return {};
  return element("h3", text("Findings")) + element("ul", {{"class", "notes"}}, items);
}

}  // namespace

Section load_section(const PageSource& source) {
  const SummaryLoad& load = *source.summary.load;
  Section section{"load", "Load"};
  section.body += element("p", text(load.configuration + "."));
  if (load.counts.succeeded > 0) {
    section.body += element("p", {{"class", "limit"}}, text(summary::limit_words(load) + "."));
  }
  section.body += finding_list(load);
  add_search(section, load);
  if (load.counts.succeeded > 0) {
    section.body += element("h3", text("Latency and throughput"));
    add_latencies(section, source);
    section.body += latency_table(load) + rate_table(load) + result_notes(load);
  }
  add_seconds(section, source);
  section.body +=
      error_part(load) + client_part(load) + load_requests(run::load_requests(source.run));
  return section;
}

}  // namespace profline::web
