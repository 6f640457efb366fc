#include "summary/verdict.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/figures.h"
#include "base/strings.h"

namespace profline::summary {
namespace {

/// Host work that takes a smaller share of a request is not worth a sentence.
constexpr double kNotableHostShare = 0.1;
/// Profiled time divided by unprofiled time.
constexpr double kNotableSlowdown = 1.25;
constexpr std::uint64_t kFewRequests = 3;

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

/// The figures that support the class, in short form.
std::string because(const PhaseSummary& phase) {
  std::string text = is_capture(phase)
                         ? duration(phase.mean_ns.value_or(0)) + " captured"
                         : fmt::format("{} per {}", duration(phase.mean_ns), phase.unit);
  if (phase.kind == "host-bound" && !phase.device && phase.operator_calls) {
    text += " in " + counted_mean(*phase.operator_calls, "operator call");
  }
  if (phase.kind == "memory-bound" && phase.cost && phase.cost->bandwidth) {
    text += ", " + percent(*phase.cost->bandwidth) + " of peak bandwidth";
  }
  if (phase.kind == "compute-bound" && phase.cost && phase.cost->mfu) {
    text += ", " + percent(*phase.cost->mfu) + " of peak FLOP/s";
  }
  return text + busy_words(phase);
}

/// The phase's share of the total and the possible gain.
std::string importance(const RunSummary& summary, const PhaseSummary& phase) {
  std::string text;
  if (phase.share && !is_capture(phase)) {
    text = fmt::format("{} is {} of {}", subject(summary, phase), percent(*phase.share),
                       whole_of(summary));
  }
  if (!phase.gains.empty()) {
    std::string gain = gain_words(phase, phase.gains.front());
    if (text.empty()) gain.front() = 'A';
    text += (text.empty() ? "" : "; ") + gain;
  }
  if (!summary.program) return text;
  return fmt::format("{}{}Without a profiler {} takes {} (one run)", text, text.empty() ? "" : ". ",
                     is_capture(phase) ? "it" : "the program", duration(summary.program->wall_ns));
}

}  // namespace

const PhaseSummary* largest_phase(const RunSummary& summary) {
  const auto largest = std::max_element(
      summary.phases.begin(), summary.phases.end(),
      [](const PhaseSummary& a, const PhaseSummary& b) { return weight(a) < weight(b); });
  return largest == summary.phases.end() ? nullptr : &*largest;
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

std::string class_words(const PhaseSummary& phase, const std::string& name) {
  if (phase.kind == "unknown") return "what limits " + name + " is not known";
  return name + (phase.kind == "mixed" ? " is not dominated by one limit" : " is " + phase.kind);
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

bool has_few_requests(const SummaryRequest& request) {
  return request.requests < kFewRequests;
}

std::string verdict_of(const RunSummary& summary) {
  const PhaseSummary* const phase = largest_phase(summary);
  if (phase == nullptr && summary.program) {
    return "The program takes " + duration(summary.program->wall_ns) +
           " without a profiler (one run); no capture shows what it does in that time";
  }
  if (phase == nullptr) {
    return "No verdict: nothing was measured phase by phase; see what is missing below";
  }
  const std::string name = subject(summary, *phase);
  const std::string rest = importance(summary, *phase);
  std::string text;
  if (phase->kind == "unknown") {
    text = name + " is not explained: " + because(*phase);
  } else {
    text = class_words(*phase, name) + ": " + because(*phase);
  }
  if (!rest.empty()) text += ". " + rest;
  if (phase->kind == "unknown") text += ". Next: " + phase->next_step;
  return text;
}

}  // namespace profline::summary
