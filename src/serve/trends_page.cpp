#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/figures.h"
#include "base/source_commit.h"
#include "base/strings.h"
#include "catalog/history.h"
#include "serve/chart.h"
#include "serve/internal/pages.h"
#include "session/stored_runs.h"

namespace profline::serve {
namespace {

using catalog::History;
using catalog::MetricHistory;
using run_index::IndexedRun;

/// Nobody reads more charts than this on one page.
constexpr std::size_t kMostSeries = 12;
/// Series that are looked at; the runs in a folder seldom have more.
constexpr std::size_t kMostRead = 500;
constexpr std::size_t kUsualRuns = 60;
constexpr std::size_t kMostRuns = 1000;

std::vector<std::string> metric_names(const Snapshot& snapshot) {
  std::map<std::string, std::size_t> counts;
  for (const auto& series : snapshot.series) {
    for (const auto& metric : snapshot.runs[series.front()].known.row.metrics) {
      if (metric.unit.empty()) continue;  // such as the number of the late rank
      counts[metric.name] += series.size();
    }
  }
  std::vector<std::string> names;
  for (const auto& [name, number] : counts) names.push_back(name);
  return names;
}

/// The most informative one of the newest runs.
std::string usual_metric(const Snapshot& snapshot) {
  std::vector<IndexedRun> rows;
  for (const ListedRun& run : snapshot.runs) {
    if (rows.size() == 50) break;
    IndexedRun row;
    row.metrics = run.known.row.metrics;
    rows.push_back(std::move(row));
  }
  const auto names = session::usual_metrics(rows);
  return names.empty() ? "" : names.front();
}

/// A series as the page shows it.
struct Trend {
  const ListedRun* newest = nullptr;
  History history;
  std::map<std::string, std::string> ids;  ///< by the run's folder
  std::size_t of_commit = 0;               ///< runs of the commit that is asked for
  std::vector<bool> marked;                ///< which points are of that commit
  std::size_t configured_otherwise = 0;    ///< runs that are not in it for this reason alone
};

/// The history of the runs in a series that are chosen. Nothing if none of them has the metric, or
/// if a commit is asked for that none of them is of. The others are needed to judge that one.
std::optional<Trend> trend_of(const Snapshot& snapshot, const std::vector<std::size_t>& series,
                              const RunChoice& choice, const catalog::HistoryRequest& request) {
  Trend trend;
  std::vector<IndexedRun> rows;  // newest first
  for (const std::size_t index : series) {
    const ListedRun& run = snapshot.runs[index];
    if (!choice.holds_apart_from_commit(run)) continue;
    const bool is_newest = trend.newest == nullptr && run.known.row.state == "ok" &&
                           run.known.row.find_metric(request.metrics.front()) != nullptr;
    if (is_newest) trend.newest = &run;
    if (trend.newest == nullptr) continue;
    rows.push_back(run.known.row);
    trend.ids.emplace(run.known.row.folder, run.id);
    const bool is_measured = run.known.row.find_metric(request.metrics.front()) != nullptr;
    if (is_measured && choice.is_wanted_commit(run.known.row.commit)) ++trend.of_commit;
  }
  if (trend.newest == nullptr) return std::nullopt;
  if (!choice.commit().empty() && trend.of_commit == 0) return std::nullopt;
  auto history =
      catalog::history_of(trend.newest->known.root.string(), rows.front(), rows, request);
  if (!history) return std::nullopt;
  trend.history = std::move(*history);
  for (const catalog::HistoryPoint& point : trend.history.metrics.front().points) {
    trend.marked.push_back(choice.is_wanted_commit(point.commit));
  }
  trend.configured_otherwise = snapshot.configured_otherwise[trend.newest->series];
  return trend;
}

enum class Urgency { Single, Steady, Faster, Slower };

Urgency urgency_of(const Trend& trend) {
  const MetricHistory& metric = trend.history.metrics.front();
  if (metric.points.size() < 2) return Urgency::Single;
  if (metric.verdict == catalog::Verdict::Slower) return Urgency::Slower;
  return metric.changes.empty() ? Urgency::Steady : Urgency::Faster;
}

Markup verdict_tag(catalog::Verdict verdict) {
  const bool is_slower = verdict == catalog::Verdict::Slower;
  return element("span", {{"class", is_slower ? "slower" : "faster"}},
                 text(is_slower ? "SLOWER" : "FASTER"));
}

/// The runs of a series, newest first.
Markup points_table(const Trend& trend, const MetricHistory& metric) {
  web::Table table("points", "runs of this series, newest first",
                   {{"run", web::Table::Align::Left},
                    {"started, UTC", web::Table::Align::Left},
                    {"commit", web::Table::Align::Left},
                    {metric.name},
                    {"requests"},
                    {"change of level", web::Table::Align::Left}});
  std::map<std::size_t, const catalog::HistoryChange*> changes;
  for (const auto& change : metric.changes) changes[change.at] = &change;
  for (std::size_t i = metric.points.size(); i-- > 0;) {
    const catalog::HistoryPoint& point = metric.points[i];
    const auto change = changes.find(i);
    Markup what = text("");
    if (change != changes.end()) {
      what = verdict_tag(change->second->verdict) +
             text(" " + signed_percent(change->second->change) + " from here");
    }
    Markup commit = web::code(short_commit(point.commit));
    if (trend.marked[i]) commit += text(" ") + element("span", {{"class", "tag"}}, text("chosen"));
    table.add({{link(run_address(trend.ids.at(point.folder)), web::code(point.folder)), {}, {}},
               {moment(point.started), {}, {}},
               {commit, {}, {}},
               {text(catalog::value_text(point.value, metric.unit)), point.value, {}},
               web::number_cell(static_cast<std::uint64_t>(point.n)),
               {what, {}, {}}});
  }
  return element("details", {{"class", "more"}},
                 element("summary", text(counted(metric.points.size(), "run"))) + table.markup());
}

Markup changes_list(const Trend& trend, const MetricHistory& metric) {
  Markup items;
  for (const catalog::HistoryChange& change : metric.changes) {
    const std::string& before = metric.points[change.at - 1].folder;
    const Query pair{{{"a", trend.ids.at(before)}, {"b", trend.ids.at(change.folder)}}};
    items += element(
        "li", verdict_tag(change.verdict) +
                  text(fmt::format(" {}: {} after {}, since ", signed_percent(change.change),
                                   catalog::value_text(change.after, metric.unit),
                                   catalog::value_text(change.before, metric.unit))) +
                  link(run_address(trend.ids.at(change.folder)), web::code(change.folder)) +
                  text(" (" + change.started.substr(0, 10) + catalog::commit_words(change) + ") ") +
                  link(address(Page::Compare, pair), text("compare with the run before")));
  }
  return items.empty() ? Markup() : element("ul", {{"class", "changes"}}, items);
}

/// Where the runs of the commit that is asked for are.
Markup commit_note(const Trend& trend) {
  if (trend.of_commit == 0) return {};
  const auto shown =
      static_cast<std::size_t>(std::count(trend.marked.begin(), trend.marked.end(), true));
  std::string sentence =
      counted(trend.of_commit, "run of this series is", "runs of this series are") +
      " of this commit";
  if (shown > 0) sentence += ", with a ring in the chart";
  if (trend.of_commit > shown) {
    sentence += fmt::format("; {} older than the runs shown",
                            counted(trend.of_commit - shown, "is", "are"));
  }
  return element("li", text(sentence + "."));
}

Markup series_section(const Trend& trend, std::size_t number) {
  const MetricHistory& metric = trend.history.metrics.front();
  const IndexedRun& row = trend.newest->known.row;
  std::vector<std::string> addresses;
  for (const auto& point : metric.points)
    addresses.push_back(run_address(trend.ids.at(point.folder)));
  const std::string id = "series-" + std::to_string(number);
  Markup title = text(row.experiment.empty() ? "no experiment" : row.experiment);
  title += element(
      "small", text(fmt::format(" {} on {}", workload_of(row).empty() ? "–" : workload_of(row),
                                row.device_name.empty() ? "an unknown device" : row.device_name)));
  Markup notes = commit_note(trend);
  for (const std::string& each : trend.history.notes)
    notes += element("li", text(capitalised(each) + "."));
  if (trend.configured_otherwise > 0) {
    notes += element("li", text(counted(trend.configured_otherwise,
                                        "run differs only in its configuration and is",
                                        "runs differ only in their configurations and are") +
                                " not in this series."));
  }
  if (!trend.history.left_out.empty()) {
    const catalog::LeftOutRun& first = trend.history.left_out.front();
    notes += element(
        "li", text(fmt::format(
                  "{} left out: {}, because {}.",
                  counted(trend.history.left_out.size(), "run is", "runs are"),
                  trend.history.left_out.size() > 1 ? "for example " + first.folder : first.folder,
                  first.why)));
  }
  // A change of level is in the list below, with links.
  const bool is_listed = metric.newest && metric.newest->verdict == catalog::Verdict::Undecided &&
                         !metric.changes.empty();
  const Markup finding = is_listed
                             ? Markup()
                             : element("p", {{"class", "finding"}},
                                       text(capitalised(catalog::change_words(metric)) + "."));
  return element(
      "section", {{"class", "series"}, {"aria-labelledby", id}},
      element("h2", {{"id", id}}, title) + finding +
          element("div", {{"class", "wide"}}, trend_chart(metric, addresses, trend.marked)) +
          changes_list(trend, metric) +
          (notes.empty() ? Markup() : element("ul", {{"class", "notes"}}, notes)) +
          points_table(trend, metric));
}

Markup trend_form(const Snapshot& snapshot, const Query& query, const std::string& metric,
                  std::size_t most) {
  Markup options;
  for (const std::string& name : metric_names(snapshot)) {
    options +=
        element("option", {{"value", name}, {name == metric ? "selected" : "", ""}}, text(name));
  }
  return element(
      "form", {{"class", "filter"}, {"action", "/trends"}, {"method", "get"}},
      element("label",
              element("span", text("Metric")) + element("select", {{"name", "metric"}}, options)) +
          RunChoice::fields(snapshot, query) +
          input_field("Commit", "commit", "text", query.get("commit"), "marked in its series") +
          input_field("Since", "since", "date", query.get("since")) +
          input_field("Until", "until", "date", query.get("until")) +
          input_field("Runs", "last", "number", std::to_string(most)) +
          element("span", {{"class", "buttons"}},
                  element("button", {{"type", "submit"}}, text("Show")) +
                      link("/trends", text("Clear"))));
}

}  // namespace

Response trends_page(const Context& context, const Query& query) {
  const Snapshot& snapshot = *context.snapshot;
  Content content{.title = "Trends", .section = "Trends", .main = {}};
  std::string metric = query.get("metric");
  if (metric.empty()) metric = usual_metric(snapshot);
  const std::size_t most = std::clamp<std::size_t>(
      whole_number<std::size_t>(query.get("last")).value_or(kUsualRuns), 1, kMostRuns);
  const auto choice = RunChoice::read(query);
  Markup main =
      element("h1", text("Trends")) +
      element("p", {{"class", "lead"}},
              text("A metric over runs of the same thing on the same kind of device. A "
                   "change of level is marked with the commit of the first run after it."));
  main += trend_form(snapshot, query, metric, most);
  if (!choice) {
    content.status = 400;
    content.main = main + note(choice.error().to_string());
    return page_response(content);
  }
  const catalog::HistoryRequest request{.most = most - 1, .threshold = {}, .metrics = {metric}};
  std::vector<Trend> trends;
  for (const auto& series : snapshot.series) {
    if (metric.empty() || trends.size() == kMostRead) break;
    if (auto trend = trend_of(snapshot, series, *choice, request)) {
      trends.push_back(std::move(*trend));
    }
  }
  // What became slower is read first; a single run is no trend.
  std::stable_sort(trends.begin(), trends.end(),
                   [](const Trend& a, const Trend& b) { return urgency_of(a) > urgency_of(b); });
  std::size_t shown = 0;
  Markup single;
  for (const Trend& trend : trends) {
    if (urgency_of(trend) == Urgency::Single) {
      single +=
          element("li", run_link(*trend.newest) + text(" " + trend.newest->known.row.experiment));
    } else if (++shown <= kMostSeries) {
      main += series_section(trend, shown);
    }
  }
  if (trends.empty()) {
    main += note(choice->commit().empty() ? "No run that is chosen has this metric."
                                          : "No run of this commit has this metric.");
  }
  if (shown > kMostSeries) {
    main += note(fmt::format("There are {} more series: choose an experiment, a model or a device.",
                             shown - kMostSeries));
  }
  if (!single.empty()) {
    main += element("section", {{"class", "series"}, {"aria-labelledby", "single"}},
                    element("h2", {{"id", "single"}}, text("Measured once")) +
                        element("ul", {{"class", "notes"}}, single));
  }
  content.main = main + notes_of(context);
  return page_response(content);
}

}  // namespace profline::serve
