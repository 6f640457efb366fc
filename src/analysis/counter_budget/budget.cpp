#include "analysis/counter_budget/budget.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "analysis/timeline/exclusive.h"
#include "analysis/timeline/group_kernels.h"
#include "records/range_use.h"

namespace profline::counter_budget {
namespace {

using std::chrono::nanoseconds;

// Measured with ncu 2025.3.1 on an H200 (2026-11-18, eager engine, 18 passes: 0.70 s per launch):
// ncu's start and connection, a replay with what it saves and restores, the overhead on each launch
// of the program, and reading a launch from the report for the tables.
constexpr std::chrono::milliseconds kStart{1500};
constexpr std::chrono::milliseconds kReplay{36};
constexpr std::chrono::milliseconds kLaunch{50};
constexpr std::chrono::microseconds kLook{100};
constexpr std::chrono::milliseconds kTables{2500};
constexpr std::chrono::milliseconds kRow{12};

nanoseconds counting(std::uint32_t passes) {
  return kReplay * static_cast<std::int64_t>(passes) + kLaunch;
}

nanoseconds per_launch(std::uint32_t passes) {
  return counting(passes) + kRow;
}

/// The kernels in a stretch of launches that slides over all of them.
class Stretch {
 public:
  explicit Stretch(const Census& census) : census_(census), there_(census.kernels.size()) {}

  void take(std::size_t launch) {
    const std::uint32_t kernel = census_.launches[launch];
    if (there_[kernel]++ > 0) return;
    covered_ns_ += census_.kernels[kernel].exclusive_ns;
    ++kernels_;
  }
  void drop(std::size_t launch) {
    const std::uint32_t kernel = census_.launches[launch];
    if (--there_[kernel] > 0) return;
    covered_ns_ -= census_.kernels[kernel].exclusive_ns;
    --kernels_;
  }
  std::int64_t covered_ns() const { return covered_ns_; }
  std::size_t kernels() const { return kernels_; }

