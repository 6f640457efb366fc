#include "formats/sqlite.h"

#include <algorithm>
#include <climits>

#include <sqlite3.h>

#include "base/assert.h"
#include "base/strings.h"
#include "formats/internal/sqlite_file.h"

namespace profline::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShownSql = 120;
/// Longest text or blob: a damaged or hostile file must not make us ask for a gigabyte.
constexpr int kMaxCellBytes = 256 << 20;

ErrorKind kind_of(int code) {
  switch (code & 0xFF) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
    case SQLITE_ERROR:
    case SQLITE_TOOBIG:
    case SQLITE_RANGE:
      return ErrorKind::Parse;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
      return ErrorKind::Config;
    case SQLITE_INTERRUPT:
      return ErrorKind::Cancelled;
    default:
      return ErrorKind::Io;
  }
}

/// On one line, short enough for a message.
std::string shown(std::string_view sql) {
  std::string text;
  for (const char byte : trim(sql)) {
    const bool blank = byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
    if (blank && text.ends_with(' ')) continue;
    text += blank ? ' ' : byte;
  }
  if (text.size() > kShownSql) text = text.substr(0, kShownSql) + "...";
  return text;
}

Error not_found(const std::string& name, std::string_view why) {
  return Error(ErrorKind::NotFound, std::string(why), {name, 0, 0});
}

}  // namespace

namespace internal {

Connection::~Connection() {
  PL_ASSERT(sqlite3_close(handle_) == SQLITE_OK, "a Statement does not outlive its Database");
}

Error Connection::error(int code, std::string_view sql) const {
  std::string message = sqlite3_errmsg(handle_);
  // Errors of open have their text only in the code.
  if (sqlite3_errcode(handle_) == SQLITE_OK) message = sqlite3_errstr(code);
  if ((code & 0xFF) == SQLITE_CORRUPT) message += " (damaged or cut short)";
  if (code == SQLITE_READONLY_ROLLBACK) {
    message =
        "its last change was never finished; a program that may write must open it first, "
        "to undo what its -journal file holds";
  }
  return complaint(kind_of(code), std::move(message), sql);
}

Error Connection::complaint(ErrorKind kind, std::string what, std::string_view sql) const {
  if (!sql.empty()) what += ", in '" + shown(sql) + "'";
  return Error(kind, std::move(what), {name_, 0, 0});
}

}  // namespace internal

/// What is opened, and how.
struct Database::How {
  std::string uri;
  std::string name;  // for messages
  int flags;
  bool ours = true;
};

Result<Database> Database::open(const How& how, const OpenOptions& options) {
  sqlite3* handle = nullptr;
  const int flags = how.flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE |
                    SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(how.uri.c_str(), &handle, flags, nullptr);
  PL_ASSERT(handle != nullptr, "there is memory for a connection");
  Database database(std::make_unique<internal::Connection>(handle, how.name));
  if (code != SQLITE_OK) return database.connection_->error(code, {});
  PL_TRY(database.settle(how, options));
  return database;
}

/// Settings, and a first look at the file: SQLite does not touch it before.
Result<void> Database::settle(const How& how, const OpenOptions& options) {
  sqlite3* const handle = connection_->handle();
  sqlite3_busy_timeout(handle, static_cast<int>(options.busy_timeout.count()));
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kMaxCellBytes);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
  const auto configure = [&](int what, bool on) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): that is SQLite's interface
    const int code = sqlite3_db_config(handle, what, on ? 1 : 0, nullptr);
    PL_ASSERT(code == SQLITE_OK, "SQLite 3.31 or later knows these settings");
  };
  // A file shorter than its header says is opened with a writable schema only, which "defensive"
  // forbids; nothing can be written to it all the same.
  const bool damaged_too = !how.ours && options.damaged_too;
  configure(SQLITE_DBCONFIG_DEFENSIVE, !damaged_too);
  configure(SQLITE_DBCONFIG_WRITABLE_SCHEMA, damaged_too);
  configure(SQLITE_DBCONFIG_TRUSTED_SCHEMA, false);
  configure(SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, false);
  // We never write triggers or views: those in a file of ours are somebody else's doing.
  configure(SQLITE_DBCONFIG_ENABLE_TRIGGER, false);
  configure(SQLITE_DBCONFIG_ENABLE_VIEW, !how.ours);
  configure(SQLITE_DBCONFIG_ENABLE_FKEY, how.ours);
  if (!how.ours) PL_TRY(execute("PRAGMA cell_size_check = ON"));
  PL_TRY(execute("PRAGMA mmap_size = " + std::to_string(options.mmap_bytes)));
  const int code =
      sqlite3_exec(handle, "SELECT 1 FROM sqlite_schema LIMIT 1", nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return connection_->error(code, {});
  return {};
}

