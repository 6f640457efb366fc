#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/figures.h"
#include "base/strings.h"
#include "formats/markup.h"
#include "report/write_reports.h"
#include "summary/steadiness.h"
#include "summary/verdict.h"

namespace profline::report {
namespace {

using markdown::code;
using markdown::plain;
using markdown::Table;
using Align = Table::Align;

constexpr std::size_t kRowsForStakeholders = 5;

std::string environment(const ReportModel& model) {
  const RunSummary& summary = model.summary;
  const RunRecord& run = model.run.record();
  std::string text = "## Environment\n\n";
  const auto line = [&](const char* what, const std::string& value) {
    if (!value.empty()) text += fmt::format("- {}: {}\n", what, plain(value));
  };
  line("Run", summary.run + (run.started.empty() ? "" : ", started " + run.started));
  line("Experiment", summary.experiment);
  line("Device", summary.device_name.empty() ? summary.device
                                             : summary.device_name + " (" + summary.device + ")");
  for (const PhaseSummary& phase : summary.phases) {
    if (!phase.cost || phase.cost->ceilings.empty()) continue;
    line("Ceilings", phase.cost->ceilings);
    break;
  }
  line("Precision and engine", summary.dtype.empty() ? "" : summary.dtype + ", " + summary.engine);
  return text;
}

/// Parts of a phase are indented below it.
std::string row_name(const SummaryPart& phase) {
  std::string indent;
  for (const char c : phase.path) {
    if (c == '/') indent += "&nbsp;&nbsp;";
  }
  std::string name = indent.empty() ? capitalised(phase.name) : phase.name;
  if (phase.repeats) name += ", per " + phase.unit;
  return indent + plain(name);
}

std::string aggregates(const RunSummary& summary) {
  const auto& request = summary.request;
  if (!request) return "";
  Table table({{"", Align::Left}, {"mean"}, {"std"}, {"median"}, {"n"}});
  bool has_parts = false;
  for (const SummaryPart& part : request->parts) {
    if (!part.time) continue;
    has_parts = has_parts || part.rest_share;
    const double mean = part.steady ? part.steady->mean_ns.value_or(0) : part.time->mean_ns;
    table.add({row_name(part), duration(mean), duration(part.time->std_ns),
               duration(part.time->median_ns), std::to_string(part.time->n)});
  }
  std::string text = "\n## Measured times\n\n" + table.text();
  text += fmt::format(
      "\nWithout a profiler{}{}{}. From {}.\n", summary.program ? "" : ", after warm-up",
      has_parts ? "; indented rows are parts of the row above them" : "",
      summary.one_time.empty() ? "" : "; means leave out one-time costs", code(request->source));
  const PhaseSummary* const leading = summary::leading_phase(summary);
  if (request->tokens_per_second && leading != nullptr) {
    text += fmt::format("\n{} in {}, {:.0f} new tokens per {}.\n",
                        human_rate(*request->tokens_per_second, "tokens"), plain(leading->name),
                        request->new_tokens.value_or(0),
                        request->unit == "batch" ? "sequence at most" : "request");
  }
  return text;
}

std::string utilisation(const RunSummary& summary) {
  Table table({{"", Align::Left}, {"MFU"}, {"memory bandwidth"}, {"of the floor"}});
  std::string source;
  for (const PhaseSummary& phase : summary.phases) {
    if (!phase.cost || !phase.cost->of_floor) continue;
    table.add({code(phase.name), percent(phase.cost->mfu), percent(phase.cost->bandwidth),
               percent(phase.cost->of_floor)});
    source = phase.cost->source;
  }
  if (table.empty()) return "";
  std::string text = "\n## Hardware utilisation\n\n" + table.text();
  if (summary.request && summary.request->mfu) {
    text += "\nModel-level MFU: " + percent(*summary.request->mfu) + ".";
  }
  return text + " 100 % of the floor is the theoretical minimum time for these shapes. From " +
         plain(source) + ".\n";
}

/// The outermost phases of the model, longest first.
std::vector<const SummaryPart*> by_time(const SummaryRequest& request) {
  std::vector<const SummaryPart*> parts;
  for (const SummaryPart& part : request.parts) {
    if (part.is_outermost() && !part.host && part.share > 0) parts.push_back(&part);
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const SummaryPart* a, const SummaryPart* b) { return a->share > b->share; });
  return parts;
}

/// The dominant phase, worded according to the figures.
std::string phase_words(const RunSummary& summary) {
  const SummaryRequest& request = *summary.request;
  const std::vector<const SummaryPart*> parts = by_time(request);
  if (parts.empty()) return fmt::format("A request takes {}.", duration(request.mean_ns));
  const SummaryPart& first = *parts.front();
  if (parts.size() == 1) {
    return fmt::format("{} takes {} of each request.", plain(capitalised(first.name)),
                       percent(first.share));
  }
  const SummaryPart& second = *parts[1];
  if (request.dominant.empty()) {
    // In the order in which they run.
    const bool in_order = &first < &second;
    const SummaryPart& before = in_order ? first : second;
    const SummaryPart& after = in_order ? second : first;
    return fmt::format("{} and {} are comparable: {} and {} of the {} per request.",
                       plain(capitalised(before.name)), plain(after.name), percent(before.share),
                       percent(after.share), duration(request.mean_ns));
  }
  std::string text = fmt::format(
      "{} dominates: {} of the {} per request, {} {}", plain(capitalised(first.name)),
      percent(first.share), duration(request.mean_ns), plain(second.name), percent(second.share));
  const PhaseSummary* const leading = summary::leading_phase(summary);
  if (request.tokens_per_second && leading != nullptr && leading->path == first.path) {
    text += ", at " + human_rate(*request.tokens_per_second, "tokens");
  }
  return text + ".";
}

/// What the profilers cost, and whether the times of the phases include that.
std::string slowdown_words(const RunSummary& summary) {
  const SummaryOverhead* const worst = summary::notable_overhead(summary);
  if (worst == nullptr) return "";
  return fmt::format("- Profilers slow the program down by up to {} ({}, {}); {}.\n",
                     factor(worst->slowdown), plain(worst->stage), plain(worst->phase),
                     summary.request ? "the times above are from the run without one"
                                     : "times of captures and ranges include that");
}

/// What the host does before the model runs, where that matters.
std::string host_words(const SummaryRequest& request) {
  const SummaryPart* const part = summary::notable_host_work(request);
  if (part == nullptr) return "";
  return fmt::format("- Host work before the model ({}) takes {} of each request.\n",
                     plain(part->name), percent(part->share));
}

std::string takeaways(const RunSummary& summary) {
  std::string text = "\n## Takeaways\n\n";
  if (summary.request) {
    text += "- " + phase_words(summary) + '\n' + host_words(*summary.request);
  }
  for (const PhaseSummary& phase : summary.phases) {
    if (phase.kind == "unknown" || summary::is_small(phase)) continue;
    text += "- " + summary::class_words(phase, code(phase.name));
    if (!phase.reasons.empty()) text += ": " + plain(phase.reasons.front().text);
    text += ".\n";
  }
  for (const SummaryOneTime& costs : summary.one_time) {
    text += "- One-time cost, left out of the figures: " + plain(summary::one_time_words(costs)) +
            ".\n";
  }
  return text + slowdown_words(summary);
}

std::string top_tables(const ReportModel& model) {
  std::string text;
  const auto& operators = model.run.get(run::kTorchOperators);
  if (operators && !operators->operators.empty()) {
    Table table({{"operator", Align::Left}, {"self CPU"}, {"calls"}});
    for (std::size_t i = 0; i < std::min(kRowsForStakeholders, operators->operators.size()); ++i) {
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
  const KernelRanking ranking = model.summary.join.ranking();
  Table table({{"kernel", Align::Left},
               {ranking.by_exclusive ? "exclusive time" : "time"},
               {"launches"},
               {"share"}});
  for (std::size_t i = 0; i < std::min(kRowsForStakeholders, model.summary.kernels.size()); ++i) {
    const SummaryKernel& kernel = model.summary.kernels[i];
    if (!kernel.time) continue;
    table.add({code(kernel.short_name, 60), duration(ranking.ns(*kernel.time)),
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

Step step_of(const PhaseSummary& phase) {
  Step step;
  step.text = code(phase.name) + ": " + plain(phase.next_step);
  if (!phase.gains.empty() && phase.gains.front().saved_share) {
    step.saved = *phase.gains.front().saved_share;
    step.text += fmt::format("; that could save at most {} of each request", percent(step.saved));
  }
  return step;
}

/// Phases without an explanation, as one step: they all lack the same data.
std::optional<Step> step_to_know(const RunSummary& summary) {
  std::string names;
  double share = 0;
  std::string next;
  for (const PhaseSummary& phase : summary.phases) {
    if (phase.kind != "unknown" || !summary::is_worth_a_step(phase)) continue;
    names += (names.empty() ? "" : ", ") + code(phase.name);
    share += phase.share.value_or(0);
    next = phase.next_step;
  }
  if (names.empty()) return std::nullopt;
  std::string text = "what limits " + names + " is not known";
  // Ranges may be nested, so their shares do not add up.
  if (share > 0 && summary.request) text += fmt::format(" ({} of each request)", percent(share));
  return Step{0, text + "; " + plain(next)};
}

/// Steps sorted by the share of a request that they could save, largest first.
std::string recommendations(const RunSummary& summary) {
  std::vector<Step> steps;
  for (const PhaseSummary& phase : summary.phases) {
    if (phase.kind != "unknown" && summary::is_worth_a_step(phase)) steps.push_back(step_of(phase));
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
  const std::string doubt = summary::doubt_words(summary);
  if (!doubt.empty()) text += "- " + capitalised(doubt) + ".\n";
  for (const std::string& note : summary.notes) text += "- " + plain(note) + ".\n";
  return text.empty() ? "" : "\n## Caveats\n\n" + text;
}

}  // namespace

std::string stakeholder_page(const ReportModel& model) {
  const RunSummary& summary = model.summary;
  std::string text = "# Stakeholder summary\n\n**Verdict: " + plain(summary.verdict) + ".**\n\n";
  text += environment(model) + takeaways(summary) + recommendations(summary);
  text += aggregates(summary) + utilisation(summary) + top_tables(model) + caveats(summary);
  return text +
         "\nDetails: [report.md](report.md), [kernels.md](kernels.md), "
         "[operators.md](operators.md).\n";
}

}  // namespace profline::report
