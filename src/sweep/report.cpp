#include "sweep/report.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include <fmt/core.h>

#include "analysis/energy/energy.h"
#include "analysis/requests/series.h"
#include "base/figures.h"
#include "base/strings.h"
#include "formats/markup.h"
#include "run/artifacts.h"
#include "run/names/artifact_names.h"
#include "schema/read.h"
#include "statistics/summary.h"

namespace profline::sweep {
namespace {

constexpr const char* kThroughput = "tokens_per_s";
constexpr const char* kTokenTime = "token_ms";
constexpr const char* kStepTime = "step_ms";
constexpr std::string_view kLoadThroughput = requests::kLoadFigures.back();
constexpr std::string_view kGoodput = "goodput_per_s";

template <typename T>
void add_once(std::vector<T>& list, const T& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

std::string_view without_quotes(std::string_view text) {
  const bool is_quoted = text.size() > 1 && text.front() == text.back() &&
                         (text.front() == '\'' || text.front() == '"');
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = status == std::errc() && end == text.data() + text.size();
  return is_number && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

bool is_better(const Metric& a, const Metric& b) {
  return a.higher_is_better ? a.value > b.value : a.value < b.value;
}

Metric metric_of(const requests::Series& series) {
  Metric metric{series.name, series.unit, requests::value_of(series)};
  metric.n = static_cast<std::int64_t>(series.units.size());
  metric.higher_is_better = series.better == statistics::Better::Higher;
  const auto summary = statistics::summarise(series.units);
  if (summary && summary->n > 1) {
    metric.low = summary->median_ci95.low;
    metric.high = summary->median_ci95.high;
  }
  return metric;
}

/// The figures of a whole load are single values, and load.json has their intervals.
void add_intervals(const LoadMetrics& load, std::vector<Metric>& metrics) {
  const std::pair<std::string_view, std::optional<LoadFigure>> whole[] = {
      {"ttft_p99_ms", load.ttft.p99},
      {"tpot_p99_ms", load.tpot.p99},
      {"requests_per_s", load.requests.per_second},
      {"output_tokens_per_s", load.output_tokens.per_second},
      {kGoodput, load.goodput ? load.goodput->per_second : std::nullopt}};
  for (const auto& [name, figure] : whole) {
    for (Metric& metric : metrics) {
      if (metric.name != name || !figure) continue;
      metric.low = figure->low;
      metric.high = figure->high;
    }
  }
}

std::vector<std::string> swept_keys(const std::vector<Job>& jobs) {
  std::vector<std::string> keys;
  for (const Job& job : jobs) {
    for (const std::string& text : job.overrides) {
      const std::string key = setting_of(text).key;
      if (!is_hydras(key)) add_once(keys, key);
    }
  }
  std::erase_if(keys, [&](const std::string& key) {
    return std::all_of(jobs.begin(), jobs.end(), [&](const Job& job) {
      return value_of(job, key) == value_of(jobs.front(), key);
    });
  });
  return keys;
}

/// The jobs whose intervals of the metric overlap that of the best. A single value says nothing
/// about its spread, so it is never called as good.
std::vector<std::int64_t> as_good_as(const Job& best, const std::vector<Job>& jobs,
                                     const std::string& name) {
  std::vector<std::int64_t> numbers;
  const Metric& leading = *best.find_metric(name);
  for (const Job& job : jobs) {
    const Metric* metric = job.find_metric(name);
    if (&job == &best || job.status.state != JobState::Ok || metric == nullptr) continue;
    if (!leading.low || !leading.high || !metric->low || !metric->high) continue;
    if (*metric->low <= *leading.high && *leading.low <= *metric->high) {
      numbers.push_back(job.number);
    }
  }
  return numbers;
}

std::vector<Best> best_jobs(const std::vector<Job>& jobs, const std::vector<std::string>& metrics) {
  std::vector<Best> best;
  for (const std::string& name : metrics) {
    const Job* leader = nullptr;
    for (const Job& job : jobs) {
      const Metric* metric = job.find_metric(name);
      if (job.status.state != JobState::Ok || metric == nullptr) continue;
      if (leader == nullptr || is_better(*metric, *leader->find_metric(name))) leader = &job;
    }
    if (leader != nullptr) {
      best.push_back({name, leader->number, as_good_as(*leader, jobs, name)});
    }
  }
  return best;
}

/// With batches, the time of a step is traded for throughput, and on a server the time to the first
/// token; else the first two figures.
std::vector<std::string> traded_metrics(const std::vector<std::string>& metrics) {
  const auto has = [&](std::string_view name) {
    return std::find(metrics.begin(), metrics.end(), name) != metrics.end();
  };
  if (has(kStepTime) && has(kThroughput)) return {kStepTime, kThroughput};
  if (has(kLoadThroughput)) return {metrics.front(), std::string(kLoadThroughput)};
  if (metrics.size() < 2) return {};
  return {metrics[0], metrics[1]};
}

bool beats(const Job& a, const Job& b, const std::vector<std::string>& metrics) {
  bool is_ahead = false;
  for (const std::string& name : metrics) {
    if (is_better(*b.find_metric(name), *a.find_metric(name))) return false;
    is_ahead = is_ahead || is_better(*a.find_metric(name), *b.find_metric(name));
  }
  return is_ahead;
}

std::vector<std::int64_t> pareto_front(const std::vector<Job>& jobs,
                                       const std::vector<std::string>& metrics) {
  std::vector<const Job*> measured;
  for (const Job& job : jobs) {
    const bool has_all = std::all_of(metrics.begin(), metrics.end(), [&](const std::string& name) {
      return job.find_metric(name) != nullptr;
    });
    if (job.status.state == JobState::Ok && has_all) measured.push_back(&job);
  }
  std::vector<std::int64_t> front;
  for (const Job* job : measured) {
    const bool is_beaten = std::any_of(measured.begin(), measured.end(), [&](const Job* other) {
      return beats(*other, *job, metrics);
    });
    if (!is_beaten) front.push_back(job->number);
  }
  return front;
}

/// A step of a single sequence makes a token. Next to jobs with batches, it is shown as a step.
void name_steps_alike(std::vector<Job>& jobs) {
  const auto has_batches = [](const Job& job) {
    return job.find_metric(kStepTime) != nullptr && job.find_metric(kTokenTime) == nullptr;
  };
  if (std::none_of(jobs.begin(), jobs.end(), has_batches)) return;
  for (Job& job : jobs) {
    const Metric* const token = job.find_metric(kTokenTime);
    if (token == nullptr || job.find_metric(kStepTime) != nullptr) continue;
    Metric step = *token;
    step.name = kStepTime;
    job.metrics.push_back(std::move(step));
  }
}

std::string link_to(const Job& job) {
  const std::string number = std::to_string(job.number);
  const std::string address = report_address(job, run::files::kReport);
  return address.empty() ? number : "[" + number + "](" + address + ")";
}

std::string jobs_table(const Sweep& sweep, const std::vector<std::string>& metrics) {
  using Align = markdown::Table::Align;
  std::vector<markdown::Table::Column> columns = {{"job"}, {"state", Align::Left}};
  for (const std::string& key : sweep.swept) columns.push_back({markdown::code(key), Align::Left});
  for (const std::string& name : metrics) columns.push_back({markdown::code(name)});
  markdown::Table table(columns);
  for (const Job& job : sweep.jobs) {
    std::vector<std::string> cells = {link_to(job), std::string(schema::name_of(job.status.state))};
    for (const std::string& key : sweep.swept) cells.push_back(markdown::plain(value_of(job, key)));
    for (const std::string& name : metrics) {
      const Metric* metric = job.find_metric(name);
      cells.push_back(metric == nullptr ? "–" : metric_text(*metric, true));
    }
    table.add(std::move(cells));
  }
  return table.text();
}

}  // namespace

std::vector<Metric> metrics_of(const run::Run& run) {
  std::vector<Metric> metrics;
  if (const auto& requests = run.baseline()) {
    for (const requests::Series& series : requests::series_of(*requests)) {
      metrics.push_back(metric_of(series));
    }
  }
  const auto& readings = run.get(run::kGpuReadings);
  if (readings && run.baseline()) {
    const auto energy = energy::series_of(*readings, *run.baseline());
    if (energy) metrics.push_back(metric_of(*energy));
  }
  const auto& process = run.get(run::kProcess);
  const auto wall = process ? requests::wall_ms(*process) : std::nullopt;
  if (wall) metrics.push_back({std::string(requests::kWallFigure), "ms", *wall, {}, {}, 1});
  if (const auto& load = run.get(run::kLoad)) {
    const auto& all = run.requests("");
    const run::Requests none;
    for (const requests::Series& series : requests::load_series(all ? *all : none, *load)) {
      metrics.push_back(metric_of(series));
    }
    const auto energy = readings && all ? energy::series_of(*readings, *all, *load) : std::nullopt;
    if (energy) metrics.push_back(metric_of(*energy));
    add_intervals(load->metrics, metrics);
  }
  return metrics;
}

Setting setting_of(const std::string& override_text) {
  std::string_view text = override_text;
  const bool is_deletion = text.starts_with('~');
  while (text.starts_with('+') || text.starts_with('~')) text.remove_prefix(1);
  const std::size_t at = text.find('=');
  Setting setting{std::string(text.substr(0, at)), ""};
  if (is_deletion) {
    setting.value = "(deleted)";
  } else if (at != std::string_view::npos) {
    setting.value = without_quotes(text.substr(at + 1));
  }
  return setting;
}

bool is_hydras(std::string_view key) {
  return key.starts_with("hydra.") || key.starts_with("hydra/");
}

std::string value_of(const Job& job, std::string_view key) {
  // The last one counts, as in a command line.
  for (auto text = job.overrides.rbegin(); text != job.overrides.rend(); ++text) {
    Setting setting = setting_of(*text);
    if (setting.key == key) return std::move(setting.value);
  }
  return "";
}

std::string label_of(const Sweep& sweep, const Job& job) {
  std::vector<std::string> parts;
  for (const std::string& key : sweep.swept) parts.push_back(key + "=" + value_of(job, key));
  if (parts.empty()) {
    for (const std::string& text : job.overrides) {
      if (!is_hydras(setting_of(text).key)) parts.push_back(text);
    }
  }
  return join(parts, " ");
}

std::string report_address(const Job& job, std::string_view file) {
  if (job.verdict.empty()) return "";
  std::string address;
  for (const char c : job.folder + "/" + std::string(file)) {
    const bool is_plain =
        is_letter(c) || is_digit(c) || std::string_view("-._~/").find(c) != std::string_view::npos;
    address += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return address;
}

std::string end_line(const Sweep& sweep, const Job& job) {
  const std::string why = job.status.why.empty() ? "" : ": " + job.status.why;
  return fmt::format("#{} : {} : {}{}", job.number, label_of(sweep, job),
                     schema::name_of(job.status.state), why);
}

std::vector<std::string> main_metrics(const std::vector<Job>& jobs) {
  std::vector<std::string> metrics;
  bool has_throughput = false;
  bool has_wall = false;
  bool has_goodput = false;
  bool has_energy = false;
  for (const Job& job : jobs) {
    std::vector<std::string> names;
    for (const Metric& metric : job.metrics) names.push_back(metric.name);
    for (const std::string& name : requests::usual_figures(names)) add_once(metrics, name);
    has_throughput = has_throughput || job.find_metric(kThroughput) != nullptr;
    has_goodput = has_goodput || job.find_metric(kGoodput) != nullptr;
    has_wall = has_wall || job.find_metric(requests::kWallFigure) != nullptr;
    has_energy = has_energy || job.find_metric(energy::kTokenEnergy) != nullptr;
  }
  // Jobs without batches have both; see name_steps_alike.
  const auto token = std::find(metrics.begin(), metrics.end(), kTokenTime);
  const bool has_steps = std::any_of(jobs.begin(), jobs.end(), [](const Job& job) {
    return job.find_metric(kStepTime) != nullptr;
  });
  if (token != metrics.end() && has_steps) {
    metrics.erase(token);
    add_once(metrics, std::string(kStepTime));
  }
  if (has_throughput) add_once(metrics, std::string(kThroughput));
  if (has_goodput) add_once(metrics, std::string(kGoodput));
  if (has_wall) add_once(metrics, std::string(requests::kWallFigure));
  if (has_energy) add_once(metrics, std::string(energy::kTokenEnergy));
  return metrics;
}

void summarise(Sweep& sweep) {
  name_steps_alike(sweep.jobs);
  sweep.swept = swept_keys(sweep.jobs);
  const std::vector<std::string> metrics = main_metrics(sweep.jobs);
  sweep.best = best_jobs(sweep.jobs, metrics);
  sweep.pareto_metrics = traded_metrics(metrics);
  sweep.pareto.clear();
  if (!sweep.pareto_metrics.empty()) {
    sweep.pareto = pareto_front(sweep.jobs, sweep.pareto_metrics);
  }
}

std::string as_good_text(const Best& best) {
  constexpr std::size_t kNamed = 6;
  if (best.as_good.empty()) return "";
  std::vector<std::string> names;
  for (const std::int64_t job : best.as_good) {
    if (names.size() < kNamed) names.push_back(std::to_string(job));
  }
  std::string text = (best.as_good.size() == 1 ? "job " : "jobs ") + join(names, ", ");
  if (best.as_good.size() > kNamed) {
    text += fmt::format(" and {} more", best.as_good.size() - kNamed);
  }
  return "not clearly better than " + text;
}

std::string figures_note(const Sweep& sweep) {
  bool has_figures = false;
  for (const Job& job : sweep.jobs) {
    has_figures = has_figures || !job.metrics.empty();
    for (const Metric& metric : job.metrics) {
      if (metric.low) return "Medians over requests without a profiler, with 95 % intervals.";
    }
  }
  if (!has_figures) return "No job has measured anything.";
  return "Measured without a profiler. A single value has no interval.";
}

std::map<std::string, std::string> short_keys(const Sweep& sweep) {
  const auto last_part = [](const std::string& key) {
    const std::size_t at = key.find_last_of("./@");
    return at == std::string::npos ? key : key.substr(at + 1);
  };
  std::map<std::string, std::size_t> uses;
  for (const std::string& key : sweep.swept) ++uses[last_part(key)];
  std::map<std::string, std::string> names;
  for (const std::string& key : sweep.swept) {
    const std::string part = last_part(key);
    names[key] = part.empty() || uses[part] > 1 ? key : part;
  }
  return names;
}

std::string metric_text(const Metric& metric, bool interval) {
  const auto shown = [&](double value) {
    if (metric.unit == "ms") return human_duration(FractionalNanoseconds(value * 1e6));
    const std::size_t per = metric.unit.find("/s");
    if (per != std::string::npos) return human_rate(value, metric.unit.substr(0, per));
    return metric.unit == "J" ? plain_number(value) + " J" : human_count(value);
  };
  std::string text = shown(metric.value);
  if (interval && metric.low && metric.high) {
    text += " (" + shown(*metric.low) + " to " + shown(*metric.high) + ")";
  }
  return text;
}

std::string state_counts(const Sweep& sweep) {
  std::map<JobState, std::size_t> counts;
  for (const Job& job : sweep.jobs) ++counts[job.status.state];
  std::vector<std::string> parts;
  for (const JobState state :
       {JobState::Ok, JobState::Failed, JobState::TimedOut, JobState::Killed, JobState::Held,
        JobState::Cancelled, JobState::Running, JobState::Pending, JobState::Unknown}) {
    if (counts[state] == 0) continue;
    parts.push_back(fmt::format("{} {}", counts[state], schema::name_of(state)));
  }
  return join(parts, ", ");
}

std::vector<std::string> axis_values(const Sweep& sweep, std::string_view key) {
  std::vector<std::string> values;
  for (const Job& job : sweep.jobs) add_once(values, value_of(job, key));
  const bool are_numbers = std::all_of(
      values.begin(), values.end(), [](const auto& text) { return number_in(text).has_value(); });
  if (are_numbers) {
    std::stable_sort(values.begin(), values.end(),
                     [](const auto& a, const auto& b) { return *number_in(a) < *number_in(b); });
  }
  return values;
}

std::string markdown_of(const Sweep& sweep) {
  const std::vector<std::string> metrics = main_metrics(sweep.jobs);
  std::string text = "# Sweep\n\n" + capitalised(counted(sweep.jobs.size(), "job")) + ": " +
                     state_counts(sweep) + ".\n\n";
  if (!sweep.best.empty()) {
    markdown::Table table({{"metric", markdown::Table::Align::Left},
                           {"best"},
                           {"job"},
                           {"overrides", markdown::Table::Align::Left},
                           {"", markdown::Table::Align::Left}});
    for (const Best& best : sweep.best) {
      const Job& job = sweep.jobs[static_cast<std::size_t>(best.job)];
      table.add({markdown::code(best.metric), metric_text(*job.find_metric(best.metric), true),
                 link_to(job), markdown::code(label_of(sweep, job)), as_good_text(best)});
    }
    text += "## Best jobs\n\n" + table.text() + "\n";
  }
  if (!sweep.pareto.empty()) {
    text += "## Trade-off\n\nNo job is better than these in both " +
            markdown::code(sweep.pareto_metrics[0]) + " and " +
            markdown::code(sweep.pareto_metrics[1]) + ":\n\n";
    for (const std::int64_t number : sweep.pareto) {
      const Job& job = sweep.jobs[static_cast<std::size_t>(number)];
      text += fmt::format("- job {}: {}, {}: {}\n", link_to(job),
                          metric_text(*job.find_metric(sweep.pareto_metrics[0])),
                          metric_text(*job.find_metric(sweep.pareto_metrics[1])),
                          markdown::code(label_of(sweep, job)));
    }
    text += "\n";
  }
  text += "## Jobs\n\n" + jobs_table(sweep, metrics) + "\n" + figures_note(sweep) + "\n";
  std::string failed;
  for (const Job& job : sweep.jobs) {
    if (!is_over(job.status.state) || job.status.state == JobState::Ok) continue;
    failed +=
        fmt::format("- job {}, {}: {}: {}\n", job.number, markdown::code(label_of(sweep, job)),
                    schema::name_of(job.status.state), markdown::plain(job.status.why));
  }
  if (!failed.empty()) text += "\n## Jobs that did not succeed\n\n" + failed;
  return text;
}

}  // namespace profline::sweep
