#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/timeline/attribution.h"
#include "records/timeline.h"

namespace profline::timeline {

/// `HtoD`, `DtoH`, `DtoD`, `PtoP`, `HtoH`, `memset`; `unknown` if not recorded.
std::string_view direction_of(const DeviceWork& copy_or_fill);
/// `pageable`, `pinned`, `device`, `array`, `managed`; empty if not recorded.
std::string_view to_text(MemoryKind kind);

/// The copies or fills of one kind.
struct TransferRow {
  Names::Id name = 0;          ///< as the tool wrote it
  std::string_view direction;  ///< direction_of()
  MemoryKind from = MemoryKind::Unknown;
  MemoryKind to = MemoryKind::Unknown;
  std::uint64_t instances = 0;
  std::int64_t total_ns = 0;
  std::int64_t min_ns = 0;
  std::int64_t max_ns = 0;
  std::uint64_t sized = 0;  ///< instances with a recorded size; the rest refers to them
  std::uint64_t bytes = 0;
  std::int64_t sized_ns = 0;

  double mean_ns() const { return static_cast<double>(total_ns) / static_cast<double>(instances); }
  /// 10^9 bytes per second while they ran; nothing if no size is recorded or they took no time.
  std::optional<double> gigabytes_per_second() const;
  bool operator==(const TransferRow&) const = default;
};

struct TransferOptions {
  /// Only what was launched in a range that matches this (matches_range()); needs `attribution`.
  std::optional<std::string> inside = {};
  const Attribution* attribution = nullptr;
};

/// Every copy and fill that passes the filter is in exactly one row; most time first.
std::vector<TransferRow> transfer_table(const Timeline& timeline,
                                        const TransferOptions& options = {});

/// The size that bandwidths of collectives refer to: the total that the operation moves for one
/// rank, as nccl-tests counts it, that is, the larger of the rank's input and output.
std::uint64_t message_bytes(const Collective& collective);

/// The traffic of the busiest link relative to message_bytes(), as nccl-tests defines bus
/// bandwidth: 2(n-1)/n for an all-reduce, (n-1)/n for an all-gather, a reduce-scatter and an
/// all-to-all of n ranks, 1 for a broadcast, a reduce, a send or a receive. Nothing for any other
/// name, or if the number of ranks is needed and not known.
std::optional<double> bus_factor(std::string_view name, std::uint32_t ranks);

/// The collectives of one name, group, number of ranks and type.
struct CollectiveRow {
  std::string name;   ///< as written: `allreduce`, `ncclAllReduce`
  std::string dtype;  ///< empty: not recorded
  std::string group;  ///< empty: not recorded
  std::uint32_t ranks = 0;
  std::uint64_t instances = 0;
  std::uint64_t sized = 0;  ///< instances with a known size
  std::uint64_t bytes = 0;  ///< message_bytes() of the sized ones
  std::uint64_t in_bytes = 0;
  std::uint64_t out_bytes = 0;
  std::uint64_t kernels = 0;      ///< that carried them out
  std::int64_t total_ns = 0;      ///< of those kernels, waiting for other ranks included
  std::uint64_t timed_bytes = 0;  ///< of instances with a size and a kernel, used for bandwidth
  std::int64_t timed_ns = 0;

  /// 10^9 message bytes per second of kernel time; nothing if no instance has a size and a kernel.
  std::optional<double> algorithm_gigabytes_per_second() const;
  /// The same times bus_factor().
  std::optional<double> bus_gigabytes_per_second() const;
  bool operator==(const CollectiveRow&) const = default;
};

struct CollectiveOptions {
  /// Only collectives whose kernels were launched in a range that matches this (matches_range());
  /// needs `attribution`.
  std::optional<std::string> inside = {};
  const Attribution* attribution = nullptr;
};

/// Most kernel time first; ties: most bytes, then name.
std::vector<CollectiveRow> collective_table(const Timeline& timeline,
                                            const CollectiveOptions& options = {});

}  // namespace profline::timeline
