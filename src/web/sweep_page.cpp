#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/figures.h"
#include "base/strings.h"
#include "run/names/artifact_names.h"
#include "schema/read.h"
#include "sweep/report.h"
#include "web/internal/sections.h"
#include "web/write_page.h"

namespace profline::web {
namespace {

using sweep::Job;
using sweep::JobState;
using sweep::Metric;
using sweep::Sweep;

/// Nobody looks at more plots than these.
constexpr std::size_t kMostMetrics = 3;
constexpr std::size_t kMostPairs = 6;
constexpr std::size_t kMostSeries = 8;
constexpr const char* kOtherJobs = "other jobs";

const Job& job_of(const Sweep& sweep, std::int64_t number) {
  return sweep.jobs[static_cast<std::size_t>(number)];
}

bool is_measured(const Job& job, const std::string& metric) {
  return job.status.state == JobState::Ok && job.find_metric(metric) != nullptr;
}

std::vector<std::string> shown_metrics(const Sweep& sweep) {
  std::vector<std::string> metrics;
  for (const sweep::Best& best : sweep.best) metrics.push_back(best.metric);
  if (metrics.size() > kMostMetrics) metrics.resize(kMostMetrics);
  return metrics;
}

/// What the plots leave out; empty if they have every metric.
Markup metrics_note(const Sweep& sweep) {
  if (sweep.best.size() <= kMostMetrics) return {};
  Markup left_out;
  for (std::size_t i = kMostMetrics; i < sweep.best.size(); ++i) {
    left_out += (left_out.empty() ? Markup() : text(", ")) + code(sweep.best[i].metric);
  }
  return element("p", {{"class", "from"}},
                 text(fmt::format("Plots show {} of {} metrics. Without plots, and in the table of "
                                  "jobs: ",
                                  kMostMetrics, sweep.best.size())) +
                     left_out + text("."));
}

const std::string& unit_of(const Sweep& sweep, const std::string& metric) {
  static const std::string kNone;
  for (const Job& job : sweep.jobs) {
    if (const Metric* found = job.find_metric(metric)) return found->unit;
  }
  return kNone;
}

Markup link_to(const Job& job) {
  const std::string number = std::to_string(job.number);
  const std::string address = sweep::report_address(job, run::files::kReportPage);
  return address.empty() ? text(number) : element("a", {{"href", address}}, text(number));
}

Markup state_tag(JobState state) {
  const std::string name(schema::name_of(state));
  const bool is_bad = sweep::is_over(state) && state != JobState::Ok;
  return element("span", {{"class", "tag"}, {"data-state", is_bad ? "failed" : name}}, text(name));
}

// ---- Best jobs ----

Node job_point(const Sweep& sweep, const Job& job, const std::vector<std::string>& metrics) {
  const bool is_front =
      std::find(sweep.pareto.begin(), sweep.pareto.end(), job.number) != sweep.pareto.end();
  return object({{"job", Node::integer(job.number)},
                 {"label", Node::string(sweep::label_of(sweep, job))},
                 {"x", number(job.find_metric(metrics[0])->value)},
                 {"y", number(job.find_metric(metrics[1])->value)},
                 {"front", Node::boolean(is_front)}});
}

void add_tradeoff(const Sweep& sweep, Section& section) {
  const std::vector<std::string>& metrics = sweep.pareto_metrics;
  if (sweep.pareto.empty()) return;
  Node points = Node::list();
  for (const Job& job : sweep.jobs) {
    if (is_measured(job, metrics[0]) && is_measured(job, metrics[1])) {
      points.as_list().push_back(job_point(sweep, job, metrics));
    }
  }
  if (points.as_list().size() < 2) return;
  section.add_chart(
      "tradeoff", metrics[0] + " against " + metrics[1],
      text("Every job by two metrics. No job is better than the marked ones in both."),
      object({{"x", object({{"name", Node::string(metrics[0])},
                            {"unit", Node::string(unit_of(sweep, metrics[0]))}})},
              {"y", object({{"name", Node::string(metrics[1])},
                            {"unit", Node::string(unit_of(sweep, metrics[1]))}})},
              {"points", std::move(points)}}));
  Markup items;
  for (const std::int64_t number : sweep.pareto) {
    const Job& job = job_of(sweep, number);
    items += element(
        "li", text("job ") + link_to(job) + text(": ") + code(sweep::label_of(sweep, job)) +
                  text(fmt::format(": {} {}, {} {}", metrics[0],
                                   sweep::metric_text(*job.find_metric(metrics[0])), metrics[1],
                                   sweep::metric_text(*job.find_metric(metrics[1])))));
  }
  section.body += element("ul", {{"class", "notes"}, {"id", "pareto"}}, items);
}

Section best_section(const Sweep& sweep) {
  Section section{"best", "Best jobs"};
  std::string sentence =
      counted(sweep.jobs.size(), "job") + ": " + sweep::state_counts(sweep) + ".";
  if (!sweep.best.empty()) {
    const sweep::Best& first = sweep.best.front();
    const Job& job = job_of(sweep, first.job);
    sentence += fmt::format(" Best {}: {} with {}.", first.metric,
                            sweep::metric_text(*job.find_metric(first.metric)),
                            sweep::label_of(sweep, job));
  }
  section.body += element("p", {{"class", "verdict"}}, text(sentence));
  Markup figures;
  for (const sweep::Best& best : sweep.best) {
    const Job& job = job_of(sweep, best.job);
    const Metric& metric = *job.find_metric(best.metric);
    const std::string interval = metric.low
                                     ? sweep::metric_text({"", metric.unit, *metric.low}) + " to " +
                                           sweep::metric_text({"", metric.unit, *metric.high})
                                     : "";
    figures +=
        element("div", {{"class", "figure"}},
                element("dt", text("best " + best.metric)) +
                    element("dd", element("b", text(sweep::metric_text(metric))) +
                                      element("small", text("job ") + link_to(job) + text(": ") +
                                                           code(sweep::label_of(sweep, job))) +
                                      element("small", text(interval)) +
                                      element("small", text(sweep::as_good_text(best)))));
  }
  if (!figures.empty()) {
    section.body += element(
        "dl", {{"class", "figures"}, {"data-count", std::to_string(sweep.best.size())}}, figures);
  }
  add_tradeoff(sweep, section);
  return section;
}

// ---- Swept keys ----

/// The values of the other keys, which tell the lines of a plot apart.
std::string others_of(const Sweep& sweep, const Job& job, const std::string& key) {
  const auto names = sweep::short_keys(sweep);
  std::vector<std::string> parts;
  for (const std::string& other : sweep.swept) {
    if (other != key) parts.push_back(names.at(other) + "=" + sweep::value_of(job, other));
  }
  return join(parts, " ");
}

Node points_of(const Sweep& sweep, const std::string& key, const std::string& metric,
               const std::vector<std::string>& axis) {
  std::vector<std::pair<std::string, Node>> series;
  for (const Job& job : sweep.jobs) {
    if (!is_measured(job, metric)) continue;
    std::string name = others_of(sweep, job, key);
    auto found = std::find_if(series.begin(), series.end(),
                              [&](const auto& each) { return each.first == name; });
    if (found == series.end() && series.size() >= kMostSeries) {
      name = kOtherJobs;
      found = std::find_if(series.begin(), series.end(),
                           [&](const auto& each) { return each.first == name; });
    }
    if (found == series.end()) {
      series.emplace_back(name, Node::list());
      found = std::prev(series.end());
    }
    const Metric& value = *job.find_metric(metric);
    const auto at = std::find(axis.begin(), axis.end(), sweep::value_of(job, key)) - axis.begin();
    found->second.as_list().push_back(
        Node::list({Node::integer(at), number(value.value), number(value.low), number(value.high),
                    Node::integer(job.number)}));
  }
  Node list = Node::list();
  for (auto& [name, points] : series) {
    list.as_list().push_back(object({{"name", Node::string(name)}, {"points", std::move(points)}}));
  }
  return list;
}

/// Says so if the plots of a key draw several combinations of the others as one line.
Markup lines_note(const Sweep& sweep, const std::string& key) {
  std::set<std::string> lines;
  for (const Job& job : sweep.jobs) {
    if (job.status.state == JobState::Ok && !job.metrics.empty()) {
      lines.insert(others_of(sweep, job, key));
    }
  }
  if (lines.size() <= kMostSeries) return {};
  return element(
      "p", {{"class", "from"}},
      text(fmt::format("The other keys have {} combinations. The first {} have a line "
                       "each; the line \"{}\" has the jobs of the remaining {}.",
                       lines.size(), kMostSeries, kOtherJobs, lines.size() - kMostSeries)));
}

Section keys_section(const Sweep& sweep) {
  Section section{"keys", "Swept keys"};
  const std::vector<std::string> metrics = shown_metrics(sweep);
  if (sweep.swept.empty()) section.add_nothing("The jobs do not differ in any key.");
  if (!sweep.swept.empty() && metrics.empty()) {
    section.add_nothing("No job has measured anything yet.");
    return section;
  }
  if (!sweep.swept.empty()) section.body += metrics_note(sweep);
  std::size_t plot = 0;
  for (const std::string& key : sweep.swept) {
    const std::vector<std::string> axis = sweep::axis_values(sweep, key);
    section.body += element("h3", code(key)) + lines_note(sweep, key);
    Section plots;
    for (const std::string& metric : metrics) {
      plots.add_chart(fmt::format("swept.{}", plot++), metric + " by " + key,
                      text(metric + " by " + key),
                      object({{"metric", Node::string(metric)},
                              {"unit", Node::string(unit_of(sweep, metric))},
                              {"axis", texts(axis)},
                              {"key", Node::string(key)},
                              {"series", points_of(sweep, key, metric, axis)}}));
    }
    section.body += element("div", {{"class", "plots"}}, plots.body);
    for (auto& chart : plots.charts) section.charts.push_back(std::move(chart));
  }
  return section;
}

// ---- Pairs of keys ----

/// The best job of each cell, if other keys are swept as well.
Node cells_of(const Sweep& sweep, const std::string& x, const std::string& y,
              const std::string& metric) {
  const auto xs = sweep::axis_values(sweep, x);
  const auto ys = sweep::axis_values(sweep, y);
  Node cells = Node::list();
  for (std::size_t row = 0; row < ys.size(); ++row) {
    for (std::size_t column = 0; column < xs.size(); ++column) {
      const Job* best = nullptr;
      for (const Job& job : sweep.jobs) {
        if (!is_measured(job, metric) || sweep::value_of(job, x) != xs[column] ||
            sweep::value_of(job, y) != ys[row]) {
          continue;
        }
        const Metric& value = *job.find_metric(metric);
        const bool is_better =
            best == nullptr ||
            (value.higher_is_better ? value.value > best->find_metric(metric)->value
                                    : value.value < best->find_metric(metric)->value);
        if (is_better) best = &job;
      }
      if (best == nullptr) continue;
      cells.as_list().push_back(
          Node::list({Node::integer(static_cast<std::int64_t>(column)),
                      Node::integer(static_cast<std::int64_t>(row)),
                      number(best->find_metric(metric)->value), Node::integer(best->number)}));
    }
  }
  return cells;
}

/// Which pairs have no heat map; empty if all have one.
Markup pairs_note(const Sweep& sweep) {
  constexpr std::size_t kMostNamed = 10;
  const std::size_t all = sweep.swept.size() * (sweep.swept.size() - 1) / 2;
  if (all <= kMostPairs) return {};
  Markup left_out;
  std::size_t pair = 0;
  for (std::size_t i = 0; i < sweep.swept.size(); ++i) {
    for (std::size_t k = i + 1; k < sweep.swept.size(); ++k, ++pair) {
      if (pair < kMostPairs || pair >= kMostPairs + kMostNamed) continue;
      left_out += (left_out.empty() ? Markup() : text(", ")) + code(sweep.swept[i]) +
                  text(" and ") + code(sweep.swept[k]);
    }
  }
  const std::size_t named = std::min(all - kMostPairs, kMostNamed);
  const std::size_t more = all - kMostPairs - named;
  return element(
      "p", {{"class", "from"}},
      text(fmt::format("{} of {} pairs have a heat map. Without one: ", kMostPairs, all)) +
          left_out + text(more > 0 ? fmt::format(", and {} more.", more) : "."));
}

Section pairs_section(const Sweep& sweep) {
  Section section{"pairs", "Pairs of keys"};
  const std::vector<std::string> metrics = shown_metrics(sweep);
  const std::string rest = sweep.swept.size() > 2 ? "; the best job over the other keys" : "";
  Section plots;
  std::size_t pair = 0;
  for (std::size_t i = 0; i < sweep.swept.size(); ++i) {
    for (std::size_t k = i + 1; k < sweep.swept.size() && pair < kMostPairs; ++k, ++pair) {
      const std::string& x = sweep.swept[i];
      const std::string& y = sweep.swept[k];
      for (std::size_t m = 0; m < metrics.size(); ++m) {
        const Job& best = job_of(sweep, sweep.best[m].job);
        plots.add_chart(fmt::format("pairs.{}_{}", pair, m), metrics[m] + " by " + x + " and " + y,
                        text(metrics[m] + " by " + x + " and " + y + rest),
                        object({{"metric", Node::string(metrics[m])},
                                {"unit", Node::string(unit_of(sweep, metrics[m]))},
                                {"higher_is_better",
                                 Node::boolean(best.find_metric(metrics[m])->higher_is_better)},
                                {"x", object({{"key", Node::string(x)},
                                              {"values", texts(sweep::axis_values(sweep, x))}})},
                                {"y", object({{"key", Node::string(y)},
                                              {"values", texts(sweep::axis_values(sweep, y))}})},
                                {"cells", cells_of(sweep, x, y, metrics[m])}}));
      }
    }
  }
  if (!plots.charts.empty()) {
    section.body =
        element("p", {{"class", "from"}}, text("Darker cells are better.")) + pairs_note(sweep);
  }
  section.body += element("div", {{"class", "plots"}}, plots.body);
  section.charts = std::move(plots.charts);
  return section;
}

// ---- Jobs ----

Section failed_section(const Sweep& sweep) {
  Section section{"failed", "Jobs that did not succeed"};
  Table table("failed-jobs", "Jobs that did not succeed",
              {{"job"},
               {"state", Table::Align::Left},
               {"overrides", Table::Align::Text},
               {"reason", Table::Align::Text},
               {"attempts"}});
  for (const Job& job : sweep.jobs) {
    if (!sweep::is_over(job.status.state) || job.status.state == JobState::Ok) continue;
    table.add({{link_to(job), static_cast<double>(job.number)},
               {state_tag(job.status.state)},
               code_cell(sweep::label_of(sweep, job)),
               text_cell(job.status.why.empty() ? "–" : job.status.why),
               number_cell(static_cast<std::uint64_t>(job.status.attempts))});
  }
  if (table.empty()) {
    section.add_nothing("All jobs that ended succeeded.");
  } else {
    section.body = table.markup();
  }
  return section;
}

Cell metric_cell(const Metric* metric) {
  if (metric == nullptr) return text_cell("–");
  Markup shown = text(sweep::metric_text(*metric));
  if (metric->low) {
    shown += element("small", {{"class", "interval"}},
                     text(sweep::metric_text({"", metric->unit, *metric->low}) + " to " +
                          sweep::metric_text({"", metric->unit, *metric->high})));
  }
  return {shown, metric->value};
}

Section jobs_section(const Sweep& sweep) {
  Section section{"jobs", "Jobs"};
  std::vector<Table::Column> columns = {{"job"}, {"state", Table::Align::Left, "", true}};
  for (const std::string& key : sweep.swept) {
    columns.push_back({key, Table::Align::Left, "", sweep.jobs.size() > 2});
  }
  const std::vector<std::string> metrics = sweep::main_metrics(sweep.jobs);
  for (const std::string& metric : metrics) columns.push_back({metric});
  Table table("sweep-jobs", "Jobs of the sweep", columns);
  if (sweep.jobs.size() > 8) table.with_search();
  for (const Job& job : sweep.jobs) {
    if (table.rows() >= kMostRows) break;
    std::vector<Cell> cells = {{link_to(job), static_cast<double>(job.number)},
                               {state_tag(job.status.state)}};
    for (const std::string& key : sweep.swept)
      cells.push_back(code_cell(sweep::value_of(job, key)));
    for (const std::string& metric : metrics) cells.push_back(metric_cell(job.find_metric(metric)));
    table.add(cells);
  }
  std::string note = sweep::figures_note(sweep);
  if (sweep.jobs.size() > table.rows()) {
    note += fmt::format(" The table has the first {} of {} jobs; {} and {} have all.", table.rows(),
                        sweep.jobs.size(), run::files::kSweepReport, run::files::kSweep);
  }
  section.body = table.markup() + element("p", {{"class", "from"}}, text(note));
  return section;
}

Markup facts_of(const Sweep& sweep) {
  Markup items;
  const auto add = [&](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    items += element("div", element("dt", text(name)) + element("dd", text(value)));
  };
  add("config", sweep.command_line.config_name);
  add("jobs", std::to_string(sweep.jobs.size()));
  add("launcher", std::string(schema::name_of(sweep.launcher)));
  if (!sweep.submissions.empty()) add("Slurm job", sweep.submissions.back().slurm_job);
  add("started", sweep.started);
  add("profline", sweep.version);
  return element("dl", {{"class", "facts"}}, items);
}

}  // namespace

Result<std::string> sweep_page(const Sweep& sweep, const std::string& name,
                               const std::vector<PageLink>& links) {
  PageFrame frame;
  frame.links = links;
  frame.title = "profline sweep " + name;
  frame.heading = "sweep " + name;
  frame.skip = "Skip to the best jobs";
  frame.facts = facts_of(sweep);
  std::vector<Section> sections = {best_section(sweep), keys_section(sweep)};
  if (sweep.swept.size() > 1 && !sweep.best.empty()) sections.push_back(pairs_section(sweep));
  sections.push_back(failed_section(sweep));
  sections.push_back(jobs_section(sweep));
  return framed_page(frame, sections);
}

}  // namespace profline::web
