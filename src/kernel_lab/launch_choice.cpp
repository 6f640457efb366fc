#include <algorithm>
#include <numeric>
#include <span>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "analysis/counter_budget/budget.h"
#include "base/figures.h"
#include "kernel_lab/capture_command.h"
#include "kernel_lab/launches.h"

namespace profline::kernel_lab {
namespace {

std::uint32_t narrow(std::size_t value) {
  return static_cast<std::uint32_t>(value);
}

/// The launches inside the window, and how many precede it.
struct Candidates {
  std::span<const Launch> launches;
  std::uint32_t before = 0;
};

Result<Candidates> in_window(const LaunchRequest& request, const std::vector<Launch>& launches) {
  if (!request.window) return Candidates{launches, 0};
  const std::size_t first = request.window->first - 1;
  if (first >= launches.size()) {
    return Error(ErrorKind::Config,
                 fmt::format("launches {} to {} were requested, but there are only {}",
                             request.window->first, request.window->last, launches.size()));
  }
  const std::size_t count = std::min<std::size_t>(request.window->last, launches.size()) - first;
  return Candidates{std::span(launches).subspan(first, count), narrow(first)};
}

std::string together(const LaunchChoice& choice, std::size_t all) {
  const std::uint32_t first = choice.skip + 1;
  if (choice.count == 1) return fmt::format("launch {} of {}", first, all);
  return fmt::format("launches {} to {} of {}", first, choice.skip + choice.count, all);
}

LaunchChoice after_skip(const LaunchRequest& request, const Candidates& from, std::size_t all) {
  LaunchChoice choice;
  choice.count = std::min(request.count, narrow(from.launches.size()));
  const std::uint32_t latest = narrow(from.launches.size()) - choice.count;
  const std::uint32_t skip = request.skip.value_or(0);
  choice.skip = from.before + std::min(skip, latest);
  choice.expected = choice.count;
  choice.reason = together(choice, all);
  if (skip > latest) choice.reason += fmt::format("; a skip of {} goes past the end", skip);
  if (choice.count < request.count)
    choice.reason += fmt::format("; {} were requested", request.count);
  return choice;
}

/// A launch of median duration and its neighbours.
LaunchChoice around_median(const LaunchRequest& request, const Candidates& from, std::size_t all) {
  std::vector<std::size_t> order(from.launches.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>((order.size() - 1) / 2);
  const auto sooner = [&](std::size_t a, std::size_t b) {
    const std::int64_t time_a = from.launches[a].duration_ns;
    const std::int64_t time_b = from.launches[b].duration_ns;
    return time_a != time_b ? time_a < time_b : a < b;
  };
  std::nth_element(order.begin(), middle, order.end(), sooner);
  LaunchChoice choice;
  choice.count = std::min(request.count, narrow(from.launches.size()));
  const std::uint32_t latest = narrow(from.launches.size()) - choice.count;
  const std::uint32_t half = (choice.count - 1) / 2;
  const std::uint32_t at = narrow(*middle);
  choice.skip = from.before + std::min(at - std::min(at, half), latest);
  choice.expected = choice.count;
  const std::int64_t median = from.launches[*middle].duration_ns;
  choice.reason = together(choice, all);
  if (median > 0) {
    choice.reason +=
        fmt::format(", of median duration ({})", human_duration(std::chrono::nanoseconds(median)));
  }
  if (choice.count < request.count)
    choice.reason += fmt::format("; {} were requested", request.count);
  return choice;
}

/// The launches, over all functions, that have one of these numbers.
std::uint64_t selected(const std::vector<Launch>& launches,
                       const std::vector<std::uint32_t>& invocations) {
  return static_cast<std::uint64_t>(
      std::count_if(launches.begin(), launches.end(), [&](const Launch& launch) {
        return std::binary_search(invocations.begin(), invocations.end(), launch.invocation);
      }));
}

LaunchChoice spread(const LaunchRequest& request, const Candidates& from,
                    const KernelLaunches& there) {
  LaunchChoice choice;
  const std::size_t available = from.launches.size();
  const std::size_t count = std::min<std::size_t>(request.count, available);
  for (std::size_t i = 0; i < count; ++i) {
    // The middle of each of `count` equal parts.
    choice.invocations.push_back(from.launches[(2 * i + 1) * available / (2 * count)].invocation);
  }
  std::vector<std::uint32_t>& numbers = choice.invocations;
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  choice.count = narrow(numbers.size());
  choice.expected = selected(there.launches, numbers);
  choice.reason = fmt::format("{} {} of {}", numbers.size() == 1 ? "launch" : "launches",
                              fmt::join(numbers, ", "), there.launches.size());
  if (there.functions.size() > 1) {
    choice.reason += fmt::format("; of each of the {} kernels that the expression matches",
                                 there.functions.size());
  }
  return choice;
}

// Reading a report for one table, measured with ncu 2025.3 on an H200.
constexpr std::chrono::milliseconds kTable{600};

/// Why a kernel cannot share a pass with others; empty: it can.
std::string obstacle(const ChosenKernel& kernel) {
  if (kernel.places.empty()) return "its launches were not counted";
  if (!kernel.choice.invocations.empty()) return "its launches are spread";
  return {};
}

/// A stretch of consecutive launches among those that match any of the kernels.
struct Stretch {
  std::size_t first = 0;
  std::size_t size = 0;
};

void keep_shortest(const Stretch& found, std::vector<Stretch>& best) {
  if (!best.empty() && found.size > best.front().size) return;
  if (!best.empty() && found.size < best.front().size) best.clear();
  best.push_back(found);
}

/// The kernels of which a stretch has too few launches.
class Tally {
 public:
  Tally(std::span<const ChosenKernel> kernels, std::span<const std::size_t> members)
      : unmet_(members.size()) {
    missing_.reserve(members.size());
    for (const std::size_t member : members) missing_.push_back(kernels[member].choice.count);
  }

  bool is_met() const { return unmet_ == 0; }
  /// Adds or removes one launch of each of these.
  void take(std::span<const std::size_t> owners) {
    for (const std::size_t owner : owners) unmet_ -= --missing_[owner] == 0 ? 1U : 0U;
  }
  void drop(std::span<const std::size_t> owners) {
    for (const std::size_t owner : owners) unmet_ += missing_[owner]++ == 0 ? 1U : 0U;
  }

 private:
  std::vector<std::int64_t> missing_;  // below 0: more than requested
  std::size_t unmet_;
};

/// The launches of some kernels in program order.
class LaunchOrder {
 public:
  LaunchOrder(std::span<const ChosenKernel> kernels, std::span<const std::size_t> members)
      : kernels_(kernels), members_(members) {
    for (const std::size_t member : members) {
      places_.insert(places_.end(), kernels[member].places.begin(), kernels[member].places.end());
    }
    std::sort(places_.begin(), places_.end());
    places_.erase(std::unique(places_.begin(), places_.end()), places_.end());
    owners_.resize(places_.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (const std::size_t place : kernels[members[i]].places) {
        owners_[index_of(place)].push_back(i);
      }
    }
  }

  std::size_t size() const { return places_.size(); }

  /// The shortest stretch with as many launches of each kernel as requested; of several, the middle
  /// one. If specific launches were requested, the stretch that contains them all.
  Stretch shortest() const {
    const bool is_free = std::all_of(members_.begin(), members_.end(),
                                     [&](std::size_t member) { return kernels_[member].is_free; });
    return is_free ? shortest_of_any() : around_the_chosen();
  }

 private:
  std::size_t index_of(std::size_t place) const {
    const auto found = std::lower_bound(places_.begin(), places_.end(), place);
    return static_cast<std::size_t>(found - places_.begin());
  }

  Stretch around_the_chosen() const {
    std::size_t first = places_.size();
    std::size_t last = 0;
    for (const std::size_t member : members_) {
      const ChosenKernel& kernel = kernels_[member];
      const std::size_t end = kernel.choice.skip + kernel.choice.count;
      first = std::min(first, index_of(kernel.places.at(kernel.choice.skip)));
      last = std::max(last, index_of(kernel.places.at(end - 1)));
    }
    return {first, last - first + 1};
  }

  Stretch shortest_of_any() const {
    Tally tally(kernels_, members_);
    std::vector<Stretch> best;
    std::size_t first = 0;
    for (std::size_t end = 0; end < places_.size(); ++end) {
      tally.take(owners_[end]);
      for (; tally.is_met(); ++first) {
        keep_shortest({first, end - first + 1}, best);
        tally.drop(owners_[first]);
      }
    }
    return best.empty() ? Stretch{0, places_.size()} : best[best.size() / 2];
  }

  std::span<const ChosenKernel> kernels_;
  std::span<const std::size_t> members_;
  std::vector<std::size_t> places_;
  std::vector<std::vector<std::size_t>> owners_;  // of each place, in members_
};

/// Profiling more launches than this costs more than the program run that merging saves.
std::size_t most_together(std::span<const ChosenKernel> kernels,
                          std::span<const std::size_t> members) {
  std::size_t requested = 0;
  for (const std::size_t member : members) requested += kernels[member].choice.count;
  return 20 + 4 * requested;
}

Pass merged_pass(std::span<const ChosenKernel> kernels, std::vector<std::size_t> members,
                 const Stretch& stretch, std::size_t all) {
  Pass pass;
  std::vector<WantedKernel> wanted;
  wanted.reserve(members.size());
  for (const std::size_t member : members) wanted.push_back(kernels[member].kernel);
  pass.choice.skip = static_cast<std::uint32_t>(stretch.first);
  pass.choice.count = static_cast<std::uint32_t>(stretch.size);
  pass.choice.expected = stretch.size;
  pass.choice.reason =
      fmt::format("among launches {} to {} of the {} of these {} kernels", stretch.first + 1,
                  stretch.first + stretch.size, all, members.size());
  pass.regex = any_of(wanted);
  pass.kernels = std::move(members);
  pass.folder = kMergedFolder;
  return pass;
}

}  // namespace

LaunchChoice choose_uncounted(const LaunchRequest& request) {
  LaunchChoice choice;
  choice.skip = request.skip.value_or(0);
  choice.count = request.count;
  if (request.window) {
    choice.skip += request.window->first - 1;
    choice.count = std::min(request.count, request.window->last - request.window->first + 1);
  }
  choice.reason = fmt::format("{} after {}, not counted before", choice.count, choice.skip);
  return choice;
}

Result<LaunchChoice> choose_launches(const LaunchRequest& request, const KernelLaunches& there) {
  if (there.launches.empty()) {
    return Error(ErrorKind::NotFound, "no launch to choose from");
  }
  const Candidates from = PL_TRY(in_window(request, there.launches));
  if (request.is_spread) return spread(request, from, there);
  const std::size_t all = there.launches.size();
  return request.skip ? after_skip(request, from, all) : around_median(request, from, all);
}

Pass own_pass(std::span<const ChosenKernel> kernels, std::size_t index) {
  const ChosenKernel& kernel = kernels[index];
  return {{index}, kernel.kernel.regex, kernel.choice, kernel.folder};
}

Passes plan_passes(std::span<const ChosenKernel> kernels, bool merge) {
  Passes plan;
  std::vector<std::size_t> together;
  for (std::size_t i = 0; merge && i < kernels.size(); ++i) {
    const std::string why_not = obstacle(kernels[i]);
    if (why_not.empty()) {
      together.push_back(i);
    } else {
      plan.not_merged.push_back(kernels[i].folder + " has a pass of its own: " + why_not);
    }
  }
  if (together.size() < 2) together.clear();
  if (!together.empty()) {
    const LaunchOrder order(kernels, together);
    const Stretch stretch = order.shortest();
    if (stretch.size > most_together(kernels, together)) {
      plan.not_merged.push_back(
          fmt::format("each kernel has a pass of its own: they are launched too far apart, {} "
                      "launches would be profiled to have them all",
                      stretch.size));
      together.clear();
    } else {
      plan.passes.push_back(merged_pass(kernels, together, stretch, order.size()));
    }
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const bool is_merged = std::find(together.begin(), together.end(), i) != together.end();
    if (!is_merged) plan.passes.push_back(own_pass(kernels, i));
  }
  return plan;
}

std::chrono::nanoseconds estimate(std::span<const Pass> passes, const Collected& collected,
                                  const CountedProgram& program) {
  std::chrono::nanoseconds total{0};
  for (const Pass& pass : passes) {
    const std::uint64_t launches = pass.choice.expected.value_or(pass.choice.count);
    const auto tables = static_cast<std::int64_t>(collected.tables * pass.kernels.size());
    total += counter_budget::capture_time({program.time, program.launches}, collected.replays,
                                          launches) +
             kTable * tables;
  }
  return total;
}

double BudgetedKernels::coverage() const {
  return all_ns > 0 ? static_cast<double>(kept_ns) / static_cast<double>(all_ns) : 0;
}

BudgetedKernels fit_budget(std::span<const ChosenKernel> kernels, bool merge,
                           const Collected& collected, const CountedProgram& program,
                           std::chrono::nanoseconds budget) {
  BudgetedKernels fitting;
  fitting.is_kept.assign(kernels.size(), false);
  std::vector<std::size_t> order(kernels.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return kernels[a].total_ns > kernels[b].total_ns;
  });
  std::vector<ChosenKernel> kept;
  for (const std::size_t index : order) {
    fitting.all_ns += kernels[index].total_ns;
    kept.push_back(kernels[index]);
    const auto time = estimate(plan_passes(kept, merge).passes, collected, program);
    if (time > budget) {
      kept.pop_back();
      continue;
    }
    fitting.is_kept[index] = true;
    fitting.kept_ns += kernels[index].total_ns;
    fitting.time = time;
  }
  return fitting;
}

}  // namespace profline::kernel_lab