Result<Database> Database::open_read_only(const fs::path& path, const OpenOptions& options) {
  std::error_code failure;
  const fs::path canonical = fs::canonical(path, failure);
  if (failure == std::errc::permission_denied) {
    return Error(ErrorKind::Io, "cannot be read (no permission?)", {path.string(), 0, 0});
  }
  if (failure) return not_found(path.string(), "no such file");
  const internal::ReadOnlyMode mode =
      PL_TRY(internal::inspect(canonical, path.string(), options.damaged_too));
  const std::string_view query =
      mode == internal::ReadOnlyMode::Immutable ? "mode=ro&immutable=1" : "mode=ro&readonly_shm=1";
  return open({.uri = internal::uri(canonical, query),
               .name = path.string(),
               .flags = SQLITE_OPEN_READONLY,
               .ours = false},
              options);
}

Result<Database> Database::open_read_write(const fs::path& path, Create create,
                                           const OpenOptions& options) {
  std::error_code failure;
  // The folder may be reached through links, the database itself may not be one.
  const fs::path absolute = fs::absolute(path, failure);
  const fs::path folder = fs::canonical(absolute.parent_path(), failure);
  if (failure) return not_found(path.string(), "its folder does not exist");
  const fs::path file = folder / absolute.filename();
  if (!PL_TRY(internal::may_be_written(file, path.string())) && create == Create::No) {
    return not_found(path.string(), "no such file");
  }
  const bool may_create = create == Create::Yes;
  return open({.uri = internal::uri(file, may_create ? "mode=rwc" : "mode=rw"),
               .name = path.string(),
               .flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW |
                        (may_create ? SQLITE_OPEN_CREATE : 0)},
              options);
}

Result<Database> Database::in_memory() {
  return open({.uri = ":memory:",
               .name = "database in memory",
               .flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE},
              {});
}

Result<Database> Database::from_bytes(std::string_view bytes, const OpenOptions& options) {
  const std::string name = "database in memory";
  if (bytes.empty())
    return Error(ErrorKind::Parse, "is empty, not an SQLite database", {name, 0, 0});
  auto* const copy = static_cast<unsigned char*>(sqlite3_malloc64(bytes.size()));
  PL_ASSERT(copy != nullptr, "there is memory for the database");
  std::copy(bytes.begin(), bytes.end(), copy);
  // A memory database does not know write-ahead logs: bytes 18 and 19 of the header ask for one.
  if (bytes.size() > 20 && copy[18] == 2) copy[18] = copy[19] = 1;
  Database database = PL_TRY(in_memory());
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  const int code =
      sqlite3_deserialize(database.connection_->handle(), "main", copy, size, size,
                          SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY);
  if (code != SQLITE_OK) return database.connection_->error(code, {});
  PL_TRY(database.settle({.uri = {}, .name = name, .flags = 0, .ours = false}, options));
  return database;
}

