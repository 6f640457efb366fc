#include <array>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <optional>
#include <utility>

#include "formats/sqlite.h"
#include "run_index/internal/store.h"

namespace profline::run_index::internal {
namespace {

namespace fs = std::filesystem;
using sqlite::Database;
using sqlite::Transaction;

/// `PRAGMA application_id`, at this position in the file's header: the letters "PLix".
constexpr std::int64_t kApplication = 0x504C6978;
constexpr std::size_t kApplicationAt = 68;
constexpr std::size_t kHeaderSize = 100;
constexpr std::string_view kMagic("SQLite format 3\0", 16);

constexpr const char* kTables = R"(
CREATE TABLE run (
  folder TEXT PRIMARY KEY, stamp TEXT NOT NULL, id TEXT NOT NULL, experiment TEXT NOT NULL,
  state TEXT NOT NULL, exit_code INTEGER, model TEXT NOT NULL, program TEXT NOT NULL,
  device TEXT NOT NULL, device_name TEXT NOT NULL, host TEXT NOT NULL, version TEXT NOT NULL,
  "commit" TEXT NOT NULL, started TEXT NOT NULL, ended TEXT NOT NULL, fingerprint TEXT NOT NULL,
  configuration TEXT NOT NULL, disturbance REAL NOT NULL, steadiness TEXT NOT NULL);
CREATE TABLE metric (
  folder TEXT NOT NULL, name TEXT NOT NULL, unit TEXT NOT NULL, value REAL NOT NULL,
  n INTEGER NOT NULL, place INTEGER NOT NULL, PRIMARY KEY (folder, name));
PRAGMA application_id = 0x504C6978;
PRAGMA user_version = 4;
)";

/// The same tables in memory.
Result<Database> index_in_memory() {
  Database database = PL_TRY(Database::in_memory());
  PL_TRY(database.execute(kTables));
  return database;
}

/// Everything that defines what a database contains and does by itself.
Result<std::vector<std::string>> schema_of(Database& database) {
  std::vector<std::string> found;
  for (const char* pragma : {"PRAGMA application_id", "PRAGMA user_version"}) {
    found.push_back(std::to_string(PL_TRY(database.query_value<std::int64_t>(pragma))));
  }
  sqlite::Statement objects = PL_TRY(
      database.query("SELECT type || ' ' || name || ' on ' || tbl_name || ': ' || coalesce(sql, "
                     "'') FROM sqlite_schema ORDER BY type, name"));
  PL_TRY(objects.each<std::string>([&](const std::string& text) { found.push_back(text); }));
  return found;
}

/// The index of profline 0.1: two tables of these columns, one index, and no application id.
Result<bool> is_first_version(const fs::path& file) {
  Database database = PL_TRY(Database::open_read_only(file));
  const auto count = [&](const char* sql) { return database.query_value<std::int64_t>(sql); };
  const bool has_version = PL_TRY(count("PRAGMA user_version")) == 1;
  const bool has_no_more =
      PL_TRY(count("SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE "
                   "'\\' AND type || ' ' || name NOT IN ('table run', 'table metric', 'index "
                   "run_fingerprint')")) == 0;
  const bool has_columns =
      PL_TRY(count("SELECT count(*) FROM pragma_table_info('run') WHERE name IN ('folder', "
                   "'stamp', 'experiment', 'device_name', 'commit', 'fingerprint')")) == 6 &&
      PL_TRY(count("SELECT count(*) FROM pragma_table_info('metric') WHERE name IN ('folder', "
                   "'name', 'unit', 'value', 'n', 'place')")) == 6;
  return has_version && has_no_more && has_columns;
}

Error not_ours(const fs::path& file, std::string why) {
  return Error(ErrorKind::Config, std::move(why), {file.string(), 0, 0});
}

/// Whether the file is ours to write to, judging by its header: nothing else may be readable in a
/// damaged one. Links and the like are refused when it is opened.
Result<void> check_owner(const fs::path& file) {
  std::error_code failure;
  if (!fs::is_regular_file(fs::symlink_status(file, failure))) return {};
  std::array<char, kHeaderSize> header{};
  std::ifstream stream(file, std::ios::binary);
  stream.read(header.data(), header.size());
  if (stream.gcount() == 0) return {};
  if (std::string_view(header.data(), kMagic.size()) != kMagic) {
    return not_ours(file, "is not an SQLite database");
  }
  std::int64_t application = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    application = (application << 8U) | static_cast<unsigned char>(header[kApplicationAt + i]);
  }
  if (application == kApplication) return {};
  if (application == 0 && is_first_version(file).value_or(false)) return {};
  return not_ours(file, "is a database of another program");
}

