#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/timeline/attribution.h"
#include "records/timeline.h"

namespace profline::timeline {

/// One row of a kernel summary. The columns are those of `nsys stats --report cuda_gpu_kern_sum`.
struct KernelRow {
  Names::Id name = 0;
  RowIndex shape = kNoRow;  ///< when rows are told apart by shape, and it is known
  /// When rows are told apart by range: the innermost one's name and domain. Both 0: launched
  /// outside every range, or without a record of the launch, see `launched`.
  Names::Id range = 0;
  Names::Id range_domain = 0;
  bool in_range = false;
  bool launched = true;  ///< only told apart by range: false where there is no launch record
  /// When rows are told apart by operator: the innermost one around the launch. 0: there is none,
  /// or no record of the launch.
  Names::Id op = 0;
  std::uint64_t instances = 0;
  std::int64_t total_ns = 0;
  std::int64_t min_ns = 0;
  std::int64_t max_ns = 0;
  double median_ns = 0;  ///< of an even number the mean of the middle two
  double stddev_ns = 0;  ///< of a sample (n - 1); 0 for a single instance

  double mean_ns() const { return static_cast<double>(total_ns) / static_cast<double>(instances); }
};

struct KernelTable {
  std::vector<KernelRow> rows;  ///< most time first; of equal time, fewer instances, then by name
  std::int64_t total_ns = 0;
  std::uint64_t instances = 0;

  /// Percent of the time of all kernels.
  double share(const KernelRow& row) const;
};

struct KernelTableOptions {
  bool by_shape = false;
  bool by_range = false;     ///< rows are also told apart by innermost range; needs `attribution`
  bool by_operator = false;  ///< rows are also told apart by launching operator
  std::optional<std::int32_t> device = {};  ///< only kernels of this device
  /// Only kernels launched in a range that this names (matches_range()), at any depth; needs
  /// `attribution`.
  std::optional<std::string> inside = {};
  const Attribution* attribution = nullptr;
};

/// Every kernel (WorkKind::Kernel) that passes the filters is in exactly one row.
KernelTable kernel_table(const Timeline& timeline, const KernelTableOptions& options = {});

/// Copies and fills in the same form: rows by name.
KernelTable copy_table(const Timeline& timeline);

}  // namespace profline::timeline
