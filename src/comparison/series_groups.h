#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "comparison/run_measurements.h"

namespace profline::comparison {

/// One figure on both sides: what each run has of it.
struct SeriesGroup {
  std::vector<const Series*> a;
  std::vector<const Series*> b;

  const Series& any() const { return a.empty() ? *b.front() : *a.front(); }
};

/// Figures of one name, and of kernels one shape, belong together; in the order of first sight,
/// operators and kernels by the time that the longer side has for them.
std::vector<SeriesGroup> group_series(std::span<const RunMeasurements> a,
                                      std::span<const RunMeasurements> b);

/// Whether every run has the same inputs; then both sides' units in one order.
struct PairedUnits {
  bool paired = false;
  statistics::RunUnits a;
  statistics::RunUnits b;
};
PairedUnits pair_units(const SeriesGroup& group, bool may_pair);

/// Whether a text is what a pattern means; `*` stands for anything.
bool matches(std::string_view pattern, std::string_view text);

}  // namespace profline::comparison
