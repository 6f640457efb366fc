#include "analysis/roofline/internal/lookup.h"

namespace profline::roofline::internal {

Lookup::Lookup(const CounterReport& report, const ProfiledKernel& kernel)
    : report_(report), kernel_(kernel) {
  first_.reserve(kernel.counters.size());
  for (const Counter& counter : kernel.counters) {
    first_.try_emplace(report.names.text(counter.name), &counter);
  }
}

std::optional<double> Lookup::find(std::string_view name) const {
  const auto found = first_.find(name);
  if (found == first_.end()) return std::nullopt;
  return found->second->value;
}

std::optional<double> Lookup::find(std::string_view name, std::string_view unit) const {
  const auto found = first_.find(name);
  if (found == first_.end()) return std::nullopt;
  if (report_.names.text(found->second->unit) == unit) return found->second->value;
  // Sections share labels: `Memory Throughput` is a share in one and a rate in another.
  for (const Counter& counter : kernel_.counters) {
    if (counter.name == found->second->name && report_.names.text(counter.unit) == unit) {
      return counter.value;
    }
  }
  return std::nullopt;
}

std::optional<double> Lookup::first_of(std::initializer_list<std::string_view> names,
                                       std::string_view unit) const {
  for (const std::string_view name : names) {
    if (const auto value = find(name, unit)) return value;
  }
  return std::nullopt;
}

}  // namespace profline::roofline::internal
