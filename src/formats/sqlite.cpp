#include "formats/sqlite.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include <sqlite3.h>

#include "base/error.h"
#include "base/result.h"
#include "base/strings.h"

namespace profline::sqlite::internal {
namespace {

// What the files of a database reveal before SQLite opens them.

enum class ReadOnlyMode {
  Shared,     ///< mode=ro: locks as usual; side files are read
  Immutable,  ///< immutable=1: no locks, no side files
};

namespace fs = std::filesystem;

// The first 100 bytes of a database, https://www.sqlite.org/fileformat2.html#the_database_header
constexpr std::size_t kHeaderSize = 100;
constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr std::size_t kPageSizeAt = 16;       // two bytes; 1 stands for 65536
constexpr std::size_t kReadVersionAt = 19;    // 1: rollback journal, 2: WAL
constexpr std::size_t kChangeCounterAt = 24;  // the page count holds while these two agree
constexpr std::size_t kPageCountAt = 28;
constexpr std::size_t kValidForAt = 92;

struct Header {
  std::array<char, kHeaderSize> bytes{};
  std::size_t size = 0;

  std::uint32_t number(std::size_t at, std::size_t width) const {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < width; ++i) {
      value = (value << 8U) | static_cast<unsigned char>(bytes[at + i]);
    }
    return value;
  }
  bool is_database() const {
    return size == kHeaderSize && std::string_view(bytes.data(), kMagic.size()) == kMagic;
  }
  bool is_wal() const { return number(kReadVersionAt, 1) == 2; }
  /// The expected file size; 0 if the header does not say.
  std::uint64_t expected_bytes() const {
    if (number(kChangeCounterAt, 4) != number(kValidForAt, 4)) return 0;
    const std::uint32_t page = number(kPageSizeAt, 2);
    return std::uint64_t{page == 1 ? 65536 : page} * number(kPageCountAt, 4);
  }
};

fs::path beside(const fs::path& path, std::string_view suffix) {
  fs::path other = path;
  other += suffix;
  return other;
}

/// Whether the file exists and is not empty.
bool holds_something(const fs::path& path) {
  std::error_code absent;
  const std::uintmax_t size = fs::file_size(path, absent);
  return !absent && size > 0;
}

Error no_database(const std::string& name, std::string why) {
  return Error(ErrorKind::Parse, std::move(why), {name, 0, 0});
}

Result<ReadOnlyMode> wal_mode(const fs::path& path, const std::string& name) {
  if (!holds_something(beside(path, "-wal"))) return ReadOnlyMode::Immutable;
  if (fs::exists(beside(path, "-shm"))) return ReadOnlyMode::Shared;
  return Error(ErrorKind::Io,
               "has changes in its -wal file that cannot be read without writing next to it; "
               "run 'PRAGMA wal_checkpoint(TRUNCATE)' on it (or on a copy of both files) first",
               {name, 0, 0});
}

/// Whether this journal belongs to a transaction over several databases: its last 8 bytes then say
/// so, and the name of the common journal precedes them.
bool names_another_journal(const fs::path& journal) {
  constexpr std::string_view kJournalMagic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
  std::array<char, kJournalMagic.size()> end{};
  std::ifstream file(journal, std::ios::binary);
  file.seekg(-static_cast<std::streamoff>(end.size()), std::ios::end);
  file.read(end.data(), end.size());
  return file && std::string_view(end.data(), end.size()) == kJournalMagic;
}

/// Whether there is a database at `path` that we may open for writing; false when there is no such
/// file. An Error for a folder, a link (it may point to another program's file), anything else that
/// is not a plain file, and for a -journal that names a second journal: SQLite would remove the
/// file of that name, wherever it is, and our journals never name one.
Result<bool> may_be_written(const fs::path& path, const std::string& name) {
  std::error_code failure;
  const fs::file_status status = fs::symlink_status(path, failure);
  if (fs::is_symlink(status)) return Error(ErrorKind::Io, "is a link", {name, 0, 0});
  if (fs::is_directory(status)) return no_database(name, "is a folder, not an SQLite database");
  if (!fs::exists(status)) return false;
  if (!fs::is_regular_file(status)) return no_database(name, "is not a regular file");
  const fs::path journal = beside(path, "-journal");
  const fs::file_status beside_it = fs::symlink_status(journal, failure);
  const bool is_plain = !fs::exists(beside_it) || fs::is_regular_file(beside_it);
  if (!is_plain || names_another_journal(journal)) {
    return Error(ErrorKind::Io, "has a -journal file that profline did not write", {name, 0, 0});
  }
  return true;
}

/// Inspects the file before SQLite opens it. An Error for a file that is not a database, is
/// truncated, or cannot be read without writing; with `damaged_too`, a truncated one is accepted.
/// `path` is canonical: side files are next to the target of a link.
Result<ReadOnlyMode> inspect(const fs::path& path, const std::string& name, bool damaged_too) {
  // Anything but a plain file may block (a pipe) or never end (a device).
  if (fs::is_directory(path)) return no_database(name, "is a folder, not an SQLite database");
  if (!fs::is_regular_file(path)) return no_database(name, "is not a regular file");

  std::ifstream file(path, std::ios::binary);
  if (!file) return Error(ErrorKind::Io, "cannot be read (no permission?)", {name, 0, 0});
  Header header;
  file.read(header.bytes.data(), header.bytes.size());
  header.size = static_cast<std::size_t>(file.gcount());
  if (header.size == 0) {
    return no_database(name, "is empty, not an SQLite database (was its export cut short?)");
  }
  if (!header.is_database()) return no_database(name, "is not an SQLite database");
  if (header.is_wal()) return wal_mode(path, name);
  if (damaged_too) return ReadOnlyMode::Shared;

  // If there is a journal, somebody may be writing right now: SQLite, which can lock, must decide.
  std::error_code unknown;
  const std::uintmax_t size = fs::file_size(path, unknown);
  const std::uint64_t expected = header.expected_bytes();
  if (!unknown && size < expected && !holds_something(beside(path, "-journal"))) {
    return no_database(name, "is cut short: " + std::to_string(size) + " of " +
                                 std::to_string(expected) + " bytes");
  }
  return ReadOnlyMode::Shared;
}

/// `file:` URI with every byte escaped that could be read as syntax.
std::string uri(const fs::path& absolute, std::string_view query) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string text = "file://";  // and an empty host, so that a path may begin with two slashes
  for (const char byte : absolute.native()) {
    if (kPlain.find(byte) != std::string_view::npos) {
      text += byte;
      continue;
    }
    const auto value = static_cast<unsigned char>(byte);
    text += {'%', kHex[value >> 4U], kHex[value & 15U]};
  }
  return text + '?' + std::string(query);
}

}  // namespace
}  // namespace profline::sqlite::internal

