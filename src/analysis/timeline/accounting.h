#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/timeline/attribution.h"
#include "records/range_use.h"
#include "records/timeline.h"

namespace profline::timeline {

/// Why a device was idle, decided for each instant by the first entry that applies. A thread is
/// `of` a device from its last launch there on (before its first launch: from the beginning); a
/// thread that never launched is of its process's device if that has only one.
enum class IdleCause : std::uint8_t {
  /// Work had been submitted (its launch call had returned) but had not begun: latency of the
  /// device, or a wait for another one. Also the time between the nodes of a graph.
  Queued,
  /// A thread of the device is inside a call that launches a kernel or a graph.
  Launching,
  /// ... inside a call that copies or fills: staging, or waiting for the copy.
  CopyWait,
  /// ... inside a call that waits for the device.
  Synchronizing,
  /// ... inside a call that allocates or frees memory.
  Allocating,
  /// A thread of the device is between two of its launches there: the host does something else, and
  /// the device waits for it.
  HostBetween,
  /// None of the above: before the first launch, after the last, or launches were not recorded.
  NothingQueued,
};
inline constexpr std::size_t kIdleCauses = 7;
/// `host between launches`, for display; `host_between`, for programs.
std::string_view to_text(IdleCause cause);
std::string_view to_key(IdleCause cause);

/// The kinds of work running at an instant: a set of these.
inline constexpr unsigned kCompute = 1;  ///< kernels, and graphs whose nodes are not recorded
inline constexpr unsigned kCopy = 2;     ///< copies and fills
inline constexpr unsigned kCommunication =
    4;  ///< kernels that the caller classifies as collectives

/// Where the time of one device went: each nanosecond is counted once, so the parts sum to the
/// wall time exactly.
struct DeviceTime {
  /// Indexed by the set of kinds that ran: [kCompute | kCopy] is the time in which exactly both
  /// ran. [0], idle time, is the sum of `idle_ns`.
  std::array<std::int64_t, 8> ran_ns{};
  std::array<std::int64_t, kIdleCauses> idle_ns{};

  std::int64_t wall_ns() const;
  std::int64_t busy_ns() const { return wall_ns() - ran_ns[0]; }
  /// Time in which at least these kinds ran: with kCopy | kCommunication, their overlap.
  std::int64_t with_ns(unsigned kinds) const;
  /// Time in which only this kind ran, not overlapped by other work.
  std::int64_t only_ns(unsigned kind) const { return ran_ns[kind]; }
  std::int64_t idle_of(IdleCause cause) const { return idle_ns[static_cast<std::size_t>(cause)]; }

  DeviceTime& operator+=(const DeviceTime& other);
  bool operator==(const DeviceTime&) const = default;
};

/// A set of durations. They may be negative if two clocks disagree.
struct Spread {
  std::uint64_t count = 0;
  std::int64_t sum_ns = 0;
  std::int64_t min_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t max_ns = std::numeric_limits<std::int64_t>::min();
  std::uint64_t negative = 0;  ///< how many are below zero

  void add(std::int64_t length_ns);
  double mean_ns() const;  ///< NaN if empty
  bool operator==(const Spread&) const = default;
};

/// Device work as a plain sum.
struct WorkSum {
  std::uint64_t count = 0;
  std::int64_t sum_ns = 0;  ///< of durations; exceeds the busy time if work overlaps

  void add(const DeviceWork& work);
  bool operator==(const WorkSum&) const = default;
};

/// Statistics of launches, in a range or overall.
struct LaunchFigures {
  std::uint64_t launches = 0;    ///< calls that launch a kernel or a graph
  std::uint64_t copy_calls = 0;  ///< calls that copy or fill
  /// From the end of a launch to the beginning of the thread's next one, counting copies and fills
  /// as launches; in a range: only if both began inside it.
  Spread gap;
  Spread delay_from_start;  ///< start of the work minus start of its launch call
  Spread delay_from_end;    ///< start of the work minus end of its launch call
  bool operator==(const LaunchFigures&) const = default;
};

/// The work launched inside a range, on one device.
struct OwnTime {
  std::int64_t busy_ns = 0;    ///< union of its work, whenever it ran
  std::int64_t inside_ns = 0;  ///< the part of it between the range's beginning and end

  /// Work that ran after the range (or before it, if clocks disagree).
  std::int64_t outside_ns() const { return busy_ns - inside_ns; }
  bool operator==(const OwnTime&) const = default;
};

/// From the first to the last activity of a device.
struct ActiveSpan {
  std::int64_t begin_ns = 0;  ///< of its first work
  std::int64_t end_ns = 0;    ///< of the work that ended last

