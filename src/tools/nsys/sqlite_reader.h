#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/result.h"
#include "formats/sqlite.h"
#include "records/timeline.h"

namespace profline::nsys {

enum class SqliteRows {
  All,
  /// Kernels with name, beginning and end, which is all that a summary by name needs: no launch, no
  /// stream, no shape. Other tables of events are not looked at, and not counted.
  Kernels,
};

/// Reads what `nsys export --type sqlite` wrote, of any release from 2022 on: which tables and
/// columns there are is asked of the file, and what is missing is told in the notes. The file is
/// never modified.
///
/// Rows of every table of events are counted: used, or skipped with the table's name and the
/// reason. Of a damaged file what can still be read is read, and the loss told.
///
/// An Error when the file is no SQLite database, holds none of nsys' tables, or cannot be read at
/// all.
Result<Timeline> read_sqlite(const std::filesystem::path& path, SqliteRows rows = SqliteRows::All);

/// The same of a database that is open.
Result<Timeline> read_sqlite(sqlite::Database& database, SqliteRows rows = SqliteRows::All);

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
