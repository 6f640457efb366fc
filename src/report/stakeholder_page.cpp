#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/figures.h"
#include "base/strings.h"
#include "formats/markup.h"
#include "report/write_reports.h"
#include "summary/phases.h"
#include "summary/verdict.h"

namespace profline::report {
namespace {

using markdown::code;
using markdown::plain;
using markdown::Table;
using Align = Table::Align;

constexpr std::size_t kShown = 5;
/// Of the two longest phases one dominates when it takes this many times as long as the other.
constexpr double kDominates = 1.2;
/// Of all the time: phases below it are not worth a sentence.
constexpr double kSmall = 0.02;

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
std::string row_name(const requests::PhaseInfo& phase) {
  std::string indent;
  for (const char c : phase.path) {
    if (c == '/') indent += "&nbsp;&nbsp;";
  }
  std::string name = indent.empty() ? capitalised(phase.name) : phase.name;
  if (phase.repeats) name += ", per " + phase.unit;
  return indent + plain(name);
}

std::string aggregates(const ReportModel& model) {
  const auto& baseline = model.run.baseline();
  if (!baseline || baseline->empty()) return "";
  Table table({{"", Align::Left}, {"mean"}, {"std"}, {"median"}, {"n"}});
  const requests::PhaseTree tree = summary::phase_tree(model.run);
  bool has_parts = false;
  for (const requests::PhaseInfo& phase : tree.phases()) {
    const auto times = summary::phase_times(model.run, phase.path);
    if (!times || times->max_ns <= 0) continue;
    has_parts = has_parts || phase.has_parts;
    table.add({row_name(phase), duration(times->mean_ns), duration(times->std_ns),
               duration(times->median_ns), std::to_string(times->n)});
  }
  std::string text = "\n## Measured times\n\n" + table.text();
  text += fmt::format("\nWithout a profiler, after warm-up{}. From {}.\n",
                      has_parts ? "; indented rows are parts of the row above them" : "",
                      code(baseline.file));
  const auto& request = model.summary.request;
  const PhaseSummary* const leading = summary::leading_phase(model.summary);
  if (request && request->tokens_per_second && leading != nullptr) {
    text += fmt::format("\n{} in {}, {:.0f} new tokens per request.\n",
                        human_rate(*request->tokens_per_second, "tokens"), plain(leading->name),
                        request->new_tokens.value_or(0));
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
  return text + " At 100 % of the floor the hardware could do no more for these shapes. From " +
         plain(source) + ".\n";
}

/// The outermost phases of the model, longest first.
std::vector<const SummaryPart*> by_time(const SummaryRequest& request) {
  std::vector<const SummaryPart*> parts;
  for (const SummaryPart& part : request.parts) {
    const bool is_outermost = part.path.find('/') == std::string::npos;
    if (is_outermost && !part.host && part.share > 0) parts.push_back(&part);
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const SummaryPart* a, const SummaryPart* b) { return a->share > b->share; });
  return parts;
}

/// Which phase takes the time, in words that the figures choose.
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
  if (first.share < kDominates * second.share) {
    // As they follow one another.
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

/// What the host does ahead of the model, where that matters.
std::string host_words(const SummaryRequest& request) {
  constexpr double kMatters = 0.1;
  for (const SummaryPart& part : request.parts) {
    if (!part.host || part.share < kMatters) continue;
    return fmt::format("- Host work ahead of the model ({}) takes {} of each request.\n",
                       plain(part.name), percent(part.share));
  }
  return "";
}

std::string takeaways(const RunSummary& summary) {
  std::string text = "\n## Takeaways\n\n";
  if (summary.request) {
    text += "- " + phase_words(summary) + '\n' + host_words(*summary.request);
  }
  for (const PhaseSummary& phase : summary.phases) {
    if (phase.kind == "unknown" || (phase.share && *phase.share < kSmall)) continue;
    text += "- " + summary::class_words(phase, code(phase.name));
    if (!phase.reasons.empty()) text += ": " + plain(phase.reasons.front().text);
    text += ".\n";
  }
  return text + slowdown_words(summary);
}

std::string top_tables(const ReportModel& model) {
  std::string text;
  const auto& operators = model.run.get(run::kTorchOperators);
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

Step step_of(const PhaseSummary& phase) {
  Step step;
  step.text = code(phase.name) + ": " + plain(phase.next_step);
  if (!phase.gains.empty() && phase.share) {
    step.saved = *phase.share * (1 - 1 / phase.gains.front().speedup);
    step.text += fmt::format("; that could save at most {} of each request", percent(step.saved));
  }
  return step;
}

/// Stages that nothing explains, in one step: they lack the same.
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
  // Ranges may lie inside one another: their shares are no sum.
  if (share > 0 && summary.request) text += fmt::format(" ({} of each request)", percent(share));
  return Step{0, text + "; " + plain(next)};
}

/// Steps by what they could save of a whole request, most first.
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
  if (summary.request && summary.request->requests < 3) {
    text += fmt::format("- Only {} measured: the spread says little.\n",
                        counted(summary.request->requests, summary.request->unit + " was",
                                summary.request->unit + "s were"));
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
