#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tools/nsys/stats_csv.h"

/// Any bytes give rows or an Error; each row is valid for a summary.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto summary = profline::nsys::read_kernel_summary(text, "fuzz.csv");
  if (!summary) return 0;
  if (summary->rows.size() != summary->reading.used) std::abort();
  for (const auto& row : summary->rows) {
    const bool has_time = row.total_ns || row.time_percent;
    if (row.name.empty() || !has_time || row.total_ns.value_or(0) < 0) std::abort();
  }
  return 0;
}
