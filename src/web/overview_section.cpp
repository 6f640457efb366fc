#include <algorithm>

#include <fmt/format.h>

#include "base/units.h"
#include "report/numbers.h"
#include "report/stage_sources.h"
#include "report/stage_times.h"
#include "web/sections.h"
#include "web/table.h"

namespace profline::web {
namespace {

using report::duration;
using report::factor;
using report::percent;

/// Of a request: stages below it are told in short.
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

Markup spread_of(const SummaryTimes& time, std::string_view of) {
  if (time.n < 2) return text(fmt::format("one {}, so no spread", of));
  return text(fmt::format("95 % [{}, {}] · p99 {} · n {}", duration(time.median_low_ns),
                          duration(time.median_high_ns), duration(time.p99_ns), time.n));
}

const SummaryStage* find_stage(const RunSummary& summary, std::string_view name) {
  for (const SummaryStage& stage : summary.stages) {
    if (stage.name == name) return &stage;
  }
  return nullptr;
}

Markup request_figures(const PageSource& source, const SummaryRequest& request) {
  Markup html = figure(
      "request", duration(request.mean_ns),
      text(fmt::format("mean of {} image{} · {:.0f} prompt, {:.0f} new tokens", request.images,
                       request.images == 1 ? "" : "s", request.prompt_tokens, request.new_tokens)));
  if (source.run.baseline) {
    const Node* const metrics = source.run.metrics ? &*source.run.metrics : nullptr;
    if (const auto prefill = report::stage_spread(*source.run.baseline, metrics, "prefill")) {
      html += figure("prefill, median", duration(prefill->median_ns), spread_of(*prefill, "image"));
    }
  }
  const SummaryStage* const decode = find_stage(source.summary, "decode");
  if (decode != nullptr && decode->time) {
    html += figure("per token, median", duration(decode->time->median_ns),
                   spread_of(*decode->time, "token"));
  }
  if (request.tokens_per_second) {
    html += figure("decode rate", human_rate(*request.tokens_per_second, "tokens"),
                   text("all steps by all their time"));
  }
  return html;
}

Markup device_figures(const PageSource& source) {
  Markup html;
  const SummaryStage* const decode = find_stage(source.summary, "decode");
  if (decode != nullptr && decode->device && decode->device->busy_share) {
    const SummaryDevice& device = *decode->device;
    html += figure("GPU busy in decode", percent(*device.busy_share),
                   text(device.launches_per_unit
                            ? fmt::format("{:.0f} launches per token", *device.launches_per_unit)
                            : "launches were not seen"));
  }
  const auto& request = source.summary.request;
  if (request && request->mfu) {
    html += figure("MFU", percent(*request->mfu), text("prefill and decode, of the dense peak"));
  }
  return html;
}

Markup headline(const PageSource& source) {
  Markup figures;
  if (source.summary.request) figures += request_figures(source, *source.summary.request);
  figures += device_figures(source);
  if (figures.empty()) return figures;
  return element("dl", {{"class", "figures"}}, figures);
}

Markup gain_of(const SummaryStage& stage) {
  if (stage.gains.empty()) return {};
  const SummaryGain& gain = stage.gains.front();
  return element("p", {{"class", "gain"}},
                 text("at most ") + element("b", text(factor(gain.speedup))) +
                     text(fmt::format(" as fast {}: {} per {}", gain.when, duration(gain.time_ns),
                                      stage.unit)));
}

Markup from_note(const SummaryReason& reason) {
  const Markup from = from_files({reason.source});
  return from.empty() ? from : element("small", text(" ") + from);
}

/// What the class follows from, in a sentence.
Markup sentence(const SummaryStage& stage) {
  const std::string what =
      stage.kind == "unknown" ? stage.name + " is not explained" : stage.name + " is " + stage.kind;
  if (stage.reasons.empty()) return text(what);
  return text(what + ": " + stage.reasons.front().text);
}

Markup evidence_of(const SummaryStage& stage) {
  Markup items;
  // The first reason is the sentence above.
  if (!stage.reasons.empty() && !stage.reasons.front().source.empty()) {
    items += element("li", text("the figures above are from") + from_note(stage.reasons.front()));
  }
  for (std::size_t i = 1; i < stage.reasons.size(); ++i) {
    items += element("li", text(stage.reasons[i].text) + from_note(stage.reasons[i]));
  }
  for (std::size_t i = 1; i < stage.gains.size(); ++i) {
    const SummaryGain& gain = stage.gains[i];
    items +=
        element("li", text(fmt::format("at most {} as fast {}: {} per {}", factor(gain.speedup),
                                       gain.when, duration(gain.time_ns), stage.unit)));
  }
  for (const std::string& lack : stage.lacks) {
    items += element("li", text("not known: " + lack));
  }
  Markup html = element("ul", items);
  if (!stage.next_step.empty()) {
    html += element("p", {{"class", "next"}}, element("b", text("Next: ")) + text(stage.next_step));
  }
  return html;
}

Markup verdict_of(const SummaryStage& stage, bool is_open) {
  std::string time = stage.mean_ns ? duration(*stage.mean_ns) + " per " + stage.unit : "";
  if (stage.share) time += (time.empty() ? "" : " · ") + percent(*stage.share) + " of a request";
  const Markup head =
      element("h3", text(stage.name)) +
      element("span", {{"class", "tag"}, {"data-kind", stage.kind}}, text(stage.kind)) +
      element("span", {{"class", "time"}}, text(time));
  const Markup evidence =
      element("details", {{is_open ? "open" : "", ""}},
              element("summary", text("evidence and next step")) + evidence_of(stage));
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
      small += verdict_of(*stage, false);
      names += (names.empty() ? "" : ", ") + stage->name;
    } else {
      large += verdict_of(*stage, large.empty());
    }
  }
  if (!small.empty()) {
    large += element(
        "details", {{"class", "smaller"}},
        element("summary", text("below " + percent(kSmall) + " of a request each: " + names)) +
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
      steps.push_back({"prefill, rest", request->mean_ns * request->unaccounted_share});
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
  Table table("stages-table", "stages of the model",
              {{"stage", Align::Left},
               {"unit", Align::Left},
               {"median [95 %]", Align::Right, "of a unit, without a profiler"},
               {"share", Align::Right, "of a request's mean time"},
               {"floor", Align::Right, "least time by FLOPs and bytes, operator by operator"},
               {"of floor", Align::Right, "floor by measured time"},
               {"MFU", Align::Right, "FLOPs by what the dense peak does in the measured time"},
               {"bandwidth", Align::Right, "bytes by what the memory moves in the measured time"},
               {"GPU busy", Align::Right, "of the unprofiled time where it is known"},
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
  const auto [times, costs, devices, ceilings, shapes] = report::stage_sources(summary);
  Markup html =
      source_line(summary.request ? "Times: a unit without a profiler, the median with the 95 % "
                                    "interval of the median."
                                  : "Times: mean of a range under the profiler.",
                  times);
  if (!costs.empty()) {
    html += source_line(
        "Floor: the least time by FLOPs and by bytes of weights and KV cache; shapes: " + shapes +
            "; ceilings: " + (ceilings.empty() ? "not known" : ceilings) + ".",
        costs);
  }
  if (!devices.empty()) html += source_line("Device: as a profiler saw it.", devices);
  return html;
}

}  // namespace

Section overview_section(const PageSource& source) {
  const RunSummary& summary = source.summary;
  Section section{"verdict", "Verdict"};
  section.body += element("p", {{"class", "verdict"}}, text(summary.verdict)) + headline(source);
  if (summary.stages.empty()) {
    section.add_nothing("Nothing was measured stage by stage; what is missing says why.");
    return section;
  }
  Section chart{"", ""};
  chart.add_chart(
      "waterfall", "time of each stage of a request, against the least it could take",
      text(
          summary.request
              ? "A mean request, stage after stage. Pale: measured. Solid: the floor of its shapes."
              : "Mean time of each range."),
      waterfall(summary));
  section.charts = std::move(chart.charts);
  section.body += element("div", {{"class", "split"}}, verdicts(summary) + chart.body) +
                  stage_table(summary) + stage_source_lines(summary);
  return section;
}

}  // namespace profline::web
