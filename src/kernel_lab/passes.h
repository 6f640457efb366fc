#pragma once

#include <chrono>
#include <cstddef>
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
  /// The launches as numbers of the function's invocations; empty: nobody counted.
  std::vector<std::uint32_t> invocations;
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

/// A pass a kernel; with `merge` one pass for all kernels whose launches ncu's filter can name
/// together, and `not_merged` says why others are not in it.
struct Passes {
  std::vector<Pass> passes;
  std::vector<std::string> not_merged;
};
Passes plan_passes(std::span<const ChosenKernel> kernels, bool merge);

/// The launches of a choice as numbers of invocations.
std::vector<std::uint32_t> invocations_of(const LaunchChoice& choice, const KernelLaunches& there);

/// How long the passes will take, about: the program once each, ncu's start, the replays of the
/// launches, the tables. `program` is what it took while its launches were counted.
std::chrono::nanoseconds estimate(std::span<const Pass> passes, std::size_t tables_a_kernel,
                                  std::chrono::nanoseconds program);

inline constexpr const char* kMergedFolder = "merged";

}  // namespace profline::kernel_lab
