#include <filesystem>
#include <string>

#include <benchmark/benchmark.h>
#include <sqlite3.h>

#include "formats/sqlite.h"
#include "testing/temp_dir.h"

namespace profline::sqlite {
namespace {

constexpr const char* kScan = "SELECT start, end, stream, name FROM kernel";

/// `rows` kernels, like those of an nsys export.
bool fill(const std::filesystem::path& path, std::int64_t rows) {
  Result<Database> database = Database::open_read_write(path, Create::Yes);
  return database &&
         database->execute(
             "PRAGMA synchronous = OFF;"
             "CREATE TABLE kernel (start INTEGER, end INTEGER, stream INTEGER, name TEXT);"
             "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
             std::to_string(rows) +
             ") INSERT INTO kernel SELECT 1700000000000 + i * 1000, 1700000000700 + i * "
             "1000, i % 7, 'void gemm<float, 128, 64>(float const*) ' || (i % 100) FROM n");
}

/// Scans the whole table with `scan(path)`, which returns the sum of what it read, or 0.
template <typename Scan>
void scan_file(benchmark::State& state, const Scan& scan) {
  const testing::TempDir folder;
  const std::filesystem::path path = folder / "kernels.sqlite";
  if (!fill(path, state.range(0))) return state.SkipWithError("no database to scan");
  while (state.KeepRunning()) {
    if (scan(path) == 0) return state.SkipWithError("the scan failed");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(std::filesystem::file_size(path)));
}

std::int64_t scan_ours(const std::filesystem::path& path, const OpenOptions& options) {
  Result<Database> database = Database::open_read_only(path, options);
  if (!database) return 0;
  Result<Statement> statement = database->prepare(kScan);
  if (!statement) return 0;
  std::int64_t sum = 0;
  const Result<void> done =
      statement->each<std::int64_t, std::int64_t, std::int64_t, std::string_view>(
          [&](std::int64_t start, std::int64_t end, std::int64_t stream, std::string_view name) {
            sum += end - start + stream + static_cast<std::int64_t>(name.size());
          });
  return done ? sum : 0;
}

void sqlite_scan(benchmark::State& state) {
  scan_file(state, [](const std::filesystem::path& path) { return scan_ours(path, {}); });
}
BENCHMARK(sqlite_scan)
    ->RangeMultiplier(10)
    ->Range(10'000, 1'000'000)
    ->Unit(benchmark::kMillisecond);

void sqlite_scan_mapped(benchmark::State& state) {
  scan_file(state, [](const std::filesystem::path& path) {
    return scan_ours(path, {.mmap_bytes = std::int64_t{1} << 30});
  });
}
BENCHMARK(sqlite_scan_mapped)
    ->RangeMultiplier(10)
    ->Range(10'000, 1'000'000)
    ->Unit(benchmark::kMillisecond);

/// The baseline: the same scan through SQLite's own interface, without checks.
void sqlite_scan_bare(benchmark::State& state) {
  scan_file(state, [](const std::filesystem::path& path) {
    sqlite3* handle = nullptr;
    sqlite3_stmt* statement = nullptr;
    sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
    sqlite3_prepare_v2(handle, kScan, -1, &statement, nullptr);
    std::int64_t sum = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) {
      benchmark::DoNotOptimize(sqlite3_column_text(statement, 3));
      sum += sqlite3_column_int64(statement, 1) - sqlite3_column_int64(statement, 0) +
             sqlite3_column_int64(statement, 2) + sqlite3_column_bytes(statement, 3);
    }
    sqlite3_finalize(statement);
    sqlite3_close(handle);
    return sum;
  });
}
BENCHMARK(sqlite_scan_bare)
    ->RangeMultiplier(10)
    ->Range(10'000, 1'000'000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace profline::sqlite
