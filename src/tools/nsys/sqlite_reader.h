#pragma once

#include <filesystem>

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

}  // namespace profline::nsys
