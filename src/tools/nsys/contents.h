#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace profline::nsys {

/// What an export holds, counted by SQLite and not read.
struct Contents {
  std::uint64_t kernels = 0;     ///< and CUDA graphs recorded as a whole
  std::uint64_t cuda_calls = 0;  ///< of the runtime and the driver
  std::uint64_t nvtx_events = 0;
  std::uint64_t instances = 0;   ///< of the range that was asked for
  std::uint64_t still_open = 0;  ///< of those
  std::uint64_t rows = 0;        ///< of all of these tables and of calls into the system

  bool operator==(const Contents&) const = default;
};

/// Counts in a file of `nsys export`. `range` is what --nvtx-capture was told: `decode`,
/// `decode@domain`; empty: no range is asked for.
Result<Contents> count_contents(const std::filesystem::path& sqlite, std::string_view range);

}  // namespace profline::nsys
