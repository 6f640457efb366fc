#include <fmt/format.h>

#include "base/figures.h"
#include "base/strings.h"
#include "summary/load.h"
#include "summary/steadiness.h"
#include "summary/verdict.h"
#include "web/internal/sections.h"
#include "web/markup.h"

namespace profline::web {
namespace {

Markup figure(std::string_view label, std::string_view value, const Markup& spread) {
  return element("div", {{"class", "figure"}},
                 element("dt", text(label)) +
                     element("dd", element("b", text(value)) + element("small", spread)));
}

/// The mean of the steady ones, from which shares and rates follow, with the median of all beside
/// it, so that the first screen explains why there are two times per token.
Markup mean_figure(const std::string& label, const SummaryTimes& time,
                   const std::optional<SummarySteady>& steady, std::string_view unit) {
  const double mean = steady ? steady->mean_ns.value_or(time.mean_ns) : time.mean_ns;
  if (time.n < 2) return figure(label, duration(mean), text(fmt::format("of one {}", unit)));
  return figure(label + ", mean", duration(mean),
                text(fmt::format("median {} [95 %: {}, {}] · p99 {} · n {}",
                                 duration(time.median_ns), duration(time.median_low_ns),
                                 duration(time.median_high_ns), duration(time.p99_ns), time.n)));
}

using Figures = std::vector<Markup>;

std::string token_words(const SummaryRequest& request) {
  if (!request.prompt_tokens || !request.new_tokens) return "";
  return fmt::format(" · {:.0f} prompt, {:.0f} new tokens{}", *request.prompt_tokens,
                     *request.new_tokens, request.unit == "batch" ? " in the longest" : "");
}

void add_request(Figures& figures, const PageSource& source, const SummaryRequest& request) {
  figures.push_back(figure(request.requests < 2 ? "request" : "request, mean",
                           duration(request.mean_ns),
                           text(counted(request.requests, request.unit) + token_words(request))));
  if (source.summary.program && request.ttft) {
    figures.push_back(mean_figure("first token", *request.ttft, std::nullopt, request.unit));
  }
  const SummaryPart* const pass = summary::longest_pass(request);
  if (pass != nullptr && pass->time) {
    figures.push_back(mean_figure(pass->name, *pass->time, pass->steady, pass->unit));
  }
  const PhaseSummary* const leading = summary::leading_phase(source.summary);
  if (leading != nullptr && leading->repeats && leading->time) {
    figures.push_back(
        mean_figure("per " + leading->unit, *leading->time, leading->steady, leading->unit));
    if (request.tokens_per_second) {
      figures.push_back(figure(leading->name + " rate",
                               human_rate(*request.tokens_per_second, "tokens"),
                               text("all " + leading->name + " steps over all their time")));
    }
  }
}

void add_device(Figures& figures, const PageSource& source) {
  const PhaseSummary* const leading = summary::leading_phase(source.summary);
  if (leading != nullptr && leading->device && leading->device->busy_share) {
    const SummaryDevice& device = *leading->device;
    figures.push_back(figure(
        "GPU busy in " + leading->name, percent(*device.busy_share),
        text(device.launches_per_unit
                 ? counted_mean(*device.launches_per_unit, "launch") + " per " + leading->unit
                 : "no launches were recorded")));
  }
  const auto& request = source.summary.request;
  if (request && request->mfu) {
    figures.push_back(figure("MFU", percent(*request->mfu),
                             text("of the dense peak, in the phases that static analysis knows")));
  }
}

void add_energy(Figures& figures, const RunSummary& summary) {
  if (summary.energy.empty() || !summary.energy.front().joules_per_token) return;
  const SummaryEnergy& energy = summary.energy.front();
  figures.push_back(figure("energy per token", amount(*energy.joules_per_token, "J"),
                           text(plain_number(*energy.tokens_per_joule) + " tokens per joule, " +
                                amount(*energy.watts, "W") + " on average")));
}

/// For a user's program: one run of it, and what the GPU did under the profiler.
void add_program(Figures& figures, const RunSummary& summary, const SummaryProgram& program) {
  figures.push_back(
      figure("the program", duration(program.wall_ns), text("one run without a profiler")));
  figures.push_back(figure("CPU time", duration(program.cpu_user_ns + program.cpu_system_ns),
                           text(duration(program.cpu_user_ns) + " user, " +
                                duration(program.cpu_system_ns) + " system")));
  figures.push_back(figure(
      "peak memory", human_bytes(program.max_rss_bytes),
      text(program.processes > 1 ? "of the largest of " + counted(program.processes, "process")
                                 : "resident, one process")));
  const PhaseSummary* const largest = summary::largest_phase(summary);
  if (largest == nullptr || !largest->device || !largest->device->busy_share) return;
  figures.push_back(figure("GPU busy", percent(*largest->device->busy_share),
                           text("in " + largest->name + ", under the profiler")));
}

std::string p99_words(const LoadLatency& latency) {
  const auto figures = summary::latency_figures(latency);
  const std::string interval = summary::latency_interval(figures[0]);
  return (interval.empty() ? "" : "95 %: " + interval + " · ") + "p99 " +
         summary::latency_text(figures[3]);
}

/// For a load on a server: latencies, then rates.
void add_load(Figures& figures, const SummaryLoad& load) {
  for (const summary::LoadLatencyRow& row : summary::load_latencies(load)) {
    if (row.latency->n == 0 || row.id == "itl") continue;
    figures.push_back(figure(std::string(row.name) + ", p50",
                             summary::latency_text(summary::latency_figures(*row.latency)[0]),
                             text(p99_words(*row.latency))));
  }
  for (const summary::LoadRateRow& row : summary::load_rates(load)) {
    const bool is_share = row.name == "good requests";
    if (load.counts.succeeded == 0 || (load.metrics.goodput && row.name == "goodput")) continue;
    figures.push_back(figure(row.name, row.value,
                             text(is_share ? summary::slo_words(load) : "95 %: " + row.interval)));
  }
}

/// The number of figures decides the number of columns.
Markup headline(const PageSource& source) {
  Figures figures;
  const RunSummary& summary = source.summary;
  if (summary::is_only_load(summary)) add_load(figures, *summary.load);
  if (summary.request) add_request(figures, source, *summary.request);
  if (summary.program && !summary.request) {
    add_program(figures, summary, *summary.program);
  } else {
    add_device(figures, source);
    add_energy(figures, summary);
  }
  if (figures.empty()) return {};
  Markup all;
  for (const Markup& one : figures) all += one;
  return element("dl", {{"class", "figures"}, {"data-count", std::to_string(figures.size())}}, all);
}

Markup gain_of(const PhaseSummary& phase) {
  if (phase.gains.empty()) return {};
  const SummaryGain& gain = phase.gains.front();
  return element("p", {{"class", "gain"}},
                 element("b", text(factor(gain.speedup) + " faster")) +
                     text(fmt::format(" at best: {} per {} {}", duration(gain.time_ns), phase.unit,
                                      gain.when)));
}

Markup from_note(const SummaryReason& reason) {
  const Markup from = from_files({reason.source});
  return from.empty() ? from : element("small", text(" ") + from);
}

/// The reason for the class, in a sentence.
Markup sentence(const PhaseSummary& phase) {
  const std::string what = summary::class_words(phase, phase.name);
  if (phase.reasons.empty()) return text(what);
  return text(what + ": " + phase.reasons.front().text);
}

Markup evidence_of(const PhaseSummary& phase) {
  Markup items;
  // The first reason is the sentence above.
  if (!phase.reasons.empty() && !phase.reasons.front().source.empty()) {
    items += element("li", text("these figures are from") + from_note(phase.reasons.front()));
  }
  for (std::size_t i = 1; i < phase.reasons.size(); ++i) {
    items += element("li", text(phase.reasons[i].text) + from_note(phase.reasons[i]));
  }
  const std::string changes = summary::class_changes(phase);
  if (!changes.empty()) items += element("li", text("how the class came about: " + changes));
  for (std::size_t i = 1; i < phase.gains.size(); ++i) {
    const SummaryGain& gain = phase.gains[i];
    items += element("li", text(summary::gain_words(phase, gain)));
  }
  for (const std::string& lack : phase.lacks) {
    items += element("li", text("not known: " + lack));
  }
  Markup html = element("ul", items);
  if (!phase.next_step.empty() && summary::is_worth_a_step(phase)) {
    html += element("p", {{"class", "next"}}, element("b", text("Next: ")) + text(phase.next_step));
  }
  return html;
}

Markup verdict_of(const RunSummary& summary, const PhaseSummary& phase, bool is_open) {
  std::string time = phase.mean_ns ? duration(*phase.mean_ns) + " per " + phase.unit : "";
  if (phase.share) {
    time += fmt::format("{}{} of {}", time.empty() ? "" : " · ", percent(*phase.share),
                        summary::whole_of(summary));
  }
  const Markup head =
      element("h3", text(phase.name)) +
      element("span", {{"class", "tag"}, {"data-kind", phase.kind}}, text(phase.kind)) +
      element("span", {{"class", "time"}}, text(time));
  const Markup evidence =
      element("details", {{is_open ? "open" : "", ""}},
              element("summary", text("Evidence and next step")) + evidence_of(phase));
  return element(
      "article", {{"class", "phase"}, {"data-phase", phase.name}},
      element("header", head) + element("p", sentence(phase)) + gain_of(phase) + evidence);
}

Markup verdicts(const RunSummary& summary) {
  Markup large;
  Markup small;
  std::string names;
  for (const PhaseSummary* phase : summary::by_share(summary)) {
    if (summary::is_small(*phase)) {
      small += verdict_of(summary, *phase, false);
      names += (names.empty() ? "" : ", ") + phase->name;
    } else {
      large += verdict_of(summary, *phase, large.empty());
    }
  }
  if (!small.empty()) {
    large += element(
        "details", {{"class", "smaller"}},
        element("summary", text(fmt::format("Below {} of {}: {}", percent(summary::kSmallShare),
                                            summary::whole_of(summary), names))) +
            small);
  }
  return element("div", {{"class", "phases"}}, large);
}

struct Step {
  std::string name;
  double ns = 0;
  std::optional<double> floor_ns = {};
  std::string kind = {};
};

/// The phases of a request in order; for a user's program its ranges.
std::vector<Step> steps_of(const RunSummary& summary) {
  std::vector<Step> steps;
  const auto& request = summary.request;
  for (const summary::PhaseLine& line : summary::phase_lines(summary)) {
    if (line.phase == nullptr) {
      if (line.share > 0) steps.push_back({line.name, request->mean_ns * line.share});
      continue;
    }
    const PhaseSummary& phase = *line.phase;
    if (!phase.mean_ns || *phase.mean_ns <= 0) continue;
    const double ns = request && phase.share ? request->mean_ns * *phase.share : *phase.mean_ns;
    Step step{phase.name, ns, {}, phase.kind};
    if (phase.cost && phase.cost->floor_ns) {
      step.floor_ns = *phase.cost->floor_ns * ns / *phase.mean_ns;
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

Node waterfall(const RunSummary& summary) {
  Node list = Node::list();
  double start = 0;
  for (const Step& step : steps_of(summary)) {
    list.as_list().push_back(object({{"name", Node::string(step.name)},
                                     {"start_ns", number(start)},
                                     {"time_ns", number(step.ns)},
                                     {"floor_ns", number(step.floor_ns)},
                                     {"kind", Node::string(step.kind)}}));
    if (summary.request) start += step.ns;
  }
  return list;
}

std::string spread_text(const PhaseSummary& phase) {
  if (!phase.time) return "";
  const SummaryTimes& time = *phase.time;
  if (time.n == 1) return duration(time.median_ns);
  return fmt::format("{} [{}, {}]", duration(time.median_ns), duration(time.median_low_ns),
                     duration(time.median_high_ns));
}

Markup phase_table(const RunSummary& summary) {
  using Align = Table::Align;
  const bool is_timed = summary.request.has_value();
  Table table(
      "phases-table", is_timed ? "phases of a request" : "captures and ranges",
      {{"phase", Align::Left},
       {"unit", Align::Left},
       {"mean", Align::Right,
        is_timed ? "per unit, without a profiler, over the steady part"
                 : "per unit, under the profiler"},
       {"median [95 %]", Align::Right, "of everything measured, without a profiler"},
       {"share", Align::Right, is_timed ? "of the mean time of a request" : "of the captured time"},
       {"floor", Align::Right, "theoretical minimum given FLOPs and bytes, per operator"},
       {"of floor", Align::Right, "floor divided by the mean"},
       {"MFU", Align::Right, "FLOPs, as a share of what the dense peak could do"},
       {"bandwidth", Align::Right, "bytes, as a share of what the memory could move"},
       {"GPU busy", Align::Right,
        is_timed ? "of the time without a profiler, where that is known"
                 : "of the time under the profiler"},
       {"launches", Align::Right, "per unit"},
       {"class", Align::Left}});
  for (const PhaseSummary& phase : summary.phases) {
    const auto& cost = phase.cost;
    const auto& device = phase.device;
    using Figure = std::optional<double>;
    const Figure median = phase.time ? Figure(phase.time->median_ns) : Figure();
    table.add({code_cell(phase.name),
               text_cell(phase.unit),
               duration_cell(phase.mean_ns),
               {text(spread_text(phase)), median, {}},
               bar_cell(phase.share),
               duration_cell(cost ? cost->floor_ns : Figure()),
               share_cell(cost ? cost->of_floor : Figure()),
               share_cell(cost ? cost->mfu : Figure()),
               share_cell(cost ? cost->bandwidth : Figure()),
               share_cell(device ? device->busy_share : Figure()),
               count_cell(device ? device->launches_per_unit : Figure()),
               text_cell(phase.kind)});
  }
  return table.markup();
}

/// What the figures leave out, and whether the rest is known to be steady.
Markup steady_lines(const RunSummary& summary) {
  Markup html;
  if (!summary.one_time.empty()) {
    using Align = Table::Align;
    Table table("one-time-table", "one-time costs",
                {{"one-time costs", Align::Left},
                 {"why", Align::Left},
                 {"how often"},
                 {"each"},
                 {"usual", Align::Right, "how long the same work usually takes"}});
    for (const SummaryOneTime& row : summary.one_time) {
      const auto times = static_cast<double>(row.count);
      table.add({row.phase.empty() ? text_cell("whole request") : code_cell(row.phase),
                 text_cell(summary::reason_words(row)), number_cell(row.count),
                 duration_cell(row.total_ns / times), duration_cell(row.typical_ns / times)});
    }
    html += table.markup() +
            source_line(
                "One-time costs do not recur: means, shares, rates and classes leave them "
                "out.",
                {summary.one_time.front().source});
  }
  const std::string doubt = summary::doubt_words(summary);
  if (!doubt.empty()) html += source_line(capitalised(doubt) + ".", {});
  return html;
}

Markup phase_source_lines(const RunSummary& summary) {
  const auto [times, costs, devices, ceilings, shapes] = summary::phase_sources(summary);
  Markup html = source_line(
      summary.request
          ? "Times: per unit, without a profiler. The mean is over the steady part; shares, "
            "rates, of floor and the times in the text follow from it. The median, "
            "with its 95 % interval, is of everything measured."
          : "Times: mean per unit under the profiler, which lengthens them.",
      times);
  if (!costs.empty()) {
    html += source_line(
        "Floor: the theoretical minimum given the FLOPs and the bytes of weights and KV cache; "
        "shapes: " +
            shapes + "; ceilings: " + (ceilings.empty() ? "not known" : ceilings) + ".",
        costs);
  }
  if (!devices.empty()) html += source_line("GPU: as a profiler recorded it.", devices);
  return html;
}

}  // namespace

Section overview_section(const PageSource& source) {
  const RunSummary& summary = source.summary;
  Section section{"verdict", "Verdict"};
  section.body += element("p", {{"class", "verdict"}}, text(summary.verdict)) + headline(source);
  if (summary::is_only_load(summary)) return section;
  if (summary.phases.empty()) {
    section.add_nothing("Nothing was measured phase by phase; see what was not captured below.");
    return section;
  }
  Section chart{"", ""};
  chart.add_chart(
      "waterfall", "time of each phase of a request, against its theoretical minimum",
      text(summary.request
               ? "An average request, phase after phase. Pale: measured. Solid: the floor, the "
                 "theoretical minimum for these shapes."
               : "Mean time of each capture and range, under the profiler."),
      waterfall(summary));
  section.charts = std::move(chart.charts);
  section.body += element("div", {{"class", "split"}}, verdicts(summary) + chart.body) +
                  phase_table(summary) + phase_source_lines(summary) + steady_lines(summary);
  return section;
}

}  // namespace profline::web
