#include "report/verdict.h"

#include <algorithm>

#include <fmt/format.h>

#include "report/numbers.h"

namespace profline::report {
namespace {

double weight(const SummaryStage& stage) {
  return stage.share.value_or(stage.mean_ns.value_or(0));
}

/// The numbers behind the class, shortest form.
std::string because(const SummaryStage& stage) {
  std::string text = fmt::format("{} per {}", duration(stage.mean_ns.value_or(0)), stage.unit);
  if (stage.device && stage.device->busy_share) {
    text += fmt::format(", the device busy for {} of it", percent(*stage.device->busy_share));
    if (stage.device->launches_per_unit) {
      text += fmt::format(" with {:.0f} launches", *stage.device->launches_per_unit);
    }
    return text;
  }
  if (stage.kind == "host-bound" && stage.operator_calls) {
    text += fmt::format(" in {:.0f} operator calls", *stage.operator_calls);
  }
  if (stage.cost && stage.cost->of_floor) {
    text += fmt::format(", {} of it the floor of its shapes", percent(*stage.cost->of_floor));
  }
  return text;
}

}  // namespace

const SummaryStage* largest_stage(const RunSummary& summary) {
  const auto largest = std::max_element(
      summary.stages.begin(), summary.stages.end(),
      [](const SummaryStage& a, const SummaryStage& b) { return weight(a) < weight(b); });
  return largest == summary.stages.end() ? nullptr : &*largest;
}

std::string verdict_of(const RunSummary& summary) {
  const SummaryStage* const stage = largest_stage(summary);
  if (stage == nullptr && summary.program) {
    return "the program takes " + duration(summary.program->wall_ns) +
           " (one run without a profiler); what it does in that time no capture shows";
  }
  if (stage == nullptr) {
    return "no verdict: nothing was measured stage by stage, see what is missing below";
  }
  std::string text = stage->name;
  if (stage->share) {
    text += fmt::format(" takes {} of a request and", percent(*stage->share));
  }
  if (stage->kind == "unknown") {
    return text + fmt::format(" is not explained: {}; next: {}", because(*stage), stage->next_step);
  }
  text += stage->kind == "mixed" ? " has no single limit: " : " is " + stage->kind + ": ";
  text += because(*stage);
  if (!stage->gains.empty()) {
    const SummaryGain& gain = stage->gains.front();
    text += fmt::format("; at most {} as fast {}", factor(gain.speedup), gain.when);
  }
  return text;
}

}  // namespace profline::report
