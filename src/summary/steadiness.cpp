#include "summary/steadiness.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/figures.h"

namespace profline::summary {
namespace {

using requests::PhaseInfo;
using requests::PhaseSteadiness;
using requests::SteadyPart;
using statistics::OneTime;
using statistics::Steadiness;

std::string_view reason_name(OneTime reason) {
  switch (reason) {
    case OneTime::WarmUp:
      return "warm-up";
    case OneTime::FirstUse:
      return "first-use";
    case OneTime::Marked:
      return "marked";
    case OneTime::Event:
      break;
  }
  return "event";
}

std::string times_words(std::uint64_t count) {
  constexpr std::array kWords = {"never", "once", "twice", "three times", "four times"};
  return count < kWords.size() ? kWords[count] : std::to_string(count) + " times";
}

double cost_of(const SummaryOneTime& costs) {
  return costs.total_ns - costs.typical_ns;
}

std::string doubt(std::string_view state, std::uint64_t requests) {
  if (state == to_text(Steadiness::TooShort)) {
    return fmt::format("too short to tell: {} not show whether these times are steady",
                       counted(requests, "request does", "requests do"));
  }
  if (state == to_text(Steadiness::Drifting)) {
    return "the times still change from request to request, so a longer run may give different "
           "ones";
  }
  return "";
}

void note_recurring(const PhaseInfo& phase, const PhaseSteadiness& steadiness,
                    std::vector<std::string>& notes) {
  if (steadiness.recurring == 0) return;
  notes.push_back(fmt::format(
      "{}: {} of {} {} about {}{}; they recur, as with garbage collection, and are part of the "
      "means",
      phase.name, steadiness.recurring, counted(steadiness.measured, phase.unit),
      steadiness.recurring == 1 ? "takes" : "take", duration(steadiness.recurring_ns),
      steadiness.period ? fmt::format(", one in {}", *steadiness.period) : ""));
}

void note_levels(const PhaseInfo& phase, const PhaseSteadiness& steadiness,
                 std::vector<std::string>& notes) {
  if (!steadiness.levels) return;
  notes.push_back(fmt::format(
      "{}: the times alternate between about {} and {} per {}, as with two clock rates; both are "
      "part of the means",
      phase.name, duration(steadiness.levels->low), duration(steadiness.levels->high), phase.unit));
}

}  // namespace

SteadyPart steady_part(const run::Run& run, const requests::PhaseTree& tree) {
  const auto& baseline = run.baseline();
  return baseline ? SteadyPart(*baseline, tree) : SteadyPart();
}

std::optional<SummarySteady> steady_row(const SteadyPart& steady, std::string_view path) {
  const PhaseSteadiness* const steadiness = steady.find(path);
  const requests::PhaseTime time = steady.time(path);
  if (steadiness == nullptr || time.units <= 0 || time.ns <= 0) return std::nullopt;
  return SummarySteady{std::string(to_text(steadiness->verdict)),
                       static_cast<std::uint64_t>(time.units), time.ns / time.units};
}

std::vector<SummaryOneTime> one_time_costs(const requests::PhaseTree& tree,
                                           const SteadyPart& steady, const std::string& source) {
  std::vector<SummaryOneTime> all;
  for (const requests::OneTimeCosts& costs : steady.one_time()) {
    const PhaseInfo* const phase = tree.find(costs.path);
    SummaryOneTime row;
    row.phase = phase == nullptr ? "" : phase->name;
    row.unit = costs.of_steps && phase != nullptr ? phase->unit : "request";
    row.reason = reason_name(costs.reason);
    row.count = costs.count;
    row.total_ns = costs.ns;
    row.typical_ns = costs.typical_ns;
    row.source = source;
    all.push_back(std::move(row));
  }
  std::stable_sort(all.begin(), all.end(), [](const SummaryOneTime& a, const SummaryOneTime& b) {
    return cost_of(a) > cost_of(b);
  });
  return all;
}

void note_patterns(const requests::PhaseTree& tree, const SteadyPart& steady,
                   std::vector<std::string>& notes) {
  for (const PhaseInfo& phase : tree.phases()) {
    const PhaseSteadiness* const steadiness = steady.find(phase.path);
    if (!phase.is_outermost() || steadiness == nullptr) continue;
    note_recurring(phase, *steadiness, notes);
    note_levels(phase, *steadiness, notes);
  }
}

std::string_view reason_words(const SummaryOneTime& costs) {
  if (costs.reason == reason_name(OneTime::WarmUp)) return "warm-up";
  if (costs.reason == reason_name(OneTime::FirstUse)) return "first use of a shape";
  if (costs.reason == reason_name(OneTime::Marked)) return "reported by the workload";
  return "isolated event";
}

std::string one_time_words(const SummaryOneTime& costs) {
  const auto count = static_cast<double>(costs.count);
  return fmt::format("{}{} ({} instead of {}, {})", reason_words(costs),
                     costs.phase.empty() ? "" : " in " + costs.phase,
                     duration(costs.total_ns / count), duration(costs.typical_ns / count),
                     times_words(costs.count));
}

std::string left_out_words(const RunSummary& summary) {
  if (summary.one_time.empty()) return "";
  std::string text = "left out as one-time costs: " + one_time_words(summary.one_time.front());
  const std::size_t others = summary.one_time.size() - 1;
  return others == 0 ? text : text + fmt::format("; and {} more", others);
}

std::string doubt_words(const RunSummary& summary, const PhaseSummary& phase) {
  if (!phase.steady || !summary.request) return "";
  return doubt(phase.steady->state, summary.request->requests);
}

std::string doubt_words(const RunSummary& summary) {
  return summary.request ? doubt(summary.request->steady.state, summary.request->requests) : "";
}

}  // namespace profline::summary
