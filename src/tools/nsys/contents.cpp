#include "tools/nsys/contents.h"

#include <string>

#include "formats/sqlite.h"

namespace profline::nsys {
namespace {

Result<bool> has_table(sqlite::Database& database, std::string_view table) {
  auto found = PL_TRY(
      database.query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", table));
  return found.step();
}

/// 0 for a table that is not there: nsys leaves empty ones out.
Result<std::uint64_t> rows_of(sqlite::Database& database, const std::string& table) {
  if (!PL_TRY(has_table(database, table))) return std::uint64_t{0};
  auto count = PL_TRY(database.query("SELECT COUNT(*) FROM " + table));
  PL_TRY(count.step());
  return static_cast<std::uint64_t>(PL_TRY(count.get<std::int64_t>(0)));
}

Result<void> count_range(sqlite::Database& database, std::string_view name, Contents& contents) {
  // A registered string has its text in a table of its own.
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

}  // namespace

Result<Contents> count_contents(const std::filesystem::path& sqlite, std::string_view range) {
  auto database = PL_TRY(sqlite::Database::open_read_only(sqlite));
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

}  // namespace profline::nsys
