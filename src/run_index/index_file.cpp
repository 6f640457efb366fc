#include "run_index/index_file.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace profline::run_index {
namespace {

namespace fs = std::filesystem;
using sqlite::Database;
using sqlite::Transaction;

/// `PRAGMA application_id`, at this place of the file's header: the letters "PLix".
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
  disturbance REAL NOT NULL);
CREATE TABLE metric (
  folder TEXT NOT NULL, name TEXT NOT NULL, unit TEXT NOT NULL, value REAL NOT NULL,
  n INTEGER NOT NULL, place INTEGER NOT NULL, PRIMARY KEY (folder, name));
PRAGMA application_id = 0x504C6978;
PRAGMA user_version = 2;
)";

/// All that says what a database holds and what it does of its own accord.
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

/// The index that profline 0.1 left: two tables of these columns, one index, and no mark.
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

/// Whether the file is ours to write to, as far as its header says: one that is damaged may have
/// nothing more to read. Links and the like are refused where it is opened.
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

/// Makes the tables where anything is missing, different or too much. Whoever comes second finds
/// them.
Result<void> settle(Database& database) {
  Database wanted = PL_TRY(index_in_memory());
  const std::vector<std::string> schema = PL_TRY(schema_of(wanted));
  if (PL_TRY(schema_of(database)) == schema) return {};
  Transaction transaction = PL_TRY(Transaction::begin(database));
  if (PL_TRY(schema_of(database)) == schema) return transaction.commit();
  PL_TRY(drop_all(database));
  PL_TRY(database.execute(kTables));
  if (PL_TRY(schema_of(database)) != schema) {
    return Error(ErrorKind::Parse, "is an index that cannot be mended", {database.name(), 0, 0});
  }
  return transaction.commit();
}

Result<Database> open_settled(const fs::path& file) {
  constexpr sqlite::OpenOptions kPatient{.busy_timeout = std::chrono::seconds(20)};
  Database database = PL_TRY(Database::open_read_write(file, sqlite::Create::Yes, kPatient));
  PL_TRY(settle(database));
  // Damage may lie behind a first page that is whole.
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

}  // namespace

Result<Database> index_in_memory() {
  Database database = PL_TRY(Database::in_memory());
  PL_TRY(database.execute(kTables));
  return database;
}

Result<Database> open_index_file(const fs::path& file) {
  PL_TRY(check_owner(file));
  auto database = open_settled(file);
  if (database || database.error().kind() == ErrorKind::Io) return database;
  remove_index(file);
  return open_settled(file);
}

}  // namespace profline::run_index
