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

/// The one place where launches become rows of a table of kernels.
namespace profline::timeline {

/// What tells kernels apart, beside the canonical name.
struct KernelKeys {
  enum class Shape : std::uint8_t {
    Any,
    GridAndBlock,
    Whole,  ///< with registers and shared memory
  };

  bool spelling = false;  ///< the name as the tool wrote it
  Shape shape = Shape::Any;
  bool ranges = false;  ///< the whole stack of them, and whether the launch was recorded
  bool device = false;
  bool op = false;  ///< the innermost operator around the launch
};

struct KernelGroupOptions {
  /// Only kernels launched in a range that this names (matches_range()), at any depth.
  std::optional<std::string> inside = {};
  /// Of the timeline; made when it is needed and not given.
  const Attribution* attribution = nullptr;
  const kernels::Classifier* classes = nullptr;  ///< without it KernelUse::kernel_class is empty
};

struct KernelUses {
  std::vector<KernelUse> rows;  ///< most time first; of equal time, fewer launches, then by name
  /// By row of Timeline::work its place in `rows`; kNoRow: no kernel, or not inside the range.
  std::vector<RowIndex> row_of;
  std::int64_t total_ns = 0;
  std::uint64_t launches = 0;

  /// Percent of the time of all kernels.
  double share(const KernelUse& row) const;
};

/// Every kernel (WorkKind::Kernel) that passes the filter is in exactly one row.
KernelUses group_kernels(const Timeline& timeline, const KernelKeys& keys = {},
                         const KernelGroupOptions& options = {});

/// Rows that are one kernel by fewer keys.
struct KernelGroup {
  KernelUse all;  ///< what they have in common, and their sums; the median is not known: 0
  std::vector<std::size_t> members;  ///< of the rows given, in their order
};

/// Groups rows again, in the order of their first members. The device is no key here.
std::vector<KernelGroup> group_kernels(std::span<const KernelUse> rows, const KernelKeys& keys);

}  // namespace profline::timeline