 private:
  const Census& census_;
  std::vector<std::size_t> there_;
  std::int64_t covered_ns_ = 0;
  std::size_t kernels_ = 0;
};

/// The most that this many launches in a row cover.
std::int64_t most_covered(const Census& census, std::size_t count) {
  Stretch stretch(census);
  std::int64_t most_ns = 0;
  for (std::size_t end = 0; end < census.launches.size(); ++end) {
    stretch.take(end);
    if (end >= count) stretch.drop(end - count);
    most_ns = std::max(most_ns, stretch.covered_ns());
  }
  return most_ns;
}

struct Found {
  std::size_t first = 0;
  std::size_t count = 0;
  std::size_t kernels = 0;
  std::int64_t covered_ns = 0;
};

/// The shortest stretch that covers this much; of several, the middle one.
Found shortest(const Census& census, std::int64_t enough_ns) {
  Stretch stretch(census);
  std::vector<Found> best;
  std::size_t first = 0;
  for (std::size_t end = 0; end < census.launches.size(); ++end) {
    stretch.take(end);
    while (stretch.covered_ns() >= enough_ns && first <= end) {
      const Found found{first, end - first + 1, stretch.kernels(), stretch.covered_ns()};
      if (best.empty() || found.count < best.front().count) best.assign(1, found);
      if (found.count == best.front().count && found.first != best.back().first) {
        best.push_back(found);
      }
      stretch.drop(first++);
    }
  }
  return best.empty() ? Found() : best[best.size() / 2];
}

/// Launches in the order in which the host made them, then in the order in which they ran.
std::vector<RowIndex> in_launch_order(const Timeline& timeline) {
  std::vector<RowIndex> rows;
  for (RowIndex row = 0; row < timeline.work.size(); ++row) {
    if (timeline.work[row].kind == WorkKind::Kernel) rows.push_back(row);
  }
  const auto when = [&](RowIndex row) {
    const DeviceWork& work = timeline.work[row];
    return work.launch == kNoRow ? work.start_ns : timeline.calls[work.launch].start_ns;
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](RowIndex a, RowIndex b) { return when(a) < when(b); });
  return rows;
}

/// Whether work was launched in a range of the program other than its warm-up.
bool is_measured(const Timeline& timeline, const timeline::Attribution& attribution,
                 const DeviceWork& work) {
  bool in_range = false;
  bool warms_up = false;
  attribution.each(attribution.of_work(work), [&](RowIndex range) {
    in_range = true;
    warms_up = warms_up || timeline.names.text(timeline.ranges[range].name) == kWarmUpRange;
  });
  return in_range && !warms_up;
}

/// Adds the exclusive time of what is measured; of everything if the program opens no ranges.
void add_times(const Timeline& timeline, const timeline::Attribution& attribution,
               const timeline::KernelUses& uses, Census& census) {
  const std::vector<timeline::ExclusiveTime> times = timeline::exclusive_times(timeline);
  const auto add = [&](bool only_measured) {
    for (RowIndex row = 0; row < timeline.work.size(); ++row) {
      const DeviceWork& work = timeline.work[row];
      if (uses.row_of[row] == kNoRow) continue;
      if (only_measured && !is_measured(timeline, attribution, work)) continue;
      // Captures without streams have no exclusive times.
      census.kernels[uses.row_of[row]].exclusive_ns +=
          uses.exclusive_ns > 0 ? times[row].exclusive_ns() : work.duration_ns();
    }
  };
  add(true);
  if (census.exclusive_ns() == 0) add(false);
}

/// By range, in the order in which they opened: its number among the instances of the gate, nested
/// ones with the one around them; kNoRow: not one.
std::vector<RowIndex> number_instances(const Timeline& timeline, std::string_view gate) {
  std::vector<RowIndex> rows;
  for (RowIndex row = 0; row < timeline.ranges.size(); ++row) {
    if (timeline.names.text(timeline.ranges[row].name) == gate) rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(), [&](RowIndex a, RowIndex b) {
    return timeline.ranges[a].start_ns < timeline.ranges[b].start_ns;
  });
  std::vector<RowIndex> number(timeline.ranges.size(), kNoRow);
  std::map<RowIndex, std::pair<std::int64_t, RowIndex>> open;  // by thread: its end and number
  RowIndex next = 0;
  for (const RowIndex row : rows) {
    const Range& range = timeline.ranges[row];
    const auto around = open.find(range.thread);
    if (around != open.end() && range.end_ns <= around->second.first) {
      number[row] = around->second.second;
      continue;
    }
    number[row] = next++;
    open[range.thread] = {range.end_ns, number[row]};
  }
  return number;
}

}  // namespace

std::uint64_t gate_instances(const Timeline& timeline, std::string_view gate) {
  std::uint64_t count = 0;
  for (const RowIndex number : number_instances(timeline, gate)) {
    if (number != kNoRow) count = std::max<std::uint64_t>(count, number + 1);
  }
  return count;
}

std::int64_t Census::exclusive_ns() const {
  return std::accumulate(
      kernels.begin(), kernels.end(), std::int64_t{0},
      [](std::int64_t sum, const Kernel& kernel) { return sum + kernel.exclusive_ns; });
}

Census take_census(const Timeline& timeline, std::string_view gate,
                   std::optional<std::uint64_t> instances) {
  const timeline::Attribution attribution = timeline::Attribution::of(timeline);
  const timeline::KernelUses uses =
      timeline::group_kernels(timeline, {.shape = timeline::KernelKeys::Shape::GridAndBlock},
                              {.attribution = &attribution});
  Census census;
  for (const KernelUse& row : uses.rows) {
    census.kernels.push_back({row.name, row.printed_name, row.grid, row.block, 0});
  }
  add_times(timeline, attribution, uses, census);
  const std::vector<RowIndex> number = number_instances(timeline, gate);
  const std::uint64_t end = instances.value_or(kNoRow);
  const auto is_inside = [&](const DeviceWork& work) {
    if (gate.empty()) return true;
    bool inside = false;
    attribution.each(attribution.of_work(work), [&](RowIndex range) {
      inside = inside || (number[range] != kNoRow && number[range] < end);
    });
    return inside;
  };
  for (const RowIndex row : in_launch_order(timeline)) {
    ++census.all_launches;
    if (is_inside(timeline.work[row])) census.launches.push_back(uses.row_of[row]);
  }
  return census;
}

