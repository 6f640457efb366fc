#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "base/result.h"
#include "formats/sqlite.h"
#include "records/timeline.h"

namespace profline::nsys {

enum class SqliteRows {
  All,
  /// Kernels with name, beginning, end and stream, which is all that a summary by name needs: no
  /// launch, no shape. Other tables of events are neither read nor counted.
  Kernels,
};

/// How tables with more than `rows` rows are read: in slices of so many, by several threads. The
/// result is the same for all values.
struct Slicing {
  std::int64_t rows = 200'000;
  unsigned threads = 0;  ///< 0: one per core, at most 8
};

/// Reads the output of `nsys export --type sqlite`, from any release since 2022: tables and columns
/// are looked up in the file, and missing ones are listed in the notes. The file is never modified.
///
/// Rows of every table of events are counted: used, or skipped with the table's name and the
/// reason. A damaged file is read as far as possible, and the loss is reported.
///
/// An Error if the file is not an SQLite database, has none of nsys' tables, or cannot be read at
/// all.
Result<Timeline> read_sqlite(const std::filesystem::path& path, SqliteRows rows = SqliteRows::All,
                             const Slicing& slicing = {});

/// The same for an open database, on one thread.
Result<Timeline> read_sqlite(sqlite::Database& database, SqliteRows rows = SqliteRows::All);

/// Receives some rows of a capture, with the tables of names, streams, threads and shapes that they
/// refer to. Those tables grow from piece to piece and keep their numbers; the rows are in no
/// particular order, and are gone after the call.
using TakePiece = std::function<Result<void>(const Timeline& piece)>;

/// Reads an export of any size in little memory: as read_sqlite(), but the rows of work, calls and
/// ranges go to `take` in pieces and are not linked to each other. Samples and collectives are not
/// read. Ranges that are still open end with the capture's last event and come last.
///
/// The result has the tables, the capture's begin and end and what the reading found, but no rows.
/// An Error of `take` ends the reading and is returned.
Result<Timeline> read_sqlite_in_pieces(const std::filesystem::path& path, const TakePiece& take);

/// What an export contains, counted by SQLite.
struct Contents {
  std::uint64_t kernels = 0;     ///< and CUDA graphs recorded as a whole
  std::uint64_t cuda_calls = 0;  ///< of the runtime and the driver
  std::uint64_t nvtx_events = 0;
  std::uint64_t instances = 0;   ///< of the requested range
  std::uint64_t still_open = 0;  ///< of those
  std::uint64_t rows = 0;        ///< of all of these tables and of calls into the system

  bool operator==(const Contents&) const = default;
};

/// An export, counted and read.
struct Export {
  Contents contents;
  Timeline timeline;
};

/// Counts and reads a file from `nsys export`, opening it once. `range` is the argument of
/// --nvtx-capture: `decode`, `decode@domain`; empty: no range is requested. A damaged file is an
/// Error.
Result<Export> read_export(const std::filesystem::path& sqlite, std::string_view range);

}  // namespace profline::nsys
