#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/kernels/classify.h"
#include "analysis/timeline/attribution.h"
#include "records/kernel_use.h"
#include "records/timeline.h"

/// The only place where launches become rows of a kernel table.
namespace profline::timeline {

/// What distinguishes kernels, besides the canonical name.
struct KernelKeys {
  enum class Shape : std::uint8_t {
    Any,
    GridAndBlock,
    Whole,  ///< with registers and shared memory
  };

  bool spelling = false;  ///< the name as the tool wrote it
  Shape shape = Shape::Any;
  bool ranges = false;  ///< the whole stack, and whether the launch was recorded
  bool device = false;
  bool op = false;  ///< the innermost operator that contains the launch
};

struct KernelGroupOptions {
  /// Only kernels launched in a range that matches this (matches_range()), at any depth.
  std::optional<std::string> inside = {};
  /// The attribution of the timeline; computed if needed and not given.
  const Attribution* attribution = nullptr;
  const kernels::Classifier* classes = nullptr;  ///< absent: KernelUse::kernel_class stays empty
};

struct KernelUses {
  /// Most time first, by ranking(); ties: fewer launches, then name.
  std::vector<KernelUse> rows;
  /// For each row of Timeline::work its index in `rows`; kNoRow: not a kernel, or not inside the
  /// range.
  std::vector<RowIndex> row_of;
  std::int64_t total_ns = 0;
  std::int64_t exclusive_ns = 0;
  std::uint64_t launches = 0;

  KernelRanking ranking() const { return ranking_of(*this); }
  /// Percentage of the time of all kernels, by ranking().
  double share(const KernelUse& row) const;
};

/// Every kernel (WorkKind::Kernel) that passes the filter is in exactly one row.
KernelUses group_kernels(const Timeline& timeline, const KernelKeys& keys = {},
                         const KernelGroupOptions& options = {});

/// Rows that are the same kernel under fewer keys.
struct KernelGroup {
  KernelUse all;                     ///< common keys and sums; the median is not known: 0
  std::vector<std::size_t> members;  ///< indices of the given rows, in order
};

/// Regroups rows, in the order of their first members. The device is not a key here.
std::vector<KernelGroup> group_kernels(std::span<const KernelUse> rows, const KernelKeys& keys);

}  // namespace profline::timeline
