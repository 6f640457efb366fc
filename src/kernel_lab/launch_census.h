#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
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

/// One ncu capture a kernel: which kernels, which of their launches, by which command, into which
/// files (`profline kernels profile`).
namespace profline::kernel_lab {

/// A kernel somebody wants to know more about.
struct WantedKernel {
  std::string name;
  std::string regex;  ///< what its name must match, somewhere; of names with template arguments
  std::string description;

  bool operator==(const WantedKernel&) const = default;
};
constexpr auto fields(std::type_identity<WantedKernel>) {
  using schema::field;
  return field_list(field("name", &WantedKernel::name, "what the kernel is called").required(),
                    field("regex", &WantedKernel::regex, "what its name must match").required(),
                    field("description", &WantedKernel::description, "for people"));
}

/// The name of a kernel that was given as a regular expression only.
inline constexpr std::string_view kUnnamed = "user_provided";

/// The kernels of a file as `profline kernels top` writes it, the first `at_most` of them. An Error
/// when there is none, or one that matches everything.
Result<std::vector<WantedKernel>> read_kernel_list(const Node& tree,
                                                   std::optional<std::size_t> at_most);

/// `kernel_0001_<md5 of the name>`: the folder of the kernel with this rank (from 1) among `count`.
std::string kernel_folder(std::size_t rank, std::size_t count, std::string_view name);

/// A launch that a counting pass saw, in the order in which the program made them.
struct SeenLaunch {
  std::uint32_t name = 0;  ///< in SeenLaunches::names
  std::int64_t duration_ns = 0;
  bool is_inside = true;  ///< one of the NVTX ranges that were asked for was open
};

/// All that a counting pass saw.
struct SeenLaunches {
  std::vector<std::string> names;  ///< distinct
  std::vector<SeenLaunch> launches;
  std::string source;                                 ///< `nsys 2025.3.1`, for messages
  std::optional<std::chrono::nanoseconds> program{};  ///< what the program took under it
  /// Ranges it cannot look for, because they are in ncu's own grammar: is_inside is true.
  std::vector<std::string> ignored_ranges{};
};

/// From a capture of nsys'. `ranges` are as people write them: `decode`, `decode*`, `A::A1`.
SeenLaunches seen_launches(const Timeline& timeline, std::span<const std::string> ranges);

/// From a report of ncu's over every launch of certain kernels.
SeenLaunches seen_launches(const CounterReport& report, std::span<const std::string> ranges);

/// A launch of a wanted kernel.
struct Launch {
  std::uint32_t function = 0;    ///< which of the functions that the expression matches, from 0
  std::uint32_t invocation = 0;  ///< which launch of that function in the program, from 1
  std::int64_t duration_ns = 0;
  std::size_t place = 0;  ///< among all that were seen
};

/// The launches of one wanted kernel inside the ranges, in their order.
struct KernelLaunches {
  std::vector<Launch> launches;
  std::vector<std::string> functions;  ///< the distinct names that the expression matches
  std::uint64_t outside = 0;           ///< launches that match and are in none of the ranges

  std::int64_t total_ns() const;
};

/// By kernel. An Error for an expression that is none, or one that only ncu understands.
Result<std::vector<KernelLaunches>> take_census(const SeenLaunches& seen,
                                                std::span<const WantedKernel> kernels);

/// The names among `names` that are like what the expression looks for, for a message; at most
/// three.
std::vector<std::string> similar_names(const SeenLaunches& seen, const WantedKernel& kernel);

}  // namespace profline::kernel_lab
