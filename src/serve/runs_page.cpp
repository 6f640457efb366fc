#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/figures.h"
#include "base/strings.h"
#include "serve/chart.h"
#include "serve/internal/pages.h"
#include "session/stored_runs.h"

namespace profline::serve {
namespace {

using run_index::IndexedMetric;
using run_index::IndexedRun;

constexpr std::size_t kPageSize = 100;
constexpr std::size_t kMostColumns = 3;
/// Runs of a sparkline, including its own.
constexpr std::size_t kSparkRuns = 24;

std::size_t page_number(const Query& query) {
  return std::max<std::size_t>(whole_number<std::size_t>(query.get("page")).value_or(1), 1);
}

/// Sorts by a metric; runs without it come last.
void sort_by(const std::string& metric, bool descending, const Snapshot& snapshot,
             std::vector<std::size_t>& found) {
  constexpr double kLast = std::numeric_limits<double>::infinity();
  const auto key = [&](std::size_t index) {
    const IndexedMetric* value = snapshot.runs[index].known.row.find_metric(metric);
    return value == nullptr ? kLast : (descending ? -value->value : value->value);
  };
  std::vector<std::pair<double, std::size_t>> keyed;
  keyed.reserve(found.size());
  for (const std::size_t index : found) keyed.emplace_back(key(index), index);
  std::stable_sort(keyed.begin(), keyed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < found.size(); ++i) found[i] = keyed[i].second;
}

/// The metric over the runs of the series up to this one, oldest first.
std::vector<double> recent_values(const Snapshot& snapshot, const ListedRun& run,
                                  const std::string& metric) {
  std::vector<double> values;
  const auto& members = snapshot.series[run.series];
  for (std::size_t i = run.place; i < members.size() && values.size() < kSparkRuns; ++i) {
    const IndexedRun& row = snapshot.runs[members[i]].known.row;
    const IndexedMetric* value = row.state == "ok" ? row.find_metric(metric) : nullptr;
    if (value != nullptr) values.push_back(value->value);
    // The line would end at another run.
    if (i == run.place && value == nullptr) return {};
  }
  std::reverse(values.begin(), values.end());
  return values;
}

/// The metrics that most of these runs have, those of the conditions first.
std::vector<std::string> columns_of(const Snapshot& snapshot, std::span<const std::size_t> shown,
                                    const RunChoice& choice, const std::string& sorted) {
  std::vector<std::string> columns = choice.metrics();
  if (!sorted.empty()) columns.push_back(sorted);
  std::vector<IndexedRun> rows;
  for (const std::size_t index : shown) {
    IndexedRun row;  // only what decides
    row.metrics = snapshot.runs[index].known.row.metrics;
    rows.push_back(std::move(row));
  }
  for (std::string& name : session::usual_metrics(rows)) columns.push_back(std::move(name));
  std::vector<std::string> unique;
  for (std::string& name : columns) {
    const bool is_new = std::find(unique.begin(), unique.end(), name) == unique.end();
    if (is_new && unique.size() < kMostColumns) unique.push_back(std::move(name));
  }
  return unique;
}

Markup sort_link(const std::string& metric, const Query& query) {
  const std::string now = query.get("sort");
  const bool is_ascending = now == metric;
  const bool is_descending = now == "-" + metric;
  const Query next = with(with(query, "page", ""), "sort", is_ascending ? "-" + metric : metric);
  return element("th",
                 {{"scope", "col"},
                  {"class", "n"},
                  {is_ascending || is_descending ? "aria-sort" : "",
                   is_ascending ? "ascending" : "descending"}},
                 link(address(Page::Runs, next), text(metric + (is_ascending    ? " ▲"
                                                                : is_descending ? " ▼"
                                                                                : ""))));
}

Markup side_box(const char* side, const ListedRun& run) {
  const char* const name = side[0] == 'A' ? "a" : "b";
  return element("td", {{"class", "pick"}},
                 element("input", {{"type", "checkbox"},
                                   {"name", name},
                                   {"value", run.id},
                                   {"aria-label", std::string("compare as ") + side + ": " +
                                                      run.known.row.folder}}));
}

Markup cell(const Markup& shown, const char* css = "") {
  return element("td", {{css[0] == '\0' ? "" : "class", css}}, shown);
}

Markup or_dash(const std::string& shown) {
  return text(shown.empty() ? "–" : shown);
}

Markup row_of(const Snapshot& snapshot, const ListedRun& run,
              const std::vector<std::string>& columns) {
  const IndexedRun& row = run.known.row;
  Markup cells = side_box("A", run) + side_box("B", run) +
                 element("th", {{"scope", "row"}}, run_link(run)) + cell(state_tag(row.state)) +
                 cell(moment(row.started)) + cell(or_dash(row.experiment)) +
                 cell(or_dash(workload_of(row))) + cell(or_dash(row.device_name));
  for (const std::string& metric : columns) {
    const IndexedMetric* value = row.find_metric(metric);
    cells += cell(text(value == nullptr ? "–" : session::metric_text(*value)), "n");
  }
  if (!columns.empty()) {
    const auto values = recent_values(snapshot, run, columns.front());
    const std::string label =
        fmt::format("{} of the last {}", columns.front(), counted(values.size(), "run"));
    cells += cell(sparkline(values, label), "sparks");
  }
  return element("tr", cells);
}

Markup table_of(const Context& context, std::span<const std::size_t> shown,
                const std::vector<std::string>& columns, const Query& query) {
  const Snapshot& snapshot = *context.snapshot;
  const auto head = [](const char* title, const char* css = "") {
    return element("th", {{"scope", "col"}, {css[0] == '\0' ? "" : "class", css}}, text(title));
  };
  Markup heads = head("A", "pick") + head("B", "pick") + head("run") + head("state") +
                 head("started, UTC") + head("experiment") + head("model or program") +
                 head("device");
  for (const std::string& metric : columns) heads += sort_link(metric, query);
  if (!columns.empty()) heads += head((columns.front() + ", recent").c_str());
  Markup rows;
  for (const std::size_t index : shown) {
    rows += row_of(snapshot, snapshot.runs[index], columns);
  }
  const Markup table =
      element("table", {{"class", "data runs"}, {"id", "runs"}, {"data-paged", "1"}},
              element("caption", {{"class", "sr"}}, text("runs")) +
                  element("thead", element("tr", heads)) + element("tbody", rows));
  return element(
      "div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", "runs"}},
      table);
}