Result<void> drop_all(Database& database) {
  std::vector<std::string> statements;
  sqlite::Statement objects = PL_TRY(
      database.query("SELECT 'DROP ' || type || ' \"' || replace(name, '\"', '\"\"') || '\"' FROM "
                     "sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE "
                     "'sqlite\\_%' ESCAPE '\\' ORDER BY type DESC"));
  PL_TRY(objects.each<std::string>([&](const std::string& sql) { statements.push_back(sql); }));
  for (const std::string& sql : statements) PL_TRY(database.execute(sql));
  return {};
}

/// Creates the tables again if anything is missing, different or superfluous. The second of two
/// programs finds them in order.
Result<void> settle(Database& database) {
  Database wanted = PL_TRY(index_in_memory());
  const std::vector<std::string> schema = PL_TRY(schema_of(wanted));
  if (PL_TRY(schema_of(database)) == schema) return {};
  Transaction transaction = PL_TRY(Transaction::begin(database));
  if (PL_TRY(schema_of(database)) == schema) return transaction.commit();
  PL_TRY(drop_all(database));
  PL_TRY(database.execute(kTables));
  if (PL_TRY(schema_of(database)) != schema) {
    return Error(ErrorKind::Parse, "is an index that cannot be repaired", {database.name(), 0, 0});
  }
  return transaction.commit();
}

Result<Database> open_settled(const fs::path& file) {
  constexpr sqlite::OpenOptions kPatient{.busy_timeout = std::chrono::seconds(20)};
  Database database = PL_TRY(Database::open_read_write(file, sqlite::Create::Yes, kPatient));
  PL_TRY(settle(database));
  // There may be damage after an intact first page.
  const std::vector<std::string> damage = PL_TRY(database.quick_check());
  if (!damage.empty()) return Error(ErrorKind::Parse, damage.front(), {file.string(), 0, 0});
  return database;
}

void remove_index(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(fs::symlink_status(file, ignored))) return;
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) {
    fs::remove(file.string() + suffix, ignored);
  }
}

Result<Database> open_index_file(const fs::path& file) {
  PL_TRY(check_owner(file));
  auto database = open_settled(file);
  if (database || database.error().kind() == ErrorKind::Io) return database;
  remove_index(file);
  return open_settled(file);
}

Result<IndexedRun> read_row(const sqlite::Statement& row) {
  IndexedRun run;
  int column = 0;
  for (std::string* text : {&run.id, &run.folder, &run.experiment, &run.state}) {
    *text = PL_TRY(row.get<std::string>(column++));
  }
  run.exit_code = PL_TRY(row.get<std::optional<std::int64_t>>(column++));
  for (std::string* text :
       {&run.model, &run.program, &run.device, &run.device_name, &run.host, &run.version,
        &run.commit, &run.started, &run.ended, &run.fingerprint, &run.configuration}) {
    *text = PL_TRY(row.get<std::string>(column++));
  }
  run.disturbance = PL_TRY(row.get<double>(column++));
  run.steadiness = PL_TRY(row.get<std::string>(column++));
  return run;
}

