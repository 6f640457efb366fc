#include "workload/measure/measured_scopes.h"

#include "base/assert.h"

namespace profline::workload {

std::optional<std::chrono::nanoseconds> time_of(const std::vector<PartTime>& parts,
                                                std::string_view name) {
  std::optional<std::chrono::nanoseconds> sum;
  for (const PartTime& part : parts) {
    if (part.name == name) sum = sum.value_or(std::chrono::nanoseconds(0)) + part.duration;
  }
  return sum;
}

void MeasuredScopes::enter(const char* name) {
  Open& part = open_.emplace_back(name);
  if (is_synchronised()) clock_.synchronise();
  // The range opens before the first mark and closes after the last one: a profiler that starts or
  // stops a capture at its edges takes that time outside of what is measured.
  if (options_.step_ranges || std::string_view(name) != scope::kDecodeStep) {
    part.range.emplace(name);
  }
  part.begin = clock_.mark();
}

void MeasuredScopes::leave() {
  PL_ASSERT(!open_.empty(), "what is left was entered");
  const Open& part = open_.back();
  closed_.push_back({part.name, part.begin, clock_.mark()});
  if (is_synchronised()) clock_.synchronise();
  open_.pop_back();
}

std::vector<PartTime> MeasuredScopes::take() {
  PL_ASSERT(open_.empty(), "times are taken between parts");
  clock_.synchronise();
  std::vector<PartTime> parts;
  parts.reserve(closed_.size());
  for (const Closed& part : closed_) {
    parts.push_back({part.name, clock_.between(part.begin, part.end)});
  }
  closed_.clear();
  clock_.restart();
  return parts;
}

}  // namespace profline::workload
