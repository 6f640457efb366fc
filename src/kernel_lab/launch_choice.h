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

/// The launches of a kernel to profile.
struct LaunchRequest {
  /// Launches to skip first. Absent: choose those around the launch of median duration.
  std::optional<std::uint32_t> skip;
  std::uint32_t count = 1;
  /// Spread evenly over all launches instead of consecutive.
  bool is_spread = false;
  /// Only launches in this range, both ends counted from 1.
  struct Window {
    std::uint32_t first = 1;
    std::uint32_t last = 0;

    bool operator==(const Window&) const = default;
  };
  std::optional<Window> window;

  bool operator==(const LaunchRequest&) const = default;
};

/// `3:8` and `3-8`; an Error for anything else.
Result<LaunchRequest::Window> parse_window(const std::string& text);

/// The launches that ncu will profile.
struct LaunchChoice {
  // Consecutive launches, counted among those that match the kernel and the ranges.
  std::uint32_t skip = 0;
  std::uint32_t count = 1;
  /// If not empty, used instead: these launches of the function, counted from 1 over the whole
  /// program.
  std::vector<std::uint32_t> invocations;
  /// The number of launches to profile: `count`, or as many as `invocations` select over all
  /// matching functions. Absent: not counted.
  std::optional<std::uint64_t> expected;
  std::string reason;  ///< in words: `launch 6 of 12, of median duration`

  bool operator==(const LaunchChoice&) const = default;
};

/// The choice if launches were not counted: as requested, with skip 0 if it was not given.
LaunchChoice choose_uncounted(const LaunchRequest& request);

/// The request, adapted to the existing launches. An Error without launches.
Result<LaunchChoice> choose_launches(const LaunchRequest& request, const KernelLaunches& there);

/// A kernel with its chosen launches.
struct ChosenKernel {
  std::size_t rank = 1;  ///< from 1
  WantedKernel kernel;
  std::string folder;
  LaunchChoice choice;
  /// The places of its launches inside the ranges, among all launches of the program; empty: not
  /// counted.
  std::vector<std::size_t> places;
  bool is_free = false;                   ///< any other launch would do as well
  std::optional<std::uint64_t> launches;  ///< that match; absent: not counted
};

/// One run of the program under ncu.
struct Pass {
  std::vector<std::size_t> kernels;  ///< indices in the given list
  std::string regex;
  LaunchChoice choice;
  std::string folder;

  bool is_merged() const { return kernels.size() > 1; }
};

/// One pass per kernel; with `merge` one pass for all kernels that are launched close together: ncu
/// takes one expression for several kernels and one stretch of their launches. `not_merged` says
/// why others are not included. (ncu could also name single launches, as `::regex:a|b:^(2|5)$`, but
/// it counts those of library kernels under the name of the preceding kernel, as observed with
/// 2025.3.)
struct Passes {
  std::vector<Pass> passes;
  std::vector<std::string> not_merged;
};
Passes plan_passes(std::span<const ChosenKernel> kernels, bool merge);

/// A pass for a single kernel of the list.
Pass own_pass(std::span<const ChosenKernel> kernels, std::size_t index);

/// The program as measured while its launches were counted.
struct CountedProgram {
  std::chrono::nanoseconds time{0};
  std::size_t launches = 0;  ///< of all kernels
};

/// An estimate of how long the passes will take: one run of the program each, the start of ncu and
/// its overhead on every launch, the replays of profiled launches, and the tables.
std::chrono::nanoseconds estimate(std::span<const Pass> passes, std::size_t tables_a_kernel,
                                  const CountedProgram& program);

inline constexpr const char* kMergedFolder = "merged";

}  // namespace profline::kernel_lab
