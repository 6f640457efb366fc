#include "summary/verdict.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/figures.h"

namespace profline::summary {
namespace {

double weight(const SummaryStage& stage) {
  return stage.share.value_or(stage.mean_ns.value_or(0));
}

bool is_capture(const SummaryStage& stage) {
  return stage.unit == "capture";
}

/// As a sentence begins: `Decode`, `SAM`, `Range forward`, `The program`.
std::string subject(const RunSummary& summary, const SummaryStage& stage) {
  if (is_capture(stage)) return summary.program ? "The program" : "The capture";
  if (stage.unit == "range") return "Range " + stage.name;
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"sam", "SAM"},       {"clip", "CLIP"},       {"projector", "The projector"},
      {"lm", "LM prefill"}, {"prefill", "Prefill"}, {"decode", "Decode"}};
  for (const auto& [name, shown] : kNames) {
    if (stage.name == name) return std::string(shown);
  }
  return stage.name;
}

std::string busy_words(const SummaryStage& stage) {
  if (!stage.device || !stage.device->busy_share) return "";
  const SummaryDevice& device = *stage.device;
  std::string text = ", GPU busy " + percent(*device.busy_share) + " of the time";
  if (!device.unprofiled_ns) text += " under the profiler";
  if (device.launches_per_unit.value_or(0) > 0) {
    text += ", " + counted_mean(*device.launches_per_unit, "launch");
    if (!is_capture(stage)) text += " per " + stage.unit;
  }
  return text;
}

/// The numbers behind the class, shortest form.
std::string because(const SummaryStage& stage) {
  std::string text = is_capture(stage)
                         ? duration(stage.mean_ns.value_or(0)) + " captured"
                         : fmt::format("{} per {}", duration(stage.mean_ns), stage.unit);
  if (stage.kind == "host-bound" && !stage.device && stage.operator_calls) {
    text += " in " + counted_mean(*stage.operator_calls, "operator call");
  }
  if (stage.kind == "memory-bound" && stage.cost && stage.cost->bandwidth) {
    text += ", " + percent(*stage.cost->bandwidth) + " of peak bandwidth";
  }
  if (stage.kind == "compute-bound" && stage.cost && stage.cost->mfu) {
    text += ", " + percent(*stage.cost->mfu) + " of peak FLOP/s";
  }
  return text + busy_words(stage);
}

/// How much of everything the stage is, and what could be gained.
std::string importance(const RunSummary& summary, const SummaryStage& stage) {
  std::string text;
  if (stage.share && !is_capture(stage)) {
    text = fmt::format("{} is {} of {}", subject(summary, stage), percent(*stage.share),
                       whole_of(summary));
  }
  if (!stage.gains.empty()) {
    std::string gain = gain_words(stage, stage.gains.front());
    if (text.empty()) gain.front() = 'A';
    text += (text.empty() ? "" : "; ") + gain;
  }
  if (!summary.program) return text;
  return fmt::format("{}{}Without a profiler {} takes {} (one run)", text, text.empty() ? "" : ". ",
                     is_capture(stage) ? "it" : "the program", duration(summary.program->wall_ns));
}

}  // namespace

const SummaryStage* largest_stage(const RunSummary& summary) {
  const auto largest = std::max_element(
      summary.stages.begin(), summary.stages.end(),
      [](const SummaryStage& a, const SummaryStage& b) { return weight(a) < weight(b); });
  return largest == summary.stages.end() ? nullptr : &*largest;
}

std::string_view whole_of(const RunSummary& summary) {
  return summary.request ? "each request" : "the captured time";
}

std::string class_words(const SummaryStage& stage, const std::string& name) {
  if (stage.kind == "unknown") return "what limits " + name + " is not known";
  return name + (stage.kind == "mixed" ? " is not dominated by one limit" : " is " + stage.kind);
}

std::string gain_words(const SummaryStage& stage, const SummaryGain& gain) {
  return fmt::format("{} {} would take {} {} ({} faster)", stage.unit == "image" ? "an" : "a",
                     stage.unit, duration(gain.time_ns), gain.when, factor(gain.speedup));
}

bool is_worth_a_step(const SummaryStage& stage) {
  if (!stage.share) return true;
  const double at_most = stage.gains.empty() ? 1 : 1 - 1 / stage.gains.front().speedup;
  return *stage.share * at_most >= kWorthAStep;
}

std::string verdict_of(const RunSummary& summary) {
  const SummaryStage* const stage = largest_stage(summary);
  if (stage == nullptr && summary.program) {
    return "The program takes " + duration(summary.program->wall_ns) +
           " without a profiler (one run); no capture shows what it does in that time";
  }
  if (stage == nullptr) {
    return "No verdict: nothing was measured stage by stage; see what is missing below";
  }
  const std::string name = subject(summary, *stage);
  const std::string rest = importance(summary, *stage);
  std::string text;
  if (stage->kind == "unknown") {
    text = name + " is not explained: " + because(*stage);
  } else {
    text = class_words(*stage, name) + ": " + because(*stage);
  }
  if (!rest.empty()) text += ". " + rest;
  if (stage->kind == "unknown") text += ". Next: " + stage->next_step;
  return text;
}

}  // namespace profline::summary