  std::int64_t length_ns() const { return end_ns - begin_ns; }
  bool operator==(const ActiveSpan&) const = default;
};

/// A range, or all ranges of one label and domain: then a sum over the instances, in which a nested
/// one of the same label counts again.
struct RangeAccount {
  std::string label;        ///< range_label() of the names; for a single instance its name
  Names::Id name = 0;       ///< of the first instance
  std::uint64_t names = 0;  ///< number of different names with this label
  Names::Id domain = 0;
  RowIndex range = kNoRow;  ///< of a single instance
  std::uint64_t instances = 0;
  std::uint64_t still_open = 0;  ///< instances that were open when the capture ended
  std::int64_t wall_ns = 0;
  /// Per device of Accounting::devices; each adds up to wall_ns. Everything that ran while the
  /// range was open counts, including work launched elsewhere, which is time()[d].busy_ns() -
  /// own[d].inside_ns.
  std::vector<DeviceTime> time;
  std::vector<OwnTime> own;
  WorkSum work;         ///< launched in the range or in nested ranges
  WorkSum direct_work;  ///< launched in the range but not in a nested one
  LaunchFigures launch;
  std::uint64_t tokens = 0;  ///< ranges of the token name that began in it, itself included

  /// Nothing without tokens.
  std::optional<double> launches_per_token() const;
  /// The mean over all devices of the share of wall time in which each was busy, 0 to 1. Nothing
  /// without a device, or for a range of zero length.
  std::optional<double> busy_share() const;
  bool operator==(const RangeAccount&) const = default;
};

/// Quantiles of a set of durations, each a value that occurs (nearest rank).
struct Quantiles {
  std::int64_t median_ns = 0;
  std::int64_t p90_ns = 0;
  std::int64_t p99_ns = 0;
  bool operator==(const Quantiles&) const = default;
};

/// Where the time of a capture went.
struct Accounting {
  std::vector<std::int32_t> devices;  ///< ids of those with work, ascending
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::vector<DeviceTime> time;    ///< per device; each adds up to wall_ns()
  std::vector<ActiveSpan> active;  ///< per device; contains all its busy time
  LaunchFigures launch;
  Quantiles gap;    ///< of launch.gap
  Quantiles delay;  ///< of launch.delay_from_start
  WorkSum work;
  WorkSum kernels;
  std::uint64_t tokens = 0;
  std::vector<RangeAccount> ranges;     ///< per label and domain, longest wall time first
  std::vector<RangeAccount> instances;  ///< the requested ones, in time order
  /// All ranges that match AccountingOptions::focus, together: ranges that overlap on a thread
  /// count once. Its label is the pattern. Nothing if no range matches.
  std::optional<RangeAccount> focus;

  // Work that could not be attributed: work = work in ranges + outside_ranges + without_launch.
  WorkSum without_launch;  ///< its launch was not recorded
  WorkSum outside_ranges;  ///< launched, in no range
  WorkSum without_device;  ///< its stream is not known, so no device accounts for it
  std::uint64_t launches_without_work = 0;  ///< captured into a graph, or the work was not recorded

  std::int64_t wall_ns() const { return end_ns - begin_ns; }
  std::optional<double> launches_per_token() const;
  /// Over all devices: from the first activity of any to the last. Zero without devices.
  ActiveSpan active_of_all() const;
  bool operator==(const Accounting&) const = default;
};

struct AccountingOptions {
  /// Whether a kernel of this name is a collective; called once per name. Absent: no kernel is.
  std::function<bool(std::string_view kernel_name)> is_collective = {};
  /// The number of tokens in the capture; absent: the number of ranges with the name below.
  std::optional<std::uint64_t> tokens = {};
  std::string token_range = std::string(kTokenRange);
  /// Also account for each instance of the ranges of this name; absent: none.
  std::optional<std::string> instances_of = {};
  /// The pattern, as in matches_range(), of the ranges for Accounting::focus; absent: no focus.
  std::optional<std::string> focus = {};
  /// From this many calls and pieces of work on, a second thread helps; it changes nothing but the
  /// time. Below, starting it would take longer than it saves.
  std::size_t rows_for_threads = 100'000;
};

/// O((n + ranges) log n + n * depth of the ranges); integers throughout.
Accounting account(const Timeline& timeline, const Attribution& attribution,
                   const AccountingOptions& options = {});

/// One device's activity in `wall_ns`, as written to files; `own` is the time of the range's own
/// work, if there is a range.
DeviceAccount device_account(std::int32_t device, const DeviceTime& time, std::int64_t wall_ns,
                             const OwnTime& own = {});

}  // namespace profline::timeline
