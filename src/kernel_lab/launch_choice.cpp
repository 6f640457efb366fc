#include "kernel_lab/launch_choice.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <span>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "base/figures.h"

namespace profline::kernel_lab {
namespace {

std::uint32_t narrow(std::size_t value) {
  return static_cast<std::uint32_t>(value);
}

/// Launches that the window leaves, and how many were before it.
struct Candidates {
  std::span<const Launch> launches;
  std::uint32_t before = 0;
};

Result<Candidates> in_window(const LaunchWish& wish, const std::vector<Launch>& launches) {
  if (!wish.window) return Candidates{launches, 0};
  const std::size_t first = wish.window->first - 1;
  if (first >= launches.size()) {
    return Error(ErrorKind::Config,
                 fmt::format("launches {} to {} are asked for, and there are {}",
                             wish.window->first, wish.window->last, launches.size()));
  }
  const std::size_t count = std::min<std::size_t>(wish.window->last, launches.size()) - first;
  return Candidates{std::span(launches).subspan(first, count), narrow(first)};
}

std::string together(const LaunchChoice& choice, std::size_t all) {
  const std::uint32_t first = choice.skip + 1;
  if (choice.count == 1) return fmt::format("launch {} of {}", first, all);
  return fmt::format("launches {} to {} of {}", first, choice.skip + choice.count, all);
}

LaunchChoice after_skip(const LaunchWish& wish, const Candidates& from, std::size_t all) {
  LaunchChoice choice;
  choice.count = std::min(wish.count, narrow(from.launches.size()));
  const std::uint32_t latest = narrow(from.launches.size()) - choice.count;
  const std::uint32_t skip = wish.skip.value_or(0);
  choice.skip = from.before + std::min(skip, latest);
  choice.expected = choice.count;
  choice.reason = together(choice, all);
  if (skip > latest) choice.reason += fmt::format("; a skip of {} goes past the end", skip);
  if (choice.count < wish.count) choice.reason += fmt::format("; {} were wished", wish.count);
  return choice;
}

/// A launch of median duration with its neighbours.
LaunchChoice around_median(const LaunchWish& wish, const Candidates& from, std::size_t all) {
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
  choice.count = std::min(wish.count, narrow(from.launches.size()));
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
  if (choice.count < wish.count) choice.reason += fmt::format("; {} were wished", wish.count);
  return choice;
}

/// Launches of all functions that have one of these numbers.
std::uint64_t selected(const std::vector<Launch>& launches,
                       const std::vector<std::uint32_t>& invocations) {
  return static_cast<std::uint64_t>(
      std::count_if(launches.begin(), launches.end(), [&](const Launch& launch) {
        return std::binary_search(invocations.begin(), invocations.end(), launch.invocation);
      }));
}

LaunchChoice spread(const LaunchWish& wish, const Candidates& from, const KernelLaunches& there) {
  LaunchChoice choice;
  const std::size_t available = from.launches.size();
  const std::size_t count = std::min<std::size_t>(wish.count, available);
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

}  // namespace

Result<LaunchWish::Window> parse_window(const std::string& text) {
  LaunchWish::Window window;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, window.first);
  const bool has_sign =
      first.ec == std::errc() && first.ptr != end && (*first.ptr == ':' || *first.ptr == '-');
  if (has_sign) {
    const auto last = std::from_chars(first.ptr + 1, end, window.last);
    const bool is_whole = last.ec == std::errc() && last.ptr == end;
    if (is_whole && window.first >= 1 && window.last >= window.first) return window;
  }
  return Error(ErrorKind::Config, "--launch-range is '" + text +
                                      "', not FIRST:LAST with launches counted from 1, as in 10:40")
      .with_reason("usage");
}

LaunchChoice choose_uncounted(const LaunchWish& wish) {
  LaunchChoice choice;
  choice.skip = wish.skip.value_or(0);
  choice.count = wish.count;
  if (wish.window) {
    choice.skip += wish.window->first - 1;
    choice.count = std::min(wish.count, wish.window->last - wish.window->first + 1);
  }
  choice.reason = fmt::format("{} after {}, not counted before", choice.count, choice.skip);
  return choice;
}

Result<LaunchChoice> choose_launches(const LaunchWish& wish, const KernelLaunches& there) {
  if (there.launches.empty()) {
    return Error(ErrorKind::NotFound, "no launch to choose from");
  }
  const Candidates from = PL_TRY(in_window(wish, there.launches));
  if (wish.is_spread) return spread(wish, from, there);
  const std::size_t all = there.launches.size();
  return wish.skip ? after_skip(wish, from, all) : around_median(wish, from, all);
}

}  // namespace profline::kernel_lab
