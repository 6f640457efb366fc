#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/csv.h"
#include "records/counters.h"

/// Reads what `ncu --csv` prints, by any of its versions: `--page raw` (a column a metric, units in
/// a row of their own), `--page details` (a row a metric, units in a column), and
/// `--print-summary` (a row a metric over all launches). Lines before the table, such as
/// `==PROF== ...` and what the program printed, are passed over; ncu's warnings and errors among
/// them become notes.
namespace profline::ncu {

struct ReadOptions {
  std::string source;  ///< for messages
  /// Which counters to keep, by name; none given: all. A report of a hundred thousand launches has
  /// more numbers than fit in memory.
  std::function<bool(std::string_view name)> keep;
};

/// The report in `text`. An Error when there is no table of ncu's in it; it says so where ncu
/// itself tells that nothing was profiled. Rows that are none are skipped and told.
Result<CounterReport> read_csv(std::string_view text, const ReadOptions& options);

/// The same from pieces, in memory for the result and one row.
Result<CounterReport> read_csv(csv::ChunkSource chunks, const ReadOptions& options);

/// The same from a file, piece by piece.
Result<CounterReport> load_csv(const std::string& path, const ReadOptions& options);

}  // namespace profline::ncu
