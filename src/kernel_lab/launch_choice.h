#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
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

/// A kernel with the launches that were chosen of it.
struct ChosenKernel {
  std::size_t rank = 1;  ///< from 1
  WantedKernel kernel;
  std::string folder;
  LaunchChoice choice;
  /// Its launches inside the ranges, among all of the program; empty: nobody counted.
  std::vector<std::size_t> places;
  bool is_free = false;                   ///< any launch will do as well as the chosen one
  std::optional<std::uint64_t> launches;  ///< that match; none: nobody counted
};

/// One run of the program under ncu.
struct Pass {
  std::vector<std::size_t> kernels;  ///< in the list that was given
  std::string regex;
  LaunchChoice choice;
  std::string folder;

  bool is_merged() const { return kernels.size() > 1; }
};

/// A pass a kernel; with `merge` one pass for all kernels that are launched close together: ncu
/// takes an expression for several kernels and one stretch of their launches. `not_merged` says why
/// others are not in it. (ncu could name single launches too, as `::regex:a|b:^(2|5)$`, but counts
/// those of kernels from libraries under the name of the kernel before, seen with 2025.3.)
struct Passes {
  std::vector<Pass> passes;
  std::vector<std::string> not_merged;
};
Passes plan_passes(std::span<const ChosenKernel> kernels, bool merge);

/// For one kernel of the list alone.
Pass own_pass(std::span<const ChosenKernel> kernels, std::size_t index);

/// A program while its launches were counted.
struct CountedProgram {
  std::chrono::nanoseconds time{0};
  std::size_t launches = 0;  ///< of all kernels
};

/// How long the passes will take, about: the program once each, ncu's start and its look at every
/// launch, the replays of those that are profiled, the tables.
std::chrono::nanoseconds estimate(std::span<const Pass> passes, std::size_t tables_a_kernel,
                                  const CountedProgram& program);

inline constexpr const char* kMergedFolder = "merged";

}  // namespace profline::kernel_lab
