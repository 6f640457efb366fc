#include "summary/phase_lines.h"

#include <algorithm>
#include <tuple>

namespace profline::summary {

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
