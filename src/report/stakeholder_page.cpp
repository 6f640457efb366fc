#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/figures.h"
#include "formats/markdown.h"
#include "report/pages.h"
#include "summary/stage_times.h"
#include "summary/verdict.h"

namespace profline::report {
namespace {

using markdown::code;
using markdown::plain;
using markdown::Table;
using Align = Table::Align;

constexpr std::size_t kShown = 5;
/// Of prefill and decode one dominates when it takes this many times as long as the other.
constexpr double kDominates = 1.2;
/// Of all the time: stages below it are not worth a sentence.
constexpr double kSmall = 0.02;

std::string environment(const ReportModel& model) {
  const RunSummary& summary = model.summary;
  const RunRecord& run = model.run.run;
  std::string text = "## Environment\n\n";
  const auto line = [&](const char* what, const std::string& value) {
    if (!value.empty()) text += fmt::format("- {}: {}\n", what, plain(value));
  };
  line("Run", summary.run + (run.started.empty() ? "" : ", started " + run.started));
  line("Experiment", summary.experiment);
  line("Device", summary.device_name.empty() ? summary.device
                                             : summary.device_name + " (" + summary.device + ")");
  for (const SummaryStage& stage : summary.stages) {
    if (!stage.cost || stage.cost->ceilings.empty()) continue;
    line("Ceilings", stage.cost->ceilings);
    break;
  }
  line("Precision and engine", summary.dtype.empty() ? "" : summary.dtype + ", " + summary.engine);
  return text;
}

std::string aggregates(const ReportModel& model) {
  const auto& baseline = model.run.baseline;
  if (!baseline || baseline->empty()) return "";
  const Node* const metrics = model.run.metrics ? &*model.run.metrics : nullptr;
  Table table({{"", Align::Left}, {"mean"}, {"std"}, {"median"}, {"n"}});
  for (const char* what : {"prefill", "sam", "clip", "projector", "lm", "preprocess", "decode"}) {
    const auto times = summary::stage_spread(*baseline, metrics, what);
    if (!times || times->max_ns <= 0) continue;
    const std::string_view name = what;
    table.add({name == "decode" ? "Decode, per token"
                                : (name == "prefill"      ? "Prefill"
                                   : name == "preprocess" ? "Preprocessing"
                                                          : "&nbsp;&nbsp;" + std::string(name)),
               duration(times->mean_ns), duration(times->std_ns), duration(times->median_ns),
               std::to_string(times->n)});
  }
  std::string text = "\n## Measured times\n\n" + table.text();
  text += "\nWithout a profiler, after warm-up; the indented rows are parts of prefill. From " +
          code(baseline.file) + ".\n";
  const auto& request = model.summary.request;
  if (request && request->tokens_per_second) {
    text += fmt::format("\n{} in decode, {:.0f} new tokens per request.\n",
                        human_rate(*request->tokens_per_second, "tokens"), request->new_tokens);
  }
  return text;
}

std::string utilisation(const RunSummary& summary) {
  Table table({{"", Align::Left}, {"MFU"}, {"memory bandwidth"}, {"of the floor"}});
  std::string source;
  for (const SummaryStage& stage : summary.stages) {
    if (!stage.cost || !stage.cost->of_floor) continue;
    table.add({code(stage.name), percent(stage.cost->mfu), percent(stage.cost->bandwidth),
               percent(stage.cost->of_floor)});
    source = stage.cost->source;
  }
  if (table.empty()) return "";
  std::string text = "\n## Hardware utilisation\n\n" + table.text();
  if (summary.request && summary.request->mfu) {
    text += "\nModel-level MFU: " + percent(*summary.request->mfu) + ".";
  }
  return text + " At 100 % of the floor the hardware could do no more for these shapes. From " +
         plain(source) + ".\n";
}

/// Which phase takes the time, in words that the figures choose.
std::string phase_words(const SummaryRequest& request) {
  const double prefill = request.prefill_share;
  const double decode = request.decode_share;
  if (decode <= 0) {
    return fmt::format("Nothing is generated; the forward pass takes {} of each request.",
                       percent(prefill));
  }
  if (decode >= kDominates * prefill) {
    std::string text = fmt::format("Decode dominates: {} of the {} per request, prefill {}",
                                   percent(decode), duration(request.mean_ns), percent(prefill));
    if (request.tokens_per_second) {
      text += ", at " + human_rate(*request.tokens_per_second, "tokens");
    }
    return text + ".";
  }
  if (prefill >= kDominates * decode) {
    return fmt::format("Prefill dominates: {} of the {} per request, decode {}.", percent(prefill),
                       duration(request.mean_ns), percent(decode));
  }
  return fmt::format("Prefill and decode are comparable: {} and {} of the {} per request.",
                     percent(prefill), percent(decode), duration(request.mean_ns));
}

/// What the profilers cost, and whether the times of the stages include that.
std::string slowdown_words(const RunSummary& summary) {
  const SummaryOverhead* worst = nullptr;
  for (const SummaryOverhead& row : summary.overhead) {
    if (worst == nullptr || row.slowdown > worst->slowdown) worst = &row;
  }
  if (worst == nullptr || worst->slowdown < 1.25) return "";
  return fmt::format("- Profilers slow the program down by up to {} ({}, {}); {}.\n",
                     factor(worst->slowdown), plain(worst->stage), plain(worst->phase),
                     summary.request ? "the times above are from the run without one"
                                     : "times of captures and ranges include that");
}

std::string takeaways(const RunSummary& summary) {
  std::string text = "\n## Takeaways\n\n";
  if (summary.request) {
    text += "- " + phase_words(*summary.request) + '\n';
    if (summary.request->preprocess_share >= 0.1) {
      text += fmt::format(
          "- Preprocessing on the host takes {} of each request before the model starts.\n",
          percent(summary.request->preprocess_share));
    }
  }
  for (const SummaryStage& stage : summary.stages) {
    if (stage.kind == "unknown" || (stage.share && *stage.share < kSmall)) continue;
    text += "- " + summary::class_words(stage, code(stage.name));
    if (!stage.reasons.empty()) text += ": " + plain(stage.reasons.front().text);
    text += ".\n";
  }
  return text + slowdown_words(summary);
}

std::string top_tables(const ReportModel& model) {
  std::string text;
  const auto& operators = model.run.operators;
  if (operators && !operators->operators.empty()) {
    Table table({{"operator", Align::Left}, {"self CPU"}, {"calls"}});
    for (std::size_t i = 0; i < std::min(kShown, operators->operators.size()); ++i) {
      const TorchOperator& row = operators->operators[i];
      table.add({code(row.name), duration(static_cast<double>(row.self_cpu_ns)),
                 std::to_string(row.calls)});
    }
    text += "\n## Top operators\n\n" + table.text() + "\nFrom " + code(operators.file) + ".\n";
  } else {
    text += "\n## Top operators\n\nNo operator records: " + plain(operators.file) + " " +
            plain(operators.why_not) + ".\n";
  }
  if (model.summary.kernels.empty()) return text;
  Table table({{"kernel", Align::Left}, {"time"}, {"launches"}, {"share"}});
  for (std::size_t i = 0; i < std::min(kShown, model.summary.kernels.size()); ++i) {
    const SummaryKernel& kernel = model.summary.kernels[i];
    if (!kernel.time) continue;
    table.add({code(kernel.short_name, 60), duration(kernel.time->total_ns),
               std::to_string(kernel.time->launches), percent(kernel.time->share)});
  }
  if (table.empty()) return text;
  return text + "\n## Top kernels\n\n" + table.text() + "\nFrom " +
         code(model.summary.join.time_source) + ".\n";
}

struct Step {
  double saved = 0;  ///< of a request
  std::string text;
};

Step step_of(const SummaryStage& stage) {
  Step step;
  step.text = code(stage.name) + ": " + plain(stage.next_step);
  if (!stage.gains.empty() && stage.share) {
    step.saved = *stage.share * (1 - 1 / stage.gains.front().speedup);
    step.text += fmt::format("; that could save at most {} of each request", percent(step.saved));
  }
  return step;
}

/// Stages that nothing explains, in one step: they lack the same.
std::optional<Step> step_to_know(const RunSummary& summary) {
  std::string names;
  double share = 0;
  std::string next;
  for (const SummaryStage& stage : summary.stages) {
    if (stage.kind != "unknown" || !summary::is_worth_a_step(stage)) continue;
    names += (names.empty() ? "" : ", ") + code(stage.name);
    share += stage.share.value_or(0);
    next = stage.next_step;
  }
  if (names.empty()) return std::nullopt;
  std::string text = "what limits " + names + " is not known";
  // Ranges may lie inside one another: their shares are no sum.
  if (share > 0 && summary.request) text += fmt::format(" ({} of each request)", percent(share));
  return Step{0, text + "; " + plain(next)};
}

/// Steps by what they could save of a whole request, most first.
std::string recommendations(const RunSummary& summary) {
  std::vector<Step> steps;
  for (const SummaryStage& stage : summary.stages) {
    if (stage.kind != "unknown" && summary::is_worth_a_step(stage)) steps.push_back(step_of(stage));
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) { return a.saved > b.saved; });
  if (auto unknown = step_to_know(summary)) steps.push_back(std::move(*unknown));
  if (steps.empty()) return "";
  std::string text = "\n## Next steps\n\n";
  for (std::size_t i = 0; i < steps.size(); ++i) {
    text += fmt::format("{}. {}.\n", i + 1, steps[i].text);
  }
  return text;
}

std::string caveats(const RunSummary& summary) {
  std::string text;
  if (summary.request && summary.request->images < 3) {
    text += fmt::format("- Only {} measured: the spread says little.\n",
                        counted(summary.request->images, "image was", "images were"));
  }
  for (const std::string& note : summary.notes) text += "- " + plain(note) + ".\n";
  return text.empty() ? "" : "\n## Caveats\n\n" + text;
}

}  // namespace

std::string stakeholder_page(const ReportModel& model) {
  const RunSummary& summary = model.summary;
  std::string text = "# Stakeholder summary\n\n**Verdict: " + plain(summary.verdict) + ".**\n\n";
  text += environment(model) + takeaways(summary) + recommendations(summary);
  text += aggregates(model) + utilisation(summary) + top_tables(model) + caveats(summary);
  return text +
         "\nDetails: [report.md](report.md), [kernels.md](kernels.md), "
         "[operators.md](operators.md).\n";
}

}  // namespace profline::report
