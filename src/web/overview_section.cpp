#include <algorithm>

#include <fmt/format.h>

#include "base/figures.h"
#include "summary/stage_sources.h"
#include "summary/stage_times.h"
#include "summary/verdict.h"
#include "web/sections.h"
#include "web/table.h"

namespace profline::web {
namespace {

/// Of all the time: stages below it are folded away.
constexpr double kSmall = 0.02;

std::vector<const SummaryStage*> by_share(const RunSummary& summary) {
  std::vector<const SummaryStage*> stages;
  for (const SummaryStage& stage : summary.stages) stages.push_back(&stage);
  std::stable_sort(stages.begin(), stages.end(), [](const auto* a, const auto* b) {
    return a->share.value_or(0) > b->share.value_or(0);
  });
  return stages;
}

Markup figure(std::string_view label, std::string_view value, const Markup& spread) {
  return element("div", {{"class", "figure"}},
                 element("dt", text(label)) +
                     element("dd", element("b", text(value)) + element("small", spread)));
}

/// A mean, which shares and rates follow from, with the median beside it: one time per token on the
/// first screen, and the other one explained.
Markup mean_figure(const std::string& label, const SummaryTimes& time, std::string_view unit) {
  if (time.n < 2)
    return figure(label, duration(time.mean_ns), text(fmt::format("of one {}", unit)));
  return figure(label + ", mean", duration(time.mean_ns),
                text(fmt::format("median {} [95 %: {}, {}] · p99 {} · n {}",
                                 duration(time.median_ns), duration(time.median_low_ns),
                                 duration(time.median_high_ns), duration(time.p99_ns), time.n)));
}

const SummaryStage* find_stage(const RunSummary& summary, std::string_view name) {
  for (const SummaryStage& stage : summary.stages) {
    if (stage.name == name) return &stage;
  }
  return nullptr;
}

using Figures = std::vector<Markup>;

void add_request(Figures& figures, const PageSource& source, const SummaryRequest& request) {
  figures.push_back(figure(
      request.images < 2 ? "request" : "request, mean", duration(request.mean_ns),
      text(fmt::format("{} · {:.0f} prompt, {:.0f} new tokens", counted(request.images, "image"),
                       request.prompt_tokens, request.new_tokens))));
  if (source.run.baseline) {
    const Node* const metrics = source.run.metrics ? &*source.run.metrics : nullptr;
    if (const auto prefill = summary::stage_spread(*source.run.baseline, metrics, "prefill")) {
      figures.push_back(mean_figure("prefill", *prefill, "image"));
    }
  }
  const SummaryStage* const decode = find_stage(source.summary, "decode");
  if (decode != nullptr && decode->time) {
    figures.push_back(mean_figure("per token", *decode->time, "token"));
  }
  if (request.tokens_per_second) {
    figures.push_back(figure("decode rate", human_rate(*request.tokens_per_second, "tokens"),
                             text("all decode steps over all their time")));
  }
}

void add_device(Figures& figures, const PageSource& source) {
  const SummaryStage* const decode = find_stage(source.summary, "decode");
  if (decode != nullptr && decode->device && decode->device->busy_share) {
    const SummaryDevice& device = *decode->device;
    figures.push_back(
        figure("GPU busy in decode", percent(*device.busy_share),
               text(device.launches_per_unit
                        ? counted_mean(*device.launches_per_unit, "launch") + " per " + decode->unit
                        : "no launches were recorded")));
  }
  const auto& request = source.summary.request;
  if (request && request->mfu) {
    figures.push_back(
        figure("MFU", percent(*request->mfu), text("of the dense peak, in prefill and decode")));
  }
}

/// Of a program that is not ours: one run of it, and what the GPU did under the profiler.
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
  const SummaryStage* const largest = summary::largest_stage(summary);
  if (largest == nullptr || !largest->device || !largest->device->busy_share) return;
  figures.push_back(figure("GPU busy", percent(*largest->device->busy_share),
                           text("in " + largest->name + ", under the profiler")));
}

/// The number of figures decides in how many columns they stand.
Markup headline(const PageSource& source) {
  Figures figures;
  const RunSummary& summary = source.summary;
  if (summary.request) add_request(figures, source, *summary.request);
  if (summary.program) {
    add_program(figures, summary, *summary.program);
  } else {
    add_device(figures, source);
  }
  if (figures.empty()) return {};
  Markup all;
  for (const Markup& one : figures) all += one;
  return element("dl", {{"class", "figures"}, {"data-count", std::to_string(figures.size())}}, all);
}

Markup gain_of(const SummaryStage& stage) {
  if (stage.gains.empty()) return {};
  const SummaryGain& gain = stage.gains.front();
  return element("p", {{"class", "gain"}},
                 element("b", text(factor(gain.speedup) + " faster")) +
                     text(fmt::format(" at best: {} per {} {}", duration(gain.time_ns), stage.unit,
                                      gain.when)));
}

Markup from_note(const SummaryReason& reason) {
  const Markup from = from_files({reason.source});
  return from.empty() ? from : element("small", text(" ") + from);
}

/// What the class follows from, in a sentence.
Markup sentence(const SummaryStage& stage) {
  const std::string what = summary::class_words(stage, stage.name);
  if (stage.reasons.empty()) return text(what);
  return text(what + ": " + stage.reasons.front().text);
}

Markup evidence_of(const SummaryStage& stage) {
  Markup items;
  // The first reason is the sentence above.
  if (!stage.reasons.empty() && !stage.reasons.front().source.empty()) {
    items += element("li", text("these figures are from") + from_note(stage.reasons.front()));
  }
  for (std::size_t i = 1; i < stage.reasons.size(); ++i) {
    items += element("li", text(stage.reasons[i].text) + from_note(stage.reasons[i]));
  }
  for (std::size_t i = 1; i < stage.gains.size(); ++i) {
    const SummaryGain& gain = stage.gains[i];
    items += element("li", text(summary::gain_words(stage, gain)));
  }
  for (const std::string& lack : stage.lacks) {
    items += element("li", text("not known: " + lack));
  }
  Markup html = element("ul", items);
  if (!stage.next_step.empty() && summary::is_worth_a_step(stage)) {
    html += element("p", {{"class", "next"}}, element("b", text("Next: ")) + text(stage.next_step));
  }
  return html;
}

Markup verdict_of(const RunSummary& summary, const SummaryStage& stage, bool is_open) {
  std::string time = stage.mean_ns ? duration(*stage.mean_ns) + " per " + stage.unit : "";
  if (stage.share) {
    time += fmt::format("{}{} of {}", time.empty() ? "" : " · ", percent(*stage.share),
                        summary::whole_of(summary));
  }
  const Markup head =
      element("h3", text(stage.name)) +
      element("span", {{"class", "tag"}, {"data-kind", stage.kind}}, text(stage.kind)) +
      element("span", {{"class", "time"}}, text(time));
  const Markup evidence =
      element("details", {{is_open ? "open" : "", ""}},
              element("summary", text("Evidence and next step")) + evidence_of(stage));
  return element(
      "article", {{"class", "stage"}, {"data-stage", stage.name}},
      element("header", head) + element("p", sentence(stage)) + gain_of(stage) + evidence);
}

Markup verdicts(const RunSummary& summary) {
  Markup large;
  Markup small;
  std::string names;
  for (const SummaryStage* stage : by_share(summary)) {
    if (stage->share && *stage->share < kSmall) {
      small += verdict_of(summary, *stage, false);
      names += (names.empty() ? "" : ", ") + stage->name;
    } else {
      large += verdict_of(summary, *stage, large.empty());
    }
  }
  if (!small.empty()) {
    large += element("details", {{"class", "smaller"}},
                     element("summary", text(fmt::format("Below {} of {}: {}", percent(kSmall),
                                                         summary::whole_of(summary), names))) +
                         small);
  }
  return element("div", {{"class", "stages"}}, large);
}

struct Step {
  std::string name;
  double ns = 0;
  std::optional<double> floor_ns = {};
  std::string kind = {};
};

/// What a request is made of, one after the other; of another program its ranges.
std::vector<Step> steps_of(const RunSummary& summary) {
  std::vector<Step> steps;
  const auto& request = summary.request;
  if (request) steps.push_back({"preprocess", request->mean_ns * request->preprocess_share});
  for (const SummaryStage& stage : summary.stages) {
    if (!stage.mean_ns || *stage.mean_ns <= 0) continue;
    const double ns = request && stage.share ? request->mean_ns * *stage.share : *stage.mean_ns;
    Step step{stage.name, ns, {}, stage.kind};
    if (stage.cost && stage.cost->floor_ns)
      step.floor_ns = *stage.cost->floor_ns * ns / *stage.mean_ns;
    steps.push_back(std::move(step));
    if (stage.name == "lm" && request && request->unaccounted_share > 0) {
      steps.push_back({"rest of prefill", request->mean_ns * request->unaccounted_share});
    }
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

std::string spread_text(const SummaryStage& stage) {
  if (!stage.time) return duration(stage.mean_ns);
  const SummaryTimes& time = *stage.time;
  if (time.n == 1) return duration(time.median_ns);
  return fmt::format("{} [{}, {}]", duration(time.median_ns), duration(time.median_low_ns),
                     duration(time.median_high_ns));
}

Markup stage_table(const RunSummary& summary) {
  using Align = Table::Align;
  const bool is_timed = summary.request.has_value();
  Table table(
      "stages-table", is_timed ? "stages of the model" : "captures and ranges",
      {{"stage", Align::Left},
       {"unit", Align::Left},
       {is_timed ? "median [95 %]" : "mean", Align::Right,
        is_timed ? "per unit, without a profiler" : "per unit, under the profiler"},
       {"share", Align::Right, is_timed ? "of the mean time of a request" : "of the captured time"},
       {"floor", Align::Right, "theoretical minimum by FLOPs and bytes, per operator"},
       {"of floor", Align::Right, "floor divided by measured time"},
       {"MFU", Align::Right, "FLOPs, as a share of what the dense peak could do"},
       {"bandwidth", Align::Right, "bytes, as a share of what the memory could move"},
       {"GPU busy", Align::Right,
        is_timed ? "of the time without a profiler, where that is known"
                 : "of the time under the profiler"},
       {"launches", Align::Right, "per unit"},
       {"class", Align::Left}});
  for (const SummaryStage& stage : summary.stages) {
    const auto& cost = stage.cost;
    const auto& device = stage.device;
    using Figure = std::optional<double>;
    const Figure median = stage.time ? Figure(stage.time->median_ns) : stage.mean_ns;
    table.add({code_cell(stage.name),
               text_cell(stage.unit),
               {text(spread_text(stage)), median, {}},
               bar_cell(stage.share),
               duration_cell(cost ? cost->floor_ns : Figure()),
               share_cell(cost ? cost->of_floor : Figure()),
               share_cell(cost ? cost->mfu : Figure()),
               share_cell(cost ? cost->bandwidth : Figure()),
               share_cell(device ? device->busy_share : Figure()),
               count_cell(device ? device->launches_per_unit : Figure()),
               text_cell(stage.kind)});
  }
  return table.markup();
}

Markup stage_source_lines(const RunSummary& summary) {
  const auto [times, costs, devices, ceilings, shapes] = summary::stage_sources(summary);
  Markup html = source_line(
      summary.request ? "Times: per unit, without a profiler; the median with its 95 % interval. "
                        "Times in the text are means, from which shares and rates follow."
                      : "Times: mean per unit under the profiler, which lengthens them.",
      times);
  if (!costs.empty()) {
    html += source_line(
        "Floor: the theoretical minimum by FLOPs and by bytes of weights and KV cache; shapes: " +
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
  if (summary.stages.empty()) {
    section.add_nothing("Nothing was measured stage by stage; see what was not captured below.");
    return section;
  }
  Section chart{"", ""};
  chart.add_chart(
      "waterfall", "time of each stage of a request, against its theoretical minimum",
      text(summary.request
               ? "An average request, stage after stage. Pale: measured. Solid: the floor, the "
                 "theoretical minimum for these shapes."
               : "Mean time of each capture and range, under the profiler."),
      waterfall(summary));
  section.charts = std::move(chart.charts);
  section.body += element("div", {{"class", "split"}}, verdicts(summary) + chart.body) +
                  stage_table(summary) + stage_source_lines(summary);
  return section;
}

}  // namespace profline::web
