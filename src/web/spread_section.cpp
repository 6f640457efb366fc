#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/figures.h"
#include "base/strings.h"
#include "summary/verdict.h"
#include "web/internal/sections.h"
#include "web/markup.h"

namespace profline::web {
namespace {

constexpr std::size_t kBins = 40;
constexpr std::size_t kMostBands = 256;
constexpr std::size_t kMostRequests = 500;

using requests::PhaseInfo;
using requests::PhaseTree;
using run::Requests;

Node of_histogram(std::string title, const Histogram& histogram) {
  return object({{"title", Node::string(std::move(title))},
                 {"edges_ns", numbers(histogram.edges)},
                 {"counts", numbers(histogram.counts)},
                 {"above", Node::integer(static_cast<std::int64_t>(histogram.above))}});
}

std::vector<std::vector<double>> step_times(const Requests& requests, const PhaseInfo& phase) {
  std::vector<std::vector<double>> series;
  for (const Request& request : requests) {
    const Phase* const found = request.find_phase(phase.path);
    std::vector<double>& times = series.emplace_back();
    if (found != nullptr && found->steps_ns) {
      times.assign(found->steps_ns->begin(), found->steps_ns->end());
    }
  }
  return series;
}

std::vector<double> request_times(const Requests& requests, const PhaseInfo& phase) {
  std::vector<double> times;
  for (const Request& request : requests) {
    const requests::PhaseTime time = requests::phase_time(request, phase.path);
    if (time.units > 0) times.push_back(time.ns);
  }
  return times;
}

Markup spread_table(const SummaryRequest& request) {
  using Align = Table::Align;
  Table table("spread-table", "spread of the unprofiled times",
              {{"what", Align::Left},
               {"n"},
               {"median"},
               {"95 % of the median", Align::Right, "bootstrap interval"},
               {"mean"},
               {"std", Align::Right, "of the population"},
               {"p90"},
               {"p99"},
               {"min"},
               {"max"}});
  for (const SummaryPart& part : request.parts) {
    if (!part.time) continue;
    const SummaryTimes& times = *part.time;
    table.add({text_cell(part.repeats ? part.name + ", per " + part.unit : part.name),
               number_cell(times.n),
               duration_cell(times.median_ns),
               {text(fmt::format("{} to {}", duration(times.median_low_ns),
                                 duration(times.median_high_ns))),
                times.median_high_ns - times.median_low_ns,
                {}},
               duration_cell(times.mean_ns),
               duration_cell(times.std_ns),
               duration_cell(times.p90_ns),
               duration_cell(times.p99_ns),
               duration_cell(times.min_ns),
               duration_cell(times.max_ns)});
  }
  return table.markup();
}

/// Of a batch.
std::string_view ended_by_each(const Request& request) {
  const std::vector<std::string> all = request.texts(kFinishEachAttribute);
  const auto by_model = std::count(all.begin(), all.end(), "eos");
  if (all.empty()) return "";
  if (by_model == 0) return "the limit";
  return by_model == std::ssize(all) ? "the model" : "the model or the limit";
}

/// Why generation ended.
std::string_view ended_by(const Request& request) {
  const std::string finish = request.text("finish");
  if (finish.empty()) return ended_by_each(request);
  if (finish == "eos") return "the model";
  return finish == "length" ? "the limit" : "";
}

std::optional<double> number_of(const std::optional<std::uint64_t>& count) {
  return count ? std::optional(static_cast<double>(*count)) : std::nullopt;
}

/// All phases; for a phase with steps also the mean per step.
std::vector<Cell> phase_cells(const Request& request, const PhaseTree& tree) {
  std::vector<Cell> cells;
  for (const PhaseInfo& phase : tree.phases()) {
    const Phase* const found = request.find_phase(phase.path);
    using Figure = std::optional<double>;
    cells.push_back(
        duration_cell(found != nullptr ? Figure(static_cast<double>(found->ns)) : Figure()));
    if (!phase.repeats) continue;
    const bool has_steps = found != nullptr && found->steps_ns && !found->steps_ns->empty();
    cells.push_back(duration_cell(has_steps ? Figure(static_cast<double>(found->ns) /
                                                     static_cast<double>(found->steps_ns->size()))
                                            : Figure()));
  }
  return cells;
}

Markup request_table(const Requests& requests, const PhaseTree& tree) {
  using Align = Table::Align;
  const std::string unit = requests::unit_of(requests);
  std::vector<Table::Column> columns = {{unit, Align::Left},
                                        {"epoch"},
                                        {"prompt tokens"},
                                        {"new tokens"},
                                        {"ended by", Align::Left, "why generation ended"}};
  for (const PhaseInfo& phase : tree.phases()) {
    columns.push_back({phase.name});
    if (phase.repeats) {
      columns.push_back({"per " + phase.unit, Align::Right, "mean of the steps of " + phase.name});
    }
  }
  Table table("images-table", unit == "batch" ? "measured batches" : "measured " + unit + "s",
              std::move(columns));
  table.with_search();
  for (std::size_t i = 0; i < std::min(requests.size(), kMostRequests); ++i) {
    const Request& request = requests[i];
    const std::string image = join(request.images(), ", ");
    std::vector<Cell> cells = {
        {code(image.empty() ? std::to_string(request.id) : image, 48), {}, {}},
        number_cell(static_cast<std::uint64_t>(request.integer("epoch").value_or(0))),
        count_cell(number_of(request.prompt_tokens)),
        count_cell(number_of(request.new_tokens)),
        text_cell(ended_by(request))};
    for (Cell& cell : phase_cells(request, tree)) cells.push_back(std::move(cell));
    table.add(cells);
  }
  Markup html = table.markup();
  if (requests.size() > kMostRequests) {
    html += source_line(
        fmt::format("The first {} of {}.", kMostRequests, counted(requests.size(), unit)), {});
  }
  return html;
}

/// The phase whose steps take the most time.
void add_steps(Section& section, const PhaseInfo& phase, const Requests& requests,
               const std::string& file) {
  const auto series = step_times(requests, phase);
  std::vector<double> all;
  for (const auto& times : series) all.insert(all.end(), times.begin(), times.end());
  if (all.empty()) return;
  section.add_chart("tokens", "histogram of the time per " + phase.unit,
                    text(capitalised(phase.name) + " steps by how long they took. From ") +
                        from_files({file}) + text("."),
                    of_histogram(phase.unit + "s", histogram(all, kBins)));
  Node list = Node::list();
  for (const Band& band : bands(series, kMostBands)) {
    list.as_list().push_back(numbers(
        {band.first, band.last, band.low, band.median, band.high, static_cast<double>(band.n)}));
  }
  section.add_chart("steps", "time of a " + phase.name + " step by its position in the answer",
                    text("Time of a step by its position: the median, and the middle 80 %."),
                    std::move(list));
}

/// The outermost phases of the model; a strip shows them request by request.
Node strips_of(const Requests& requests, const PhaseTree& tree, const std::string& unit,
               std::string& names) {
  Node strips = Node::list();
  for (const PhaseInfo& phase : tree.phases()) {
    if (!phase.is_outermost() || phase.is_host) continue;
    const auto times = request_times(requests, phase);
    // A strip shows each request; the table summarises many of them.
    if (times.empty()) continue;
    const std::vector<double> shown(
        times.begin(),
        times.begin() + static_cast<std::ptrdiff_t>(std::min(times.size(), kMostRequests)));
    strips.as_list().push_back(object({{"name", Node::string(phase.name)},
                                       {"unit", Node::string(unit)},
                                       {"times_ns", numbers(shown)}}));
    names += (names.empty() ? "" : " and ") + phase.name;
  }
  return strips;
}

}  // namespace

Section spread_section(const PageSource& source) {
  Section section{"spread", "Spread over requests and steps"};
  const auto& baseline = source.run.baseline();
  if (source.summary.program && !source.summary.request) {
    section.add_nothing("The program ran once without a profiler, so there is no spread: see " +
                        source.summary.program->source + ".");
    return section;
  }
  if (!baseline || baseline->empty()) {
    section.add_nothing("There is no run without a profiler: " + baseline.file + " " +
                        (baseline.why_not.empty() ? "has no requests" : baseline.why_not) + ".");
    return section;
  }
  const PhaseTree tree = summary::phase_tree(source.run);
  const std::string unit = requests::unit_of(*baseline);
  Section charts{"", ""};
  std::string names;
  Node strips = strips_of(*baseline, tree, unit, names);
  charts.add_chart(
      "images", "time of each " + unit,
      text(capitalised(names) + " of each measured " + unit + ", in the order in which they ran."),
      std::move(strips));
  const PhaseSummary* const leading = summary::leading_phase(source.summary);
  if (leading != nullptr && leading->repeats) {
    add_steps(charts, *tree.find(leading->path), *baseline, baseline.file);
  }
  section.charts = std::move(charts.charts);
  section.body += element("div", {{"class", "plots"}}, charts.body);
  if (source.summary.request) {
    section.body += spread_table(*source.summary.request) +
                    source_line(source.summary.one_time.empty()
                                    ? source.summary.program ? "Without a profiler."
                                                             : "Without a profiler, after warm-up."
                                    : "Without a profiler, including one-time costs.",
                                {baseline.file});
  }
  section.body +=
      element("details", {{"class", "more"}},
              element("summary", text(fmt::format("Each {} ({})", unit, baseline->size()))) +
                  request_table(*baseline, tree) + source_line("", {baseline.file}));
  return section;
}

}  // namespace profline::web
