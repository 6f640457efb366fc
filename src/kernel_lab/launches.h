#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/node.h"
#include "records/counters.h"
#include "records/timeline.h"
#include "schema/field.h"

/// One ncu capture per kernel: which kernels, which of their launches, with which command, into
/// which files (`profline kernels profile`).
namespace profline::kernel_lab {

/// A kernel to be profiled.
struct WantedKernel {
  std::string name;
  std::string regex;  ///< searched for in the name, including template arguments
  std::string description;

  bool operator==(const WantedKernel&) const = default;
};
constexpr auto fields(std::type_identity<WantedKernel>) {
  using schema::field;
  return field_list(field("name", &WantedKernel::name, "the kernel's name").required(),
                    field("regex", &WantedKernel::regex, "what its name must match").required(),
                    field("description", &WantedKernel::description, "for people"));
}

/// The name of a kernel that was given only as a regular expression.
inline constexpr std::string_view kUnnamed = "user_provided";

/// The kernels of a file in the format of `profline kernels top`, at most the first `at_most`. An
/// Error if the list is empty, or if an entry matches everything; it calls the file `shown_as`.
Result<std::vector<WantedKernel>> load_kernel_list(const std::filesystem::path& file,
                                                   const std::string& shown_as,
                                                   std::optional<std::size_t> at_most);
Result<std::vector<WantedKernel>> read_kernel_list(const Node& tree,
                                                   std::optional<std::size_t> at_most);

/// `kernel_0001_<md5 of the name>`: the folder of the kernel with this rank (from 1) among `count`.
std::string kernel_folder(std::size_t rank, std::size_t count, std::string_view name);

/// A launch that a counting pass recorded, in program order.
struct SeenLaunch {
  std::uint32_t name = 0;  ///< in SeenLaunches::names
  std::int64_t duration_ns = 0;
  bool is_inside = true;  ///< one of the requested NVTX ranges was open
  /// Its part of the time in which the device was busy; the duration if that is not known.
  std::int64_t exclusive_ns = 0;
};

/// Everything that a counting pass recorded.
struct SeenLaunches {
  std::vector<std::string> names;  ///< distinct
  std::vector<SeenLaunch> launches;
  std::string source;                                 ///< `nsys 2025.3.1`, for messages
  std::optional<std::chrono::nanoseconds> program{};  ///< duration of the program under it
  /// Ranges that cannot be checked here because they use ncu's own grammar; is_inside is then true.
  std::vector<std::string> ignored_ranges{};
};

/// From an nsys capture. `ranges` as users write them: `decode`, `decode*`, `A::A1`.
SeenLaunches seen_launches(const Timeline& timeline, std::span<const std::string> ranges);

/// From an ncu report of every launch of certain kernels.
SeenLaunches seen_launches(const CounterReport& report, std::span<const std::string> ranges);

/// A launch of a wanted kernel.
struct Launch {
  std::uint32_t function = 0;    ///< which of the functions that the expression matches, from 0
  std::uint32_t invocation = 0;  ///< which launch of that function in the program, from 1
  std::int64_t duration_ns = 0;
  std::size_t place = 0;  ///< among all recorded launches
  std::int64_t exclusive_ns = 0;
};

/// The launches of one wanted kernel inside the ranges, in order.
struct KernelLaunches {
  std::vector<Launch> launches;
  std::vector<std::string> functions;  ///< the distinct names that the expression matches
  std::uint64_t outside = 0;           ///< matching launches outside the ranges

  /// Exclusive time: kernels that run beside others do not count twice.
  std::int64_t total_ns() const;
};

/// The launches per kernel. An Error for an invalid regular expression, or one that only ncu
/// understands.
Result<std::vector<KernelLaunches>> take_census(const SeenLaunches& seen,
                                                std::span<const WantedKernel> kernels);

/// At most three of `names` that resemble what the expression looks for, for a message.
std::vector<std::string> similar_names(const SeenLaunches& seen, const WantedKernel& kernel);

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
  std::int64_t total_ns = 0;              ///< exclusive, of all these launches, as far as known
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

/// What is collected of a kernel.
struct Collected {
  std::uint32_t replays = 1;  ///< of each launch
  std::size_t tables = 1;     ///< that are made from the report
};

/// An estimate of how long the passes will take: one run of the program each, the start of ncu and
/// its overhead on every launch, the replays of profiled launches, and the tables.
std::chrono::nanoseconds estimate(std::span<const Pass> passes, const Collected& collected,
                                  const CountedProgram& program);

/// Which kernels to profile within a given time.
struct BudgetedKernels {
  std::vector<bool> is_kept;  ///< by kernel
  std::int64_t kept_ns = 0;   ///< exclusive time of all launches of these kernels
  std::int64_t all_ns = 0;    ///< of all given ones
  std::chrono::nanoseconds time{0};

  double coverage() const;
};

/// The kernels that took most time, as many as fit; none if not even one run does.
BudgetedKernels fit_budget(std::span<const ChosenKernel> kernels, bool merge,
                           const Collected& collected, const CountedProgram& program,
                           std::chrono::nanoseconds budget);

inline constexpr const char* kMergedFolder = "merged";

}  // namespace profline::kernel_lab
