#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "records/document.h"

namespace profline::nsys {

/// A row of a kernel summary as `nsys stats` prints it.
struct KernelSummaryRow {
  std::string name;
  std::uint64_t instances = 0;
  // One of these two is present; the others if the release prints them.
  std::optional<std::int64_t> total_ns;
  std::optional<double> time_percent;
  std::optional<double> mean_ns;
  std::optional<double> median_ns;
  std::optional<double> min_ns;
  std::optional<double> max_ns;
  std::optional<double> stddev_ns;
  /// If the report has grid and block (cuda_gpu_kern_gb_sum).
  std::optional<std::array<std::uint32_t, 3>> grid;
  std::optional<std::array<std::uint32_t, 3>> block;

  bool operator==(const KernelSummaryRow&) const = default;
};

struct KernelSummary {
  std::vector<KernelSummaryRow> rows;  ///< in the file's order
  Reading reading;
};

/// Reads the CSV of `nsys stats --report cuda_gpu_kern_sum` (2022: gpukernsum), with or without
/// grid and block: columns by name in the spellings of all releases, times in any unit that the
/// header names. Lines before the header, such as progress, are skipped; so is another report's
/// table that follows, with its rows counted as skipped. An Error if there is no header of a kernel
/// summary; a line that is not a row is skipped and counted. `source` is the file's name for
/// messages.
Result<KernelSummary> read_kernel_summary(std::string_view text, const std::string& source = {});

}  // namespace profline::nsys