Markup pages_of(std::size_t number, std::size_t all, const Query& query) {
  const std::size_t last = (all + kPageSize - 1) / kPageSize;
  if (last < 2) return {};
  const auto to = [&](std::size_t page) {
    return address(Page::Runs, with(query, "page", std::to_string(page)));
  };
  Markup links;
  if (number > 1) {
    links += element("a", {{"href", to(number - 1)}, {"rel", "prev"}}, text("← Newer"));
  }
  links += element("span", text(fmt::format("page {} of {}", number, last)));
  if (number < last) {
    links += element("a", {{"href", to(number + 1)}, {"rel", "next"}}, text("Older →"));
  }
  return element("nav", {{"class", "turn"}, {"aria-label", "pages of the list"}}, links);
}

Markup filter_form(const Snapshot& snapshot, const Query& query) {
  static const std::vector<std::string> kStates = {"ok", "running", "failed", "interrupted",
                                                   "killed"};
  Markup fields = input_field("Search", "q", "search", query.get("q"), "name, commit, host …") +
                  select_field("State", "state", kStates, query.get("state")) +
                  RunChoice::fields(snapshot, query) +
                  input_field("Since", "since", "date", query.get("since")) +
                  input_field("Until", "until", "date", query.get("until")) +
                  input_field("Metric", "where", "text", query.get("where"), "token_ms<5");
  if (!query.get("sort").empty()) {
    fields +=
        element("input", {{"type", "hidden"}, {"name", "sort"}, {"value", query.get("sort")}});
  }
  fields +=
      element("span", {{"class", "buttons"}},
              element("button", {{"type", "submit"}}, text("Filter")) + link("/", text("Clear")));
  return element("form",
                 {{"class", "filter"}, {"action", "/"}, {"method", "get"}, {"role", "search"}},
                 fields);
}

std::string count_text(std::size_t found, std::size_t all, std::size_t running) {
  std::string shown =
      found == all ? counted(all, "run") : fmt::format("{} of {}", found, counted(all, "run"));
  if (running > 0) shown += fmt::format(", {} running", running);
  return shown;
}

}  // namespace

Response runs_page(const Context& context, const Query& query) {
  const Snapshot& snapshot = *context.snapshot;
  Content content{.title = "Runs", .section = "Runs", .main = {}, .refresh_s = 5};
  const auto choice = RunChoice::read(query);
  Markup body = filter_form(snapshot, query);
  std::vector<std::size_t> found;
  std::size_t running = 0;
  if (choice) {
    for (std::size_t i = 0; i < snapshot.runs.size(); ++i) {
      if (!choice->holds(snapshot.runs[i])) continue;
      found.push_back(i);
      if (snapshot.runs[i].known.row.state == "running") ++running;
    }
  }
  std::string sort = query.get("sort");
  const bool descending = sort.starts_with('-');
  if (descending) sort.erase(0, 1);
  if (!sort.empty()) sort_by(sort, descending, snapshot, found);

  const std::size_t last = found.empty() ? 1 : (found.size() - 1) / kPageSize + 1;
  const std::size_t number = std::min(page_number(query), last);
  const std::size_t from = (number - 1) * kPageSize;
  const auto shown = std::span<const std::size_t>(found).subspan(
      std::min(from, found.size()),
      std::min(kPageSize, found.size() - std::min(from, found.size())));

  Markup list = element("h1", text("Runs")) +
                element("p", {{"class", "lead"}, {"role", "status"}},
                        text(choice ? count_text(found.size(), snapshot.runs.size(), running)
                                    : choice.error().to_string()));
  list += body;
  if (choice && found.empty()) {
    list += note(snapshot.runs.empty()
                     ? "There are no runs below " + context.library.catalog().roots_text() +
                           " yet. 'profline demo' makes one."
                     : "No run matches.");
  }
  if (!shown.empty()) {
    const auto columns = columns_of(snapshot, shown, *choice, sort);
    const Markup tools = element("p", {{"class", "tools"}},
                                 element("button", {{"type", "submit"}}, text("Compare A with B")) +
                                     element("small", text("Tick one or more runs on each side.")));
    list += element("form", {{"action", "/compare"}, {"method", "get"}, {"id", "picks"}},
                    tools + table_of(context, shown, columns, query)) +
            pages_of(number, found.size(), query);
  }
  list += notes_of(context);
  content.main = list;
  if (!choice) content.status = 400;
  return page_response(content);
}

}  // namespace profline::serve
