#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/timeline/attribution.h"
#include "records/timeline.h"

/// Which launches of a program to count within a given time, so that the kernels with counters
/// cover most of the time in which kernels kept the GPU busy.
namespace profline::counter_budget {

/// A kernel with one launch shape: all of its launches are alike, so counters of one stand for all.
struct Kernel {
  std::string name{};          ///< canonical
  std::string printed_name{};  ///< as the tool that captured it wrote it
  std::vector<std::uint32_t> grid{};
  std::vector<std::uint32_t> block{};
  std::int64_t exclusive_ns = 0;  ///< of all measured launches, inside and outside the gate
};

/// A capture, as ncu will see the program: launches inside the gate in the order in which the host
/// made them. The nodes of a CUDA graph are launched in the order in which they ran.
struct Census {
  std::vector<Kernel> kernels;
  std::vector<std::uint32_t> launches;  ///< inside the gate; indices of `kernels`
  std::uint64_t all_launches = 0;       ///< of the whole capture

  std::int64_t exclusive_ns() const;
};

/// `gate` is the name of a range, which may be nested in others; empty: everything. Loading and
/// warm-up, which are in no range or in the range of that name, count for no time. Launches are
/// those of the gate's first `instances`; absent: of all.
Census take_census(const Timeline& timeline, std::string_view gate,
                   std::optional<std::uint64_t> instances = {});

/// How often the gate opened, without those that are nested in another.
std::uint64_t gate_instances(const Timeline& timeline, std::string_view gate);

/// What is collected per launch, and how often ncu must replay it for that.
struct Collection {
  std::string name;  ///< for messages: `all sections`
  std::uint32_t passes = 1;
};

/// How long things take under ncu.
struct Costs {
  std::chrono::nanoseconds program{0};  ///< the program itself, from its start to its end
  std::uint64_t program_launches = 0;   ///< ncu looks at each of them
};

/// The launches to count: `count` after the first `skip` of those inside the gate.
struct Choice {
  std::size_t collection = 0;  ///< index of the given ones
  std::size_t skip = 0;
  std::size_t count = 0;
  std::size_t kernels = 0;        ///< that are among them
  std::int64_t covered_ns = 0;    ///< exclusive time of all launches of these kernels
  std::int64_t reachable_ns = 0;  ///< of all kernels that are launched inside the gate
  std::int64_t all_ns = 0;        ///< of all kernels of the capture
  std::chrono::nanoseconds time{0};

  double coverage() const;
};

/// The choice that covers most within the time; of those that cover almost as much, the one that
/// counts the fewest launches, from the middle of the gate. The first collection is preferred: a
/// later one must cover clearly more. Nothing if there are no launches, or not even one fits.
std::optional<Choice> choose(
    const Census& census, std::span<const Collection> collections, const Costs& costs,
    std::chrono::nanoseconds budget,
    std::uint64_t at_most = std::numeric_limits<std::uint64_t>::max());  ///< launches

/// The expected time of a run of ncu that counts this many launches.
std::chrono::nanoseconds expected_time(const Costs& costs, std::uint32_t passes,
                                       std::uint64_t launches);
/// The same without reading the report for tables.
std::chrono::nanoseconds capture_time(const Costs& costs, std::uint32_t passes,
                                      std::uint64_t launches);

/// The number of launches that can be counted in this time; 0: the program alone takes longer.
std::uint64_t affordable(const Costs& costs, std::uint32_t passes, std::chrono::nanoseconds budget);

/// The replays that ncu needs for a set and sections of its own, roughly: it packs counters into
/// passes as they fit.
std::uint32_t expected_passes(const std::optional<std::string>& set,
                              std::span<const std::string> sections, std::size_t metrics);

}  // namespace profline::counter_budget
