#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/timeline/attribution.h"
#include "records/timeline.h"

namespace profline::timeline {

/// `HtoD`, `DtoH`, `DtoD`, `PtoP`, `HtoH`, `memset`; `unknown` where the capture does not say.
std::string_view direction_of(const DeviceWork& copy_or_fill);
/// `pageable`, `pinned`, `device`, `array`, `managed`; empty where the capture does not say.
std::string_view to_text(MemoryKind kind);

/// What copies or fills of one kind moved.
struct TransferRow {
  Names::Id name = 0;          ///< as the tool wrote it
  std::string_view direction;  ///< direction_of()
  MemoryKind from = MemoryKind::Unknown;
  MemoryKind to = MemoryKind::Unknown;
  std::uint64_t instances = 0;
  std::int64_t total_ns = 0;
  std::int64_t min_ns = 0;
  std::int64_t max_ns = 0;
  std::uint64_t sized = 0;  ///< instances whose size is recorded, which the rest is of
  std::uint64_t bytes = 0;
  std::int64_t sized_ns = 0;

  double mean_ns() const { return static_cast<double>(total_ns) / static_cast<double>(instances); }
  /// 10^9 bytes per second while they ran; nothing where no size is recorded or they took no time.
  std::optional<double> gigabytes_per_second() const;
  bool operator==(const TransferRow&) const = default;
};

struct TransferOptions {
  /// Only what was launched in a range that this names (matches_range()); needs `attribution`.
  std::optional<std::string> inside = {};
  const Attribution* attribution = nullptr;
};

/// Every copy and fill that passes the filter is in exactly one row; most time first.
std::vector<TransferRow> transfer_table(const Timeline& timeline,
                                        const TransferOptions& options = {});

}  // namespace profline::timeline
