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
};

/// The launches of one wanted kernel inside the ranges, in order.
struct KernelLaunches {
  std::vector<Launch> launches;
  std::vector<std::string> functions;  ///< the distinct names that the expression matches
  std::uint64_t outside = 0;           ///< matching launches outside the ranges

  std::int64_t total_ns() const;
};

/// The launches per kernel. An Error for an invalid regular expression, or one that only ncu
/// understands.
Result<std::vector<KernelLaunches>> take_census(const SeenLaunches& seen,
                                                std::span<const WantedKernel> kernels);

/// At most three of `names` that resemble what the expression looks for, for a message.
std::vector<std::string> similar_names(const SeenLaunches& seen, const WantedKernel& kernel);

}  // namespace profline::kernel_lab