double Choice::coverage() const {
  return all_ns > 0 ? static_cast<double>(covered_ns) / static_cast<double>(all_ns) : 0;
}

nanoseconds capture_time(const Costs& costs, std::uint32_t passes, std::uint64_t launches) {
  return costs.program + kLook * static_cast<std::int64_t>(costs.program_launches) + kStart +
         counting(passes) * static_cast<std::int64_t>(launches);
}

nanoseconds expected_time(const Costs& costs, std::uint32_t passes, std::uint64_t launches) {
  return capture_time(costs, passes, launches) + kTables +
         kRow * static_cast<std::int64_t>(launches);
}

std::uint64_t affordable(const Costs& costs, std::uint32_t passes, nanoseconds budget) {
  const nanoseconds left = budget - expected_time(costs, passes, 0);
  if (left.count() <= 0) return 0;
  return static_cast<std::uint64_t>(left / per_launch(passes));
}

std::optional<Choice> choose(const Census& census, std::span<const Collection> collections,
                             const Costs& costs, nanoseconds budget, std::uint64_t at_most) {
  // What is left for fewer launches, and what more must be gained by collecting less.
  constexpr double kAlmost = 0.005;
  constexpr double kClearly = 0.02;
  std::optional<Choice> best;
  const std::int64_t all_ns = census.exclusive_ns();
  const std::int64_t reachable_ns = most_covered(census, census.launches.size());
  for (std::size_t i = 0; i < collections.size(); ++i) {
    const std::uint32_t passes = collections[i].passes;
    const std::uint64_t most = std::min(affordable(costs, passes, budget), at_most);
    if (most == 0 || census.launches.empty() || all_ns <= 0) continue;
    const std::size_t count =
        static_cast<std::size_t>(std::min<std::uint64_t>(most, census.launches.size()));
    const auto almost_ns = static_cast<std::int64_t>(kAlmost * static_cast<double>(all_ns));
    const Found found =
        shortest(census, std::max<std::int64_t>(most_covered(census, count) - almost_ns, 1));
    Choice choice{.collection = i,
                  .skip = found.first,
                  .count = found.count,
                  .kernels = found.kernels,
                  .covered_ns = found.covered_ns,
                  .reachable_ns = reachable_ns,
                  .all_ns = all_ns,
                  .time = expected_time(costs, passes, found.count)};
    if (choice.count == 0) continue;
    if (!best || choice.coverage() > best->coverage() + kClearly) best = choice;
  }
  return best;
}

std::uint32_t expected_passes(const std::optional<std::string>& set,
                              std::span<const std::string> sections, std::size_t metrics) {
  struct Weight {
    std::string_view name;
    std::uint32_t passes;
  };
  // Counted on an H200 with ncu 2025.3.1: 18 for ncu.default, 27 for ncu.h200.
  constexpr std::array kSets = {Weight{"full", 40}, Weight{"detailed", 22}, Weight{"roofline", 9},
                                Weight{"basic", 8}};
  constexpr std::array kSections = {Weight{"SpeedOfLight", 1},
                                    Weight{"MemoryWorkloadAnalysis", 6},
                                    Weight{"Occupancy", 1},
                                    Weight{"SchedulerStats", 1},
                                    Weight{"ComputeWorkloadAnalysis", 3},
                                    Weight{"WarpStateStats", 5},
                                    Weight{"LaunchStats", 1},
                                    Weight{"SourceCounters", 4}};
  constexpr std::uint32_t kUnknown = 3;
  std::uint32_t passes = metrics > 0 || (!set && sections.empty()) ? 1 : 0;
  const auto weight = [](const auto& weights, std::string_view name) {
    const auto found = std::find_if(weights.begin(), weights.end(),
                                    [&](const Weight& known) { return known.name == name; });
    return found == weights.end() ? kUnknown : found->passes;
  };
  if (set) passes = weight(kSets, *set);
  for (const std::string& section : sections) passes += weight(kSections, section);
  constexpr std::size_t kMetricsInAPass = 4;
  if (!set) passes += static_cast<std::uint32_t>(metrics / kMetricsInAPass);
  return std::max<std::uint32_t>(passes, 1);
}

}  // namespace profline::counter_budget
