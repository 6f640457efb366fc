#include "comparison/withholding.h"

#include <algorithm>
#include <cmath>

#include "analysis/samples/sample_series.h"

namespace profline::comparison {
namespace {

using Side = std::span<const RunMeasurements>;

/// Fewer show their spread too badly to do without one.
constexpr std::ptrdiff_t kEnough = 3;

double disturbed_share(Side side) {
  return static_cast<double>(std::count_if(side.begin(), side.end(), is_disturbed)) /
         static_cast<double>(side.size());
}

const RunMeasurements* find(Side a, Side b, bool (*holds)(const RunMeasurements&)) {
  for (const Side side : {a, b}) {
    const auto found = std::find_if(side.begin(), side.end(), holds);
    if (found != side.end()) return &*found;
  }
  return nullptr;
}

bool opens_series(const RunMeasurements& run) {
  return run.opens_series;
}

}  // namespace

bool is_disturbed(const RunMeasurements& run) {
  return run.disturbance > samples::kDisturbedShare;
}

std::string disturbed_reason(Side a, Side b) {
  const RunMeasurements* disturbed = find(a, b, is_disturbed);
  if (disturbed == nullptr) return "";
  if (a.size() == 1 || b.size() == 1) return disturbed->run.folder + " was disturbed";
  constexpr double kFarMore = 0.5;
  const double more = disturbed_share(b) - disturbed_share(a);
  if (std::abs(more) <= kFarMore) return "";
  return more > 0 ? "the runs of B were disturbed and those of A were not"
                  : "the runs of A were disturbed and those of B were not";
}

std::string spread_reason(Side a, Side b, KnownSpread::Basis basis) {
  if (basis == KnownSpread::Basis::Given) return "";
  if (basis == KnownSpread::Basis::Assumed) {
    return "too few runs to know how far two runs of the same thing are apart";
  }
  const RunMeasurements* opener = find(a, b, opens_series);
  if (opener == nullptr) return "";
  return opener->run.folder + " is the first run after a pause, which is often slower";
}

void leave_out_openers(std::span<RunMeasurements> side) {
  const auto others = std::count_if(side.begin(), side.end(),
                                    [](const RunMeasurements& run) { return !run.opens_series; });
  if (others < kEnough) return;
  for (RunMeasurements& run : side) run.run.left_out = run.opens_series;
}

}  // namespace profline::comparison