namespace profline::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShownSql = 120;
/// Longest text or blob: a damaged or hostile file must not make us allocate a gigabyte.
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

/// On one line, cut for a message.
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
  // After a failed open the text is available only through the code.
  if (sqlite3_errcode(handle_) == SQLITE_OK) message = sqlite3_errstr(code);
  if ((code & 0xFF) == SQLITE_CORRUPT) message += " (damaged or truncated)";
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

/// What to open, and how.
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

/// Applies the settings and reads from the file once: SQLite does not touch it before that.
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
  // A file shorter than its header says can be opened only with a writable schema, which
  // "defensive" forbids; it still cannot be written to.
  const bool damaged_too = !how.ours && options.damaged_too;
  configure(SQLITE_DBCONFIG_DEFENSIVE, !damaged_too);
  configure(SQLITE_DBCONFIG_WRITABLE_SCHEMA, damaged_too);
  configure(SQLITE_DBCONFIG_TRUSTED_SCHEMA, false);
  configure(SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, false);
  // We never create triggers or views: any in our file are not ours.
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
  // The folder may be reached through links; the database itself must not be one.
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
  // A memory database does not support write-ahead logs; bytes 18 and 19 of the header request one.
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
  // The remainder may be blanks and comments: SQLite makes no statement of these.
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
  // Severe damage makes the check itself fail: that is a finding as well.
  if (done.error().kind() != ErrorKind::Parse) return done.error();
  found.push_back(done.error().message());
  return found;
}

Error Database::no_row(std::string_view sql) const {
  return connection_->complaint(ErrorKind::Parse, "no row", sql);
}

}  // namespace profline::sqlite