Result<Statement> Database::prepare(std::string_view sql) {
  const auto compile = [&](std::string_view text, const char** rest) -> Result<Statement> {
    sqlite3_stmt* compiled = nullptr;
    const int size = text.size() < INT_MAX ? static_cast<int>(text.size()) : INT_MAX;
    const int code =
        sqlite3_prepare_v3(connection_->handle(), text.data(), size, 0, &compiled, rest);
    if (code != SQLITE_OK) return connection_->error(code, sql);
    return Statement(compiled, *connection_);
  };
  const char* rest = nullptr;
  Statement statement = PL_TRY(compile(sql, &rest));
  if (!statement.statement_)
    return connection_->complaint(ErrorKind::Parse, "no SQL statement", sql);
  // What follows may be blanks and comments: SQLite makes no statement of these.
  const auto used = static_cast<std::size_t>(rest - sql.data());
  const Statement second = PL_TRY(compile(sql.substr(used), &rest));
  if (second.statement_) {
    return connection_->complaint(ErrorKind::Parse, "more than one SQL statement", sql);
  }
  return statement;
}

Result<void> Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(connection_->handle(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return connection_->error(code, sql);
  return {};
}

Result<std::vector<std::string>> Database::tables() {
  std::vector<std::string> names;
  Statement statement = PL_TRY(
      prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' "
              "ESCAPE '\\' ORDER BY name"));
  PL_TRY(
      statement.each<std::string_view>([&](std::string_view name) { names.emplace_back(name); }));
  return names;
}

Result<std::vector<Database::Column>> Database::columns(std::string_view table) {
  std::vector<Column> columns;
  Statement statement = PL_TRY(query("SELECT name, type FROM pragma_table_info(?)", table));
  PL_TRY((statement.each<std::string_view, std::string_view>(
      [&](std::string_view name, std::string_view type) {
        columns.push_back({std::string(name), std::string(type)});
      })));
  if (columns.empty()) {
    const std::vector<std::string> names = PL_TRY(tables());
    return connection_->complaint(
        ErrorKind::Parse, "no table '" + std::string(table) + "'" + did_you_mean(table, names), {});
  }
  return columns;
}

Result<bool> Database::has_table(std::string_view table) {
  const std::int64_t count = PL_TRY(query_value<std::int64_t>(
      "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ? COLLATE NOCASE",
      table));
  return count > 0;
}

Result<bool> Database::has_column(std::string_view table, std::string_view column) {
  const std::int64_t count = PL_TRY(query_value<std::int64_t>(
      "SELECT count(*) FROM pragma_table_info(?) WHERE name = ? COLLATE NOCASE", table, column));
  return count > 0;
}

Result<std::vector<std::string>> Database::quick_check() {
  std::vector<std::string> found;
  Statement statement = PL_TRY(prepare("PRAGMA quick_check"));
  const Result<void> done = statement.each<std::string_view>([&](std::string_view line) {
    if (line != "ok") found.emplace_back(line);
  });
  if (done) return found;
  // Damage can be such that the search itself stumbles over it: that too is a finding.
  if (done.error().kind() != ErrorKind::Parse) return done.error();
  found.push_back(done.error().message());
  return found;
}

std::int64_t Database::last_insert_row_id() const {
  return sqlite3_last_insert_rowid(connection_->handle());
}

Error Database::no_row(std::string_view sql) const {
  return connection_->complaint(ErrorKind::Parse, "no row", sql);
}

Result<Transaction> Transaction::begin(Database& database) {
  PL_TRY(database.execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::~Transaction() {
  // SQLite itself undoes a transaction on some failures (a full disk); then none is active.
  if (database_ == nullptr || sqlite3_get_autocommit(database_->connection_->handle()) != 0) return;
  // Nobody can be told here, and an unfinished transaction is undone by the next reader anyway.
  static_cast<void>(database_->execute("ROLLBACK"));
}

Result<void> Transaction::commit() {
  PL_ASSERT(database_ != nullptr, "a transaction is committed once");
  PL_TRY(database_->execute("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace profline::sqlite