/// Everything in the tables, newest first.
Result<std::vector<IndexedRow>> all_rows(Database& database) {
  std::map<std::string, std::vector<IndexedMetric>> metrics;
  auto last = metrics.end();
  sqlite::Statement values = PL_TRY(
      database.query("SELECT folder, name, unit, value, n FROM metric ORDER BY folder, place"));
  PL_TRY((values.each<std::string, std::string, std::string, double, std::int64_t>(
      [&](const std::string& folder, const std::string& name, const std::string& unit, double value,
          std::int64_t n) {
        const bool is_next = last == metrics.end() || last->first != folder;
        if (is_next) last = metrics.try_emplace(metrics.end(), folder);
        last->second.push_back({name, unit, value, n});
      })));
  sqlite::Statement rows = PL_TRY(database.query(
      "SELECT id, folder, experiment, state, exit_code, model, program, device, device_name, host, "
      "version, \"commit\", started, ended, fingerprint, configuration, disturbance, steadiness, "
      "stamp FROM run ORDER BY started DESC, folder DESC"));
  constexpr int kStamp = 18;
  std::vector<IndexedRow> all;
  while (PL_TRY(rows.step())) {
    IndexedRow row{PL_TRY(read_row(rows)), PL_TRY(rows.get<std::string>(kStamp))};
    row.run.metrics = std::move(metrics[row.run.folder]);
    all.push_back(std::move(row));
  }
  return all;
}

class FileStore : public Store {
 public:
  explicit FileStore(Database database) : database_(std::move(database)) {}

  Result<void> change(const std::function<Result<void>()>& changes) override {
    Transaction transaction = PL_TRY(Transaction::begin(database_));
    PL_TRY(changes());
    return transaction.commit();
  }

  Result<void> write(IndexedRow written) override {
    PL_TRY(forget(written.run.folder));
    const auto& [run, stamp] = written;
    sqlite::Statement row = PL_TRY(database_.query(
        "INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        std::string_view(run.folder), std::string_view(stamp), std::string_view(run.id),
        std::string_view(run.experiment), std::string_view(run.state), run.exit_code,
        std::string_view(run.model), std::string_view(run.program), std::string_view(run.device),
        std::string_view(run.device_name), std::string_view(run.host),
        std::string_view(run.version), std::string_view(run.commit), std::string_view(run.started),
        std::string_view(run.ended), std::string_view(run.fingerprint),
        std::string_view(run.configuration), run.disturbance, std::string_view(run.steadiness)));
    PL_TRY(row.step());
    std::int64_t place = 0;
    for (const IndexedMetric& metric : run.metrics) {
      sqlite::Statement insert =
          PL_TRY(database_.query("INSERT INTO metric VALUES (?, ?, ?, ?, ?, ?)",
                                 std::string_view(run.folder), std::string_view(metric.name),
                                 std::string_view(metric.unit), metric.value, metric.n, place++));
      PL_TRY(insert.step());
    }
    return {};
  }

  Result<void> forget(std::string_view folder) override {
    for (const char* sql :
         {"DELETE FROM metric WHERE folder = ?", "DELETE FROM run WHERE folder = ?"}) {
      sqlite::Statement gone = PL_TRY(database_.query(sql, folder));
      PL_TRY(gone.step());
    }
    return {};
  }

  Result<void> clear() override {
    return change([this] { return database_.execute("DELETE FROM metric; DELETE FROM run;"); });
  }

  Result<std::map<std::string, std::string>> stamps() override {
    std::map<std::string, std::string> known;
    sqlite::Statement stamps = PL_TRY(database_.query("SELECT folder, stamp FROM run"));
    PL_TRY((stamps.each<std::string, std::string>(
        [&](const std::string& folder, const std::string& stamp) { known[folder] = stamp; })));
    return known;
  }

  Result<std::vector<IndexedRun>> runs() override {
    std::vector<IndexedRow> rows = PL_TRY(all_rows(database_));
    std::vector<IndexedRun> runs;
    runs.reserve(rows.size());
    for (IndexedRow& row : rows) runs.push_back(std::move(row.run));
    return runs;
  }

 private:
  Database database_;
};

}  // namespace

Result<std::unique_ptr<Store>> store_in_file(const fs::path& file) {
  return std::unique_ptr<Store>(std::make_unique<FileStore>(PL_TRY(open_index_file(file))));
}

Result<std::vector<IndexedRow>> rows_in_file(const fs::path& file) {
  std::error_code failure;
  if (!fs::is_regular_file(fs::symlink_status(file, failure))) return std::vector<IndexedRow>();
  PL_TRY(check_owner(file));
  Database database = PL_TRY(Database::open_read_only(file));
  Database ours = PL_TRY(index_in_memory());
  if (PL_TRY(schema_of(database)) != PL_TRY(schema_of(ours))) return std::vector<IndexedRow>();
  return all_rows(database);
}

}  // namespace profline::run_index::internal
