#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernel_lab/launch_census.h"

namespace profline::kernel_lab {

/// Which launches of a kernel are wanted.
struct LaunchWish {
  /// Launches to leave out first. None: those around the launch of median duration.
  std::optional<std::uint32_t> skip;
  std::uint32_t count = 1;
  /// Spread evenly over all launches instead of one after another.
  bool is_spread = false;
  /// Only launches from this one to that one, both counted from 1.
  struct Window {
    std::uint32_t first = 1;
    std::uint32_t last = 0;

    bool operator==(const Window&) const = default;
  };
  std::optional<Window> window;

  bool operator==(const LaunchWish&) const = default;
};

/// `3:8` and `3-8`; an Error for anything else.
Result<LaunchWish::Window> parse_window(const std::string& text);

/// Which launches ncu is told to profile.
struct LaunchChoice {
  // One after another, counted among those that match the kernel and the ranges.
  std::uint32_t skip = 0;
  std::uint32_t count = 1;
  /// When not empty, instead: these launches of the function, counted from 1 over the whole
  /// program.
  std::vector<std::uint32_t> invocations;
  /// Launches to be profiled: `count`, or as many as `invocations` select of all functions that
  /// match. None: nobody counted.
  std::optional<std::uint64_t> expected;
  std::string reason;  ///< in words: `launch 6 of 12, of median duration`

  bool operator==(const LaunchChoice&) const = default;
};

/// Without a census as it was wished, with skip 0 where that was left open.
LaunchChoice choose_uncounted(const LaunchWish& wish);

/// The wish, fitted to the launches there are. An Error when there are none.
Result<LaunchChoice> choose_launches(const LaunchWish& wish, const KernelLaunches& there);

}  // namespace profline::kernel_lab
