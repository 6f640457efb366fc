#include "tools/nsys/sqlite_reader.h"

#include <algorithm>
#include <array>

#include "tools/nsys/internal/import.h"

namespace profline::nsys {
namespace {

/// Each is in some export of every release; a database with none of them is somebody else's.
constexpr std::array<std::string_view, 8> kMarks = {
    "StringIds",
    "ANALYSIS_DETAILS",
    "TARGET_INFO_SESSION_START_TIME",
    "META_DATA_EXPORT",
    "EXPORT_META_DATA",
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "NVTX_EVENTS",
};

Error not_of_nsys(const sqlite::Database& database) {
  return Error(ErrorKind::Parse,
               "is an SQLite database, but not one that 'nsys export --type sqlite' made: it has "
               "neither StringIds nor any table of events",
               {database.name(), 0, 0});
}

Result<Timeline> read_tables(sqlite::Database& database,
                             const std::optional<std::filesystem::path>& path, SqliteRows rows) {
  const internal::Schema schema = PL_TRY(internal::read_schema(database));
  const bool known = std::any_of(kMarks.begin(), kMarks.end(), [&](std::string_view mark) {
    return schema.find(mark) != schema.end();
  });
  if (!known) return not_of_nsys(database);

  Timeline timeline;
  timeline.source = database.name();
  internal::Import import{.database = database,
                          .schema = schema,
                          .timeline = timeline,
                          .strings = internal::Strings::of(database, schema, timeline.names),
                          .path = path,
                          .most_rows = internal::most_rows_in(database)};
  internal::read_metadata(import);
  if (rows == SqliteRows::Kernels) {
    internal::read_kernels_only(import);
  } else {
    internal::read_calls(import);
    internal::read_work(import);
    internal::read_ranges(import);
    internal::count_other_tables(import);
  }
  internal::read_diagnostics(import);
  internal::finish(import);
  return timeline;
}

}  // namespace

Result<Timeline> read_sqlite(sqlite::Database& database, SqliteRows rows) {
  return read_tables(database, std::nullopt, rows);
}

Result<Timeline> read_sqlite(const std::filesystem::path& path, SqliteRows rows) {
  Result<sqlite::Database> whole = sqlite::Database::open_read_only(path);
  if (whole) return read_tables(*whole, path, rows);
  if (whole.error().kind() != ErrorKind::Parse) return std::move(whole).error();
  Result<sqlite::Database> rest = sqlite::Database::open_read_only(path, {.damaged_too = true});
  if (!rest) return std::move(whole).error();
  Result<Timeline> timeline = read_tables(*rest, path, rows);
  // What is wrong with the file says more than what was not found in the rest of it.
  if (!timeline || timeline->reading.used == 0) return std::move(whole).error();
  std::vector<std::string>& losses = timeline->reading.losses;
  losses.insert(losses.begin(), "the file " + whole.error().message());
  return timeline;
}

}  // namespace profline::nsys
