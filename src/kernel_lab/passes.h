#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernel_lab/kernel_list.h"
#include "kernel_lab/launch_choice.h"

namespace profline::kernel_lab {

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
