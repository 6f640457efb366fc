#include "kernel_lab/passes.h"

#include <algorithm>

#include <fmt/core.h>

#include "kernel_lab/capture_command.h"

namespace profline::kernel_lab {
namespace {

// A guess to plan an afternoon by, not a measurement: ncu's start and connection, some forty
// replays of a launch with the roofline's counters, reading a report for one table.
constexpr std::chrono::milliseconds kStart{1500};
constexpr std::chrono::milliseconds kReplays{400};
constexpr std::chrono::milliseconds kTable{500};

Pass own_pass(std::span<const ChosenKernel> kernels, std::size_t index) {
  const ChosenKernel& kernel = kernels[index];
  return {{index}, kernel.kernel.regex, kernel.choice, kernel.folder};
}

/// Why ncu cannot be asked for these launches together with others'; empty: it can.
std::string obstacle(const ChosenKernel& kernel) {
  if (kernel.invocations.empty()) return "its launches were not counted";
  if (!kernel_id(kernel.kernel.regex, kernel.invocations)) {
    return "its expression has a colon that ncu would take for its own, as in [[:alpha:]] or (?i:";
  }
  return {};
}

Pass merged_pass(std::span<const ChosenKernel> kernels, std::vector<std::size_t> members) {
  Pass pass;
  std::vector<WantedKernel> wanted;
  std::uint64_t expected = 0;
  for (const std::size_t member : members) {
    const ChosenKernel& kernel = kernels[member];
    wanted.push_back(kernel.kernel);
    expected += kernel.choice.expected.value_or(0);
    pass.choice.invocations.insert(pass.choice.invocations.end(), kernel.invocations.begin(),
                                   kernel.invocations.end());
  }
  std::vector<std::uint32_t>& numbers = pass.choice.invocations;
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  pass.choice.expected = expected;
  pass.choice.reason = "together";
  pass.regex = any_of(wanted);
  pass.kernels = std::move(members);
  pass.folder = kMergedFolder;
  return pass;
}

}  // namespace

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
  if (!together.empty()) plan.passes.push_back(merged_pass(kernels, together));
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const bool is_merged = std::find(together.begin(), together.end(), i) != together.end();
    if (!is_merged) plan.passes.push_back(own_pass(kernels, i));
  }
  return plan;
}

std::vector<std::uint32_t> invocations_of(const LaunchChoice& choice, const KernelLaunches& there) {
  if (!choice.invocations.empty()) return choice.invocations;
  std::vector<std::uint32_t> numbers;
  const std::size_t end = std::min<std::size_t>(there.launches.size(), choice.skip + choice.count);
  for (std::size_t i = choice.skip; i < end; ++i) {
    numbers.push_back(there.launches[i].invocation);
  }
  return numbers;
}

std::chrono::nanoseconds estimate(std::span<const Pass> passes, std::size_t tables_a_kernel,
                                  std::chrono::nanoseconds program) {
  std::chrono::nanoseconds total{0};
  for (const Pass& pass : passes) {
    const auto launches =
        static_cast<std::int64_t>(pass.choice.expected.value_or(pass.choice.count));
    const auto tables = static_cast<std::int64_t>(tables_a_kernel * pass.kernels.size());
    total += program + kStart + kReplays * launches + kTable * tables;
  }
  return total;
}

}  // namespace profline::kernel_lab
