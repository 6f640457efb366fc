#include "summary/verdict.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "base/figures.h"
#include "base/strings.h"
#include "run/names/artifact_names.h"
#include "summary/load.h"
#include "summary/server.h"
#include "summary/steadiness.h"

namespace profline::summary {
namespace {

/// Host work that takes a smaller share of a request is not worth a sentence.
constexpr double kNotableHostShare = 0.1;
/// Profiled time divided by unprofiled time.
constexpr double kNotableSlowdown = 1.25;

double weight(const PhaseSummary& phase) {
  return phase.share.value_or(phase.mean_ns.value_or(0));
}

bool is_capture(const PhaseSummary& phase) {
  return phase.unit == "capture";
}

/// The subject at the start of a sentence: `Decode`, `Phase attention`, `Range forward`, `The
/// program`.
std::string subject(const RunSummary& summary, const PhaseSummary& phase) {
  if (is_capture(phase)) return summary.program ? "The program" : "The capture";
  if (phase.unit == "range") return "Range " + phase.name;
  if (!phase.part_of.empty()) return "Phase " + phase.name;
  return capitalised(phase.name);
}

std::string busy_words(const PhaseSummary& phase) {
  if (!phase.device || !phase.device->busy_share) return "";
  const SummaryDevice& device = *phase.device;
  std::string text = ", GPU busy " + percent(*device.busy_share) + " of the time";
  if (!device.unprofiled_ns) text += " under the profiler";
  if (device.launches_per_unit.value_or(0) > 0) {
    text += ", " + counted_mean(*device.launches_per_unit, "launch");
    if (!is_capture(phase)) text += " per " + phase.unit;
  }
  return text;
}

/// What its shares are shares of.
std::string peak_of(const SummaryCost& cost) {
  return cost.peak.empty() ? "peak" : cost.peak;
}

/// The figures that support the class, in short form.
std::string because(const PhaseSummary& phase) {
  std::string text = is_capture(phase)
                         ? duration(phase.mean_ns.value_or(0)) + " captured"
                         : fmt::format("{} per {}", duration(phase.mean_ns), phase.unit);
  if (phase.kind == "host-bound" && !phase.device && phase.operator_calls) {
    text += " in " + counted_mean(*phase.operator_calls, "operator call");
  }
  if (phase.kind == "memory-bound" && phase.cost && phase.cost->bandwidth) {
    text += ", " + percent(*phase.cost->bandwidth) + " of " + peak_of(*phase.cost) + " bandwidth";
  }
  if (phase.kind == "compute-bound" && phase.cost && phase.cost->mfu) {
    text += ", " + percent(*phase.cost->mfu) + " of " + peak_of(*phase.cost) + " FLOP/s";
  }
  return text + busy_words(phase);
}

/// What the limits of the hardware account for; empty if they are not known.
std::string limits_words(const PhaseSummary& phase) {
  if (!phase.cost || !phase.cost->mfu) return "";
  std::string text = fmt::format(", at peak speed arithmetic would take {} of that time",
                                 percent(*phase.cost->mfu));
  // More than the whole time means that the bytes came from a cache, not from memory.
  const std::optional<double>& memory = phase.cost->bandwidth;
  return memory && *memory <= 1 ? text + " and memory traffic " + percent(*memory) : text;
}

/// For a phase that no limit explains: where the time goes, then what is known about it.
std::string unexplained(const RunSummary& summary, const PhaseSummary& phase) {
  const bool is_unknown = phase.kind == "unknown";
  if (is_capture(phase)) {
    std::string name = subject(summary, phase);
    if (is_unknown) name.front() = lower(name.front());
    return capitalised(class_words(phase, name)) + ": " + because(phase);
  }
  const std::string_view what = phase.unit == "range" ? "range" : "phase";
  std::string text = phase.share.value_or(0) >= 0.5 ? "Most" : "The largest part";
  text += fmt::format(" of the time goes to {} {}: {} per {}", what, phase.name,
                      duration(phase.mean_ns), phase.unit);
  if (phase.share) text += fmt::format(", {} of {}", percent(*phase.share), whole_of(summary));
  std::string figures = busy_words(phase) + limits_words(phase);
  if (!figures.empty()) figures.replace(0, 1, ":");
  return text + ". " + capitalised(class_words(phase, is_unknown ? "it" : "It")) + figures;
}

/// The phase's share of the total and the possible gain.
std::string importance(const RunSummary& summary, const PhaseSummary& phase, bool with_share) {
  std::string text;
  if (with_share && phase.share && !is_capture(phase)) {
    text = fmt::format("{} is {} of {}", subject(summary, phase), percent(*phase.share),
                       whole_of(summary));
  }
  if (!phase.gains.empty()) {
    std::string gain = gain_words(phase, phase.gains.front());
    if (text.empty()) gain.front() = 'A';
    text += (text.empty() ? "" : "; ") + gain;
  }
  if (!summary.program || summary.request) return text;
  return fmt::format("{}{}Without a profiler {} takes {} (one run)", text, text.empty() ? "" : ". ",
                     is_capture(phase) ? "it" : "the program", duration(summary.program->wall_ns));
}

/// How the program failed without a profiler; empty if it succeeded.
std::string failure_words(const RunSummary& summary) {
  constexpr std::string_view kSuccess = "exited with code 0";
  if (!summary.program || summary.program->end.empty() || summary.program->end == kSuccess)
    return "";
  const std::string& end = summary.program->end;
  const std::string after =
      end.starts_with("timed out") ? "" : " after " + duration(summary.program->wall_ns);
  return fmt::format("The program failed: {}{}; its output is in {}/{}", end, after,
                     run::stages::kBaseline, run::files::kLog);
}

/// Why the program has no requests if that is known, and otherwise how to mark them.
std::string why_no_request(const SummaryProgram& program) {
  if (!program.no_adapter.empty()) return ". Its requests are unknown: " + program.no_adapter;
  return ". Next: mark one unit of its work, in Python with 'import profline' and 'with "
         "profline.request():'; the report shows the lines for C and C++";
}

/// For a run without phases. It stands on the terminal as well as in the report.
std::string no_verdict(const RunSummary& summary) {
  const std::string baseline = std::string(run::stages::kBaseline) + "/";
  const auto absent =
      std::find_if(summary.absent.begin(), summary.absent.end(),
                   [&](const SummaryAbsent& one) { return one.file.starts_with(baseline); });
  return fmt::format("No verdict: no phase was timed{}; the report lists what is missing",
                     absent == summary.absent.end() ? "" : " (" + absent->why + ")");
}

}  // namespace

const PhaseSummary* largest_phase(const RunSummary& summary) {
  const auto largest = std::max_element(
      summary.phases.begin(), summary.phases.end(),
      [](const PhaseSummary& a, const PhaseSummary& b) { return weight(a) < weight(b); });
  return largest == summary.phases.end() ? nullptr : &*largest;
}

const PhaseSummary* phase_to_improve(const RunSummary& summary) {
  constexpr double kMost = 0.5;
  const PhaseSummary* const largest = largest_phase(summary);
  if (largest == nullptr || !is_capture(*largest)) return largest;
  for (const PhaseSummary* const phase : by_share(summary)) {
    const bool is_most = phase->share.value_or(0) >= kMost;
    if (is_most && !is_capture(*phase) && has_one_limit(*phase)) return phase;
  }
  return largest;
}

std::vector<const PhaseSummary*> by_share(const RunSummary& summary) {
  std::vector<const PhaseSummary*> phases;
  phases.reserve(summary.phases.size());
  for (const PhaseSummary& phase : summary.phases) phases.push_back(&phase);
  std::stable_sort(phases.begin(), phases.end(), [](const auto* a, const auto* b) {
    return a->share.value_or(0) > b->share.value_or(0);
  });
  return phases;
}

std::string_view whole_of(const RunSummary& summary) {
  return summary.request ? "each request" : "the captured time";
}

bool has_one_limit(const PhaseSummary& phase) {
  return phase.kind != "mixed" && phase.kind != "unknown";
}

std::string class_words(const PhaseSummary& phase, const std::string& name) {
  if (phase.kind == "unknown") return "what limits " + name + " is not known";
  return name + (phase.kind == "mixed" ? " is not dominated by one limit" : " is " + phase.kind);
}

std::string class_changes(const PhaseSummary& phase) {
  std::string text;
  std::string kind;
  for (const SummaryStep& step : phase.steps) {
    if (step.kind == kind) continue;
    text += fmt::format("{} {}{}, {} ({})", kind.empty() ? "from" : "; with", step.evidence,
                        kind.empty() ? " alone" : "", step.kind, step.finding);
    kind = step.kind;
  }
  const bool has_changed = !phase.steps.empty() && phase.steps.front().kind != phase.kind;
  return has_changed ? text : "";
}

std::string gain_words(const PhaseSummary& phase, const SummaryGain& gain) {
  return fmt::format("{} {} would take {} {} ({} faster)", phase.unit == "image" ? "an" : "a",
                     phase.unit, duration(gain.time_ns), gain.when, factor(gain.speedup));
}

bool is_worth_a_step(const PhaseSummary& phase) {
  if (!phase.share) return true;
  const double at_most =
      phase.gains.empty() ? *phase.share : phase.gains.front().saved_share.value_or(0);
  return at_most >= kWorthAStep;
}

bool is_small(const PhaseSummary& phase) {
  return phase.share && *phase.share < kSmallShare;
}

const SummaryPart* notable_host_work(const SummaryRequest& request) {
  for (const SummaryPart& part : request.parts) {
    if (part.host && part.share >= kNotableHostShare) return &part;
  }
  return nullptr;
}

const SummaryOverhead* notable_overhead(const RunSummary& summary) {
  const SummaryOverhead* worst = nullptr;
  for (const SummaryOverhead& row : summary.overhead) {
    if (row.slowdown < kNotableSlowdown) continue;
    if (worst == nullptr || row.slowdown > worst->slowdown) worst = &row;
  }
  return worst;
}

std::string verdict_of(const RunSummary& summary) {
  if (is_only_load(summary)) return load_verdict(*summary.load);
  if (!summary.server.empty()) return server_verdict(summary);
  const PhaseSummary* const phase = largest_phase(summary);
  const std::string failure = failure_words(summary);
  if (phase == nullptr && !failure.empty()) return failure;
  if (phase == nullptr && summary.program) {
    const std::string next = summary.request ? "" : why_no_request(*summary.program);
    return "The program takes " + duration(summary.program->wall_ns) +
           " without a profiler (one run); no capture shows what it does in that time" + next;
  }
  if (phase == nullptr) return no_verdict(summary);
  const bool is_explained = has_one_limit(*phase);
  std::string text = failure.empty() ? "" : failure + ". ";
  text += is_explained ? class_words(*phase, subject(summary, *phase)) + ": " + because(*phase)
                       : unexplained(summary, *phase);
  const std::string rest = importance(summary, *phase, is_explained);
  if (!rest.empty()) text += ". " + rest;
  for (const std::string& words : {left_out_words(summary), doubt_words(summary, *phase)}) {
    if (!words.empty()) text += ". " + capitalised(words);
  }
  if (!is_explained && !phase->next_step.empty()) text += ". Next: " + phase->next_step;
  return text;
}

requests::PhaseTree phase_tree(const run::Run& run) {
  const auto& baseline = run.baseline();
  if (baseline && !baseline->empty()) return requests::PhaseTree(*baseline);
  for (const run::ProfiledRequests& profiled : run.profiled()) {
    if (profiled.requests && !profiled.requests->empty()) {
      return requests::PhaseTree(*profiled.requests);
    }
  }
  return {};
}

const PhaseSummary* leading_phase(const RunSummary& summary) {
  const auto weight = [](const PhaseSummary& phase) {
    return std::tuple(phase.repeats, phase.unit != "capture",
                      phase.share.value_or(phase.mean_ns.value_or(0)));
  };
  const auto leading = std::max_element(
      summary.phases.begin(), summary.phases.end(),
      [&](const PhaseSummary& a, const PhaseSummary& b) { return weight(a) < weight(b); });
  return leading == summary.phases.end() ? nullptr : &*leading;
}

const SummaryPart* longest_pass(const SummaryRequest& request) {
  const SummaryPart* longest = nullptr;
  for (const SummaryPart& part : request.parts) {
    if (!part.is_outermost() || part.host || part.repeats || part.share <= 0) continue;
    if (longest == nullptr || part.share > longest->share) longest = &part;
  }
  return longest;
}

std::vector<PhaseLine> phase_lines(const RunSummary& summary) {
  std::vector<PhaseLine> lines;
  if (!summary.request) {
    for (const PhaseSummary& phase : summary.phases) {
      lines.push_back({phase.name, phase.share.value_or(0), &phase});
    }
    return lines;
  }
  std::vector<const SummaryPart*> open;  // phases whose parts are being listed
  const auto close_before = [&](std::string_view path) {
    while (!open.empty() && !path.starts_with(open.back()->path + "/")) {
      lines.push_back({"rest of " + open.back()->name, *open.back()->rest_share, nullptr});
      open.pop_back();
    }
  };
  for (const SummaryPart& part : summary.request->parts) {
    close_before(part.path);
    if (part.rest_share) {
      open.push_back(&part);
      continue;
    }
    const auto phase = std::find_if(summary.phases.begin(), summary.phases.end(),
                                    [&](const PhaseSummary& one) { return one.path == part.path; });
    const bool is_judged = phase != summary.phases.end();
    if (is_judged || part.share > 0) {
      lines.push_back({part.name, part.share, is_judged ? &*phase : nullptr});
    }
  }
  close_before("");
  return lines;
}

PhaseSources phase_sources(const RunSummary& summary) {
  PhaseSources from;
  for (const PhaseSummary& phase : summary.phases) {
    from.times.push_back(phase.source);
    if (phase.device) from.devices.push_back(phase.device->source);
    if (!phase.cost) continue;
    from.costs.push_back(phase.cost->source);
    from.ceilings = phase.cost->ceilings;
    from.shapes = phase.cost->shapes;
  }
  return from;
}

}  // namespace profline::summary
