#include "analysis/judgement/internal/bounds.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/judgement/internal/idle.h"
#include "base/figures.h"

namespace profline::judgement {
namespace internal {
namespace {

/// The evidence up to and including one kind.
PhaseEvidence up_to(Evidence last, PhaseEvidence evidence) {
  if (last < Evidence::Counters) evidence.kernels.reset();
  if (last < Evidence::Live) evidence.live.reset();
  if (last < Evidence::Activity) evidence.device.reset();
  if (last < Evidence::Operators) evidence.operators.reset();
  return evidence;
}

std::string at_ceilings(const Shares& shares) {
  return fmt::format("at peak rate arithmetic takes {} of the time, memory traffic {}",
                     percent(shares.compute), percent(shares.memory));
}

}  // namespace

double Bounds::share(const std::optional<double>& ns) const {
  return ns && evidence_.measured_ns > 0 ? *ns / evidence_.measured_ns : 0;
}

Shares Bounds::floor() const {
  if (!evidence_.cost) return {};
  Shares shares{share(evidence_.cost->compute_ns), share(evidence_.cost->memory_ns)};
  shares.is_cached = shares.memory > limits_.cached;
  if (shares.is_cached) shares.memory = 0;
  return shares;
}

Shares Bounds::live() const {
  if (!evidence_.live) return {};
  return {share(evidence_.live->compute_ns), share(evidence_.live->memory_ns)};
}

Shares Bounds::counters() const {
  const std::optional<double> busy = busy_share();
  if (!evidence_.kernels || evidence_.kernels->all_ns <= 0 || !busy) return {};
  const double scale = *busy / evidence_.kernels->all_ns;
  return {evidence_.kernels->compute_ns * scale, evidence_.kernels->memory_ns * scale};
}

bool Bounds::floor_is_tied() const {
  const Shares floor = this->floor();
  return std::max(floor.compute, floor.memory) >= limits_.majority &&
         std::abs(floor.compute - floor.memory) <= limits_.margin;
}

std::optional<double> Bounds::busy_share() const {
  if (!evidence_.has_device || !evidence_.device || evidence_.device->wall_ns() <= 0) {
    return std::nullopt;
  }
  return std::min(evidence_.device->busy_ns / evidence_.device->wall_ns(), 1.0);
}

double Bounds::counted_share() const {
  if (!evidence_.kernels || evidence_.kernels->all_ns <= 0) return 0;
  return evidence_.kernels->counted_ns() / evidence_.kernels->all_ns;
}

std::optional<Class> Bounds::by_floor() const {
  const Shares floor = this->floor();
  if (std::max(floor.compute, floor.memory) < limits_.majority || floor_is_tied()) {
    return std::nullopt;
  }
  return floor.memory > floor.compute ? Class::MemoryBound : Class::ComputeBound;
}

std::optional<Class> Bounds::by_operators() const {
  if (evidence_.has_device || !evidence_.operators) return std::nullopt;
  if (evidence_.operators->short_share < limits_.majority) return std::nullopt;
  return Class::HostBound;
}

std::optional<Class> Bounds::by_activity() const {
  const std::optional<double> busy = busy_share();
  if (!busy || 1 - *busy < limits_.majority) return std::nullopt;
  const IdleVerdict idle = judge_idle(evidence_, limits_);
  return idle.launch_share >= limits_.majority ? Class::LaunchBound : Class::HostBound;
}

std::optional<Class> Bounds::one_of(const Shares& named, const Shares& whole) const {
  const bool is_memory = named.memory >= limits_.majority;
  const bool is_compute = named.compute >= limits_.majority;
  if (is_memory && whole.compute < limits_.majority) return Class::MemoryBound;
  if (is_compute && whole.memory < limits_.majority) return Class::ComputeBound;
  return std::nullopt;
}

std::optional<Class> Bounds::by_live() const {
  return one_of(live(), live());
}

std::optional<Class> Bounds::by_counters() const {
  const std::optional<double> busy = busy_share();
  if (!evidence_.kernels || evidence_.kernels->all_ns <= 0 || !busy) return std::nullopt;
  const double scale = *busy / evidence_.kernels->all_ns;
  // Kernels without counters may be at either limit.
  const double unknown_ns = evidence_.kernels->all_ns - evidence_.kernels->counted_ns();
  return one_of(counters(), {(evidence_.kernels->compute_floor_ns + unknown_ns) * scale,
                             (evidence_.kernels->memory_floor_ns + unknown_ns) * scale});
}

Class Bounds::undecided() const {
  if (floor_is_tied()) return Class::Mixed;
  const bool has_floor = evidence_.cost && evidence_.cost->floor_ns;
  if (!evidence_.has_device) return has_floor ? Class::Mixed : Class::Unknown;
  const std::optional<double> busy = busy_share();
  if (!busy) return Class::Unknown;
  const bool is_counted = counted_share() >= limits_.majority;
  const bool is_known = *busy < limits_.busy || has_floor || evidence_.live || is_counted;
  return is_known ? Class::Mixed : Class::Unknown;
}

Class Bounds::decide() const {
  for (const std::optional<Class>& kind :
       {by_floor(), by_operators(), by_activity(), by_live(), by_counters()}) {
    if (kind) return *kind;
  }
  return undecided();
}

std::string Bounds::finding(Evidence evidence) const {
  switch (evidence) {
    case Evidence::Floor:
      return (floor().is_cached ? "its data comes from a cache; " : "") + at_ceilings(floor());
    case Evidence::Operators:
      return fmt::format("{} of the operators' own time is in short calls",
                         percent(evidence_.operators->short_share));
    case Evidence::Activity:
      return fmt::format("the GPU was busy for {} of the time", percent(*busy_share()));
    case Evidence::Live:
      return at_ceilings(live());
    case Evidence::Counters:
      break;
  }
  const Shares counters = this->counters();
  return fmt::format(
      "kernels near the memory limit take {} of the time and kernels near the compute limit {}",
      percent(counters.memory), percent(counters.compute));
}

std::vector<Step> Bounds::steps() const {
  std::vector<Step> steps;
  const auto add = [&](Evidence evidence, bool is_there, const std::string& source) {
    if (!is_there) return;
    steps.push_back(
        {evidence, class_of(up_to(evidence, evidence_), limits_), finding(evidence), source});
  };
  const bool has_cost = evidence_.cost && (evidence_.cost->compute_ns || evidence_.cost->memory_ns);
  add(Evidence::Floor, has_cost, has_cost ? evidence_.cost->source : "");
  const bool has_operators = !evidence_.has_device && evidence_.operators;
  add(Evidence::Operators, has_operators, has_operators ? evidence_.operators->source : "");
  const bool is_seen = busy_share().has_value();
  add(Evidence::Activity, is_seen, is_seen ? evidence_.device->source : "");
  add(Evidence::Live, evidence_.live.has_value(), evidence_.live ? evidence_.live->source : "");
  const bool is_counted = is_seen && counted_share() > 0;
  add(Evidence::Counters, is_counted, is_counted ? evidence_.kernels->source : "");
  return steps;
}

}  // namespace internal

std::string_view to_text(Evidence evidence) {
  switch (evidence) {
    case Evidence::Floor:
      return "the model's shapes";
    case Evidence::Operators:
      return "operators on the host";
    case Evidence::Activity:
      return "activity of the GPU";
    case Evidence::Live:
      return "counters during the phase";
    case Evidence::Counters:
      break;
  }
  return "counters per kernel";
}

Class class_of(const PhaseEvidence& evidence, const Limits& limits) {
  return internal::Bounds(evidence, limits).decide();
}

}  // namespace profline::judgement
