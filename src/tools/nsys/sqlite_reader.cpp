#include "tools/nsys/sqlite_reader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/figures.h"
#include "formats/sqlite.h"
#include "tools/nsys/internal/import.h"

namespace profline::nsys {
namespace {

/// Every export has at least one of these; a database without any is not from nsys.
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

/// An Error if no export has such tables.
Result<internal::Schema> schema_of(sqlite::Database& database) {
  internal::Schema schema = PL_TRY(internal::read_schema(database));
  const bool known = std::any_of(kMarks.begin(), kMarks.end(), [&](std::string_view mark) {
    return schema.find(mark) != schema.end();
  });
  if (!known) return not_of_nsys(database);
  return schema;
}

Result<Timeline> read_tables(sqlite::Database& database,
                             const std::optional<std::filesystem::path>& path, SqliteRows rows,
                             const Slicing& slicing = {}) {
  const internal::Schema schema = PL_TRY(schema_of(database));
  Timeline timeline;
  timeline.source = database.name();
  internal::Import import{.database = database,
                          .schema = schema,
                          .timeline = timeline,
                          .strings = internal::Strings::of(database, schema, timeline.names),
                          .path = path,
                          .slicing = slicing,
                          .most_rows = internal::most_rows_in(database)};
  internal::read_metadata(import);
  if (rows == SqliteRows::Kernels) {
    internal::read_kernels_only(import);
  } else {
    internal::read_calls(import);
    internal::read_work(import);
    internal::read_ranges(import);
    internal::read_samples(import);
    internal::count_other_tables(import);
  }
  internal::read_diagnostics(import);
  internal::finish(import);
  return timeline;
}

/// Hands the rows of a timeline on and follows when they begin and end. Open ranges stay.
class Pieces {
 public:
  Pieces(Timeline& timeline, const TakePiece& take) : timeline_(timeline), take_(take) {}

  /// False after a failure.
  bool pass_on() {
    keep_open_ranges();
    if (timeline_.work.empty() && timeline_.calls.empty() && timeline_.ranges.empty()) return true;
    hold(timeline_.work);
    hold(timeline_.calls);
    hold(timeline_.ranges);
    if (!failure_) {
      if (Result<void> taken = take_(timeline_); !taken) failure_ = std::move(taken).error();
    }
    timeline_.work.clear();
    timeline_.calls.clear();
    timeline_.ranges.clear();
    return !failure_;
  }

  /// Passes the open ranges on as well. Their number.
  Result<std::size_t> finish() {
    for (const Range& range : open_) {
      begin_ns_ = std::min(begin_ns_, range.start_ns);
      end_ns_ = std::max(end_ns_, range.start_ns);
    }
    for (Range& range : open_) {
      range.end_ns = end_ns_;
      range.closed = true;
      timeline_.ranges.push_back(range);
    }
    pass_on();
    if (failure_) return *failure_;
    timeline_.begin_ns = begin_ns_ <= end_ns_ ? begin_ns_ : 0;
    timeline_.end_ns = begin_ns_ <= end_ns_ ? end_ns_ : 0;
    return open_.size();
  }

 private:
  void keep_open_ranges() {
    for (const Range& range : timeline_.ranges) {
      if (!range.closed) open_.push_back(range);
    }
    std::erase_if(timeline_.ranges, [](const Range& range) { return !range.closed; });
  }

  template <typename Row>
  void hold(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      begin_ns_ = std::min(begin_ns_, row.start_ns);
      end_ns_ = std::max(end_ns_, row.end_ns);
    }
  }

