#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/csv.h"
#include "records/counters.h"

/// Reads the output of `ncu --csv`, from any of its versions: `--page raw` (one column per metric,
/// units in a separate row), `--page details` (one row per metric, units in a column), and
/// `--print-summary` (one row per metric over all launches). Lines before the table, such as
/// `==PROF== ...` and the program's own output, are skipped; ncu's warnings and errors among them
/// become notes.
namespace profline::ncu {

struct ReadOptions {
  std::string source;  ///< for messages
  /// Which counters to keep, by name; if empty, all. A report of a hundred thousand launches has
  /// more numbers than fit in memory.
  std::function<bool(std::string_view name)> keep;
};

/// The report in `text`. An Error if it contains no ncu table; it says so if ncu itself reports
/// that nothing was profiled. Lines that are not rows are skipped and counted.
Result<CounterReport> read_csv(std::string_view text, const ReadOptions& options);

/// The same from pieces; memory holds the result and one row.
Result<CounterReport> read_csv(csv::ChunkSource chunks, const ReadOptions& options);

/// The same from a file, piece by piece.
Result<CounterReport> load_csv(const std::string& path, const ReadOptions& options);

}  // namespace profline::ncu