  Timeline& timeline_;
  const TakePiece& take_;
  std::vector<Range> open_;
  std::optional<Error> failure_;
  std::int64_t begin_ns_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t end_ns_ = std::numeric_limits<std::int64_t>::min();
};

Result<Timeline> pieces_of_tables(sqlite::Database& database, const TakePiece& take) {
  const internal::Schema schema = PL_TRY(schema_of(database));
  Timeline timeline;
  timeline.source = database.name();
  Pieces pieces(timeline, take);
  internal::Import import{.database = database,
                          .schema = schema,
                          .timeline = timeline,
                          .strings = internal::Strings::of(database, schema, timeline.names),
                          .most_rows = internal::most_rows_in(database),
                          .take_piece = [&] { return pieces.pass_on(); }};
  internal::read_metadata(import);
  internal::read_calls(import);
  internal::read_work(import);
  pieces.pass_on();
  internal::read_ranges(import);
  internal::count_other_tables(import);
  internal::read_diagnostics(import);
  const std::size_t open = PL_TRY(pieces.finish());
  if (open > 0) {
    import.note(counted(open, "range was", "ranges were") +
                " still open when the capture ended: counted up to its last event");
  }
  internal::finish_pieces(import);
  return timeline;
}

/// Opens the file for `read`; a damaged one as far as it can be read, with a note of the loss.
template <typename Read>
Result<Timeline> read_whole_or_rest(const std::filesystem::path& path, const Read& read) {
  Result<sqlite::Database> whole = sqlite::Database::open_read_only(path);
  if (whole) return read(*whole);
  if (whole.error().kind() != ErrorKind::Parse) return std::move(whole).error();
  Result<sqlite::Database> rest = sqlite::Database::open_read_only(path, {.damaged_too = true});
  if (!rest) return std::move(whole).error();
  Result<Timeline> timeline = read(*rest);
  // What is wrong with the file is more informative than what was not found in the rest of it.
  if (!timeline || timeline->reading.used == 0) return std::move(whole).error();
  std::vector<std::string>& losses = timeline->reading.losses;
  losses.insert(losses.begin(), "the file " + whole.error().message());
  return timeline;
}

Result<bool> has_table(sqlite::Database& database, std::string_view table) {
  auto found = PL_TRY(
      database.query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", table));
  return found.step();
}

/// 0 for a missing table: nsys omits empty ones.
Result<std::uint64_t> rows_of(sqlite::Database& database, const std::string& table) {
  if (!PL_TRY(has_table(database, table))) return std::uint64_t{0};
  auto count = PL_TRY(database.query("SELECT COUNT(*) FROM " + table));
  PL_TRY(count.step());
  return static_cast<std::uint64_t>(PL_TRY(count.get<std::int64_t>(0)));
}

Result<void> count_range(sqlite::Database& database, std::string_view name, Contents& contents) {
  // A registered string has its text in a separate table.
  auto counts = PL_TRY(
      database.query("SELECT COUNT(*), COALESCE(SUM(e.end IS NULL), 0) FROM NVTX_EVENTS e "
                     "LEFT JOIN StringIds s ON s.id = e.textId "
                     "WHERE COALESCE(e.text, s.value) = ? AND e.eventType IN (59, 60, 70, 71)",
                     name));
  PL_TRY(counts.step());
  contents.instances = static_cast<std::uint64_t>(PL_TRY(counts.get<std::int64_t>(0)));
  contents.still_open = static_cast<std::uint64_t>(PL_TRY(counts.get<std::int64_t>(1)));
  return {};
}

Result<Contents> count_contents(sqlite::Database& database, std::string_view range) {
  Contents contents;
  for (const char* table : {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"}) {
    contents.kernels += PL_TRY(rows_of(database, table));
  }
  for (const char* table : {"CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER"}) {
    contents.cuda_calls += PL_TRY(rows_of(database, table));
  }
  contents.nvtx_events = PL_TRY(rows_of(database, "NVTX_EVENTS"));
  contents.rows = contents.kernels + contents.cuda_calls + contents.nvtx_events +
                  PL_TRY(rows_of(database, "OSRT_API"));
  if (!range.empty() && contents.nvtx_events > 0) {
    PL_TRY(count_range(database, range.substr(0, range.find('@')), contents));
  }
  return contents;
}

}  // namespace

Result<Timeline> read_sqlite(sqlite::Database& database, SqliteRows rows) {
  return read_tables(database, std::nullopt, rows);
}

Result<Timeline> read_sqlite(const std::filesystem::path& path, SqliteRows rows,
                             const Slicing& slicing) {
  return read_whole_or_rest(
      path, [&](sqlite::Database& database) { return read_tables(database, path, rows, slicing); });
}

Result<Timeline> read_sqlite_in_pieces(const std::filesystem::path& path, const TakePiece& take) {
  return read_whole_or_rest(
      path, [&](sqlite::Database& database) { return pieces_of_tables(database, take); });
}

Result<Export> read_export(const std::filesystem::path& sqlite, std::string_view range) {
  auto database = PL_TRY(sqlite::Database::open_read_only(sqlite));
  Contents contents = PL_TRY(count_contents(database, range));
  return Export{contents, PL_TRY(read_tables(database, sqlite, SqliteRows::All))};
}

}  // namespace profline::nsys
