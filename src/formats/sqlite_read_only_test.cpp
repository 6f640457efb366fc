// What open_read_only promises about files that are not ours.

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "formats/sqlite.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

namespace profline::sqlite {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

template <typename T>
std::string error_text(const Result<T>& result) {
  return result ? "no error" : result.error().to_string();
}

std::string bytes_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

struct FileState {
  std::string bytes;
  fs::file_time_type modified;
  bool operator==(const FileState&) const = default;
};

/// Everything in a folder: to compare before and after.
std::map<std::string, FileState> snapshot(const fs::path& folder) {
  std::map<std::string, FileState> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files[entry.path().filename()] = {bytes_of(entry.path()), entry.last_write_time()};
  }
  return files;
}

/// A database of `rows` rows, closed again.
void make_database(const fs::path& path, int rows, const std::string& pragma = "") {
  Result<Database> database = Database::open_read_write(path, Create::Yes);
  ASSERT_TRUE(database) << error_text(database);
  const Result<void> filled = database->execute(
      pragma +
      ";CREATE TABLE kernel (id INTEGER, name TEXT);"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
      std::to_string(rows) +
      ") INSERT INTO kernel SELECT i, 'void gemm<float, 128>(int) ' || i FROM n;");
  ASSERT_TRUE(filled) << error_text(filled);
}

Result<std::int64_t> count_rows(const fs::path& path) {
  Database database = PL_TRY(Database::open_read_only(path));
  return database.query_value<std::int64_t>("SELECT count(*) FROM kernel");
}

TEST(SqliteReadOnly, LeavesNoTrace) {
  for (const char* journal : {"DELETE", "TRUNCATE", "PERSIST", "WAL"}) {
    SCOPED_TRACE(journal);
    const testing::TempDir folder;
    make_database(folder / "a.sqlite", 1000, std::string("PRAGMA journal_mode = ") + journal);
    const auto before = snapshot(folder.path());
    ::chmod(folder.path().c_str(), 0555);  // does not stop root; the comparison below does
    {
      Result<Database> database = Database::open_read_only(folder / "a.sqlite");
      ASSERT_TRUE(database) << error_text(database);
      EXPECT_EQ(*database->query_value<std::int64_t>("SELECT count(*) FROM kernel"), 1000);
      EXPECT_EQ(snapshot(folder.path()), before);
      EXPECT_EQ(error_text(database->execute("DELETE FROM kernel")),
                (folder / "a.sqlite").string() +
                    ": attempt to write a readonly database, in 'DELETE FROM kernel'");
    }
    EXPECT_EQ(snapshot(folder.path()), before);
    ::chmod(folder.path().c_str(), 0755);
  }
}

TEST(SqliteReadOnly, TakesAnyFileName) {
  const testing::TempDir folder;
  for (const char* name :
       {"a?mode=rw", "b#c", "100%", "%41", "two words", "ä", "file:x", "a&b=c"}) {
    SCOPED_TRACE(name);
    make_database(folder / name, 3);
    ASSERT_TRUE(fs::exists(folder / name));
    const Result<std::int64_t> rows = count_rows(folder / name);
    ASSERT_TRUE(rows) << error_text(rows);
    EXPECT_EQ(*rows, 3);
  }
  const Result<std::int64_t> two_slashes = count_rows("/" + (folder / "100%").string());
  EXPECT_EQ(error_text(two_slashes), "no error");
}

TEST(SqliteReadOnly, TellsWhatIsNoDatabase) {
  const testing::TempDir folder;
  make_database(folder / "whole", 1000);
  const std::string whole = bytes_of(folder / "whole");
  const std::string half = std::to_string(whole.size() / 2);
  struct Case {
    std::string name, bytes, error;
  };
  const std::vector<Case> cases = {
      {"empty", "", "is empty, not an SQLite database (was its export cut short?)"},
      {"text", "Time (%),Total Time (ns)\n" + std::string(500, '1'), "is not an SQLite database"},
      {"header only", whole.substr(0, 50), "is not an SQLite database"},
      {"torn", whole.substr(0, whole.size() / 2),
       "is cut short: " + half + " of " + std::to_string(whole.size()) + " bytes"},
      {"damaged", whole.substr(0, 100) + std::string(whole.size() - 100, 'x'),
       "database disk image is malformed (damaged or truncated)"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const fs::path path = folder / c.name;
    write_bytes(path, c.bytes);
    const Result<Database> database = Database::open_read_only(path);
    EXPECT_EQ(error_text(database), path.string() + ": " + c.error);
    EXPECT_EQ(database.error().kind(), ErrorKind::Parse);
    EXPECT_EQ(bytes_of(path), c.bytes);
  }
  EXPECT_EQ(error_text(Database::open_read_only(folder.path())),
            folder.path().string() + ": is a folder, not an SQLite database");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(error_text(Database::open_read_only(folder / "pipe")),
            (folder / "pipe").string() + ": is not a regular file");
  const Result<Database> absent = Database::open_read_only(folder / "absent");
  EXPECT_EQ(error_text(absent), (folder / "absent").string() + ": no such file");
  EXPECT_EQ(absent.error().kind(), ErrorKind::NotFound);
  EXPECT_FALSE(fs::exists(folder / "absent"));
}

TEST(SqliteReadOnly, FindsDamageInsideWhenAsked) {
  const testing::TempDir folder;
  make_database(folder / "a", 1000);
  EXPECT_THAT(*Database::open_read_only(folder / "a")->quick_check(), IsEmpty());
  std::string bytes = bytes_of(folder / "a");
  bytes.replace(std::size_t{4096} * 3, 64, std::string(64, '\xFF'));
  write_bytes(folder / "a", bytes);
  Result<Database> damaged = Database::open_read_only(folder / "a");
  ASSERT_TRUE(damaged) << error_text(damaged);
  const Result<std::vector<std::string>> found = damaged->quick_check();
  ASSERT_TRUE(found) << error_text(found);
  EXPECT_THAT(*found, Not(IsEmpty()));
  const Result<std::int64_t> sum = damaged->query_value<std::int64_t>("SELECT sum(id) FROM kernel");
  EXPECT_EQ(error_text(sum),
            (folder / "a").string() +
                ": database disk image is malformed (damaged or truncated), in 'SELECT sum(id) "
                "FROM kernel'");
  EXPECT_EQ(sum.error().kind(), ErrorKind::Parse);
}

TEST(SqliteReadOnly, ReadsWhatIsLeftOfADamagedFileWhenAsked) {
  const testing::TempDir folder;
  make_database(folder / "a", 1000);
  const std::string torn = bytes_of(folder / "a").substr(0, std::size_t{4096} * 5);
  write_bytes(folder / "a", torn);
  std::vector<Result<Database>> opened;
  opened.push_back(Database::open_read_only(folder / "a", {.damaged_too = true}));
  opened.push_back(Database::from_bytes(torn, {.damaged_too = true}));
  for (Result<Database>& database : opened) {
    ASSERT_TRUE(database) << error_text(database);
    Result<Statement> statement = database->prepare("SELECT id FROM kernel");
    ASSERT_TRUE(statement) << error_text(statement);
    std::int64_t rows = 0;
    const Result<void> done =
        statement->each<std::int64_t>([&](std::int64_t id) { EXPECT_EQ(id, ++rows); });
    EXPECT_GT(rows, 100);
    EXPECT_LT(rows, 1000);
    EXPECT_EQ(
        done.error().message(),
        "database disk image is malformed (damaged or truncated), in 'SELECT id FROM kernel'");
    EXPECT_FALSE(database->execute("DELETE FROM kernel"));
  }
  EXPECT_EQ(bytes_of(folder / "a"), torn);
}

TEST(SqliteReadOnly, ReadsADatabaseFromBytes) {
  const testing::TempDir folder;
  for (const char* journal : {"DELETE", "WAL"}) {
    const fs::path path = folder / journal;
    make_database(path, 1000, std::string("PRAGMA journal_mode = ") + journal);
    Result<Database> database = Database::from_bytes(bytes_of(path));
    ASSERT_TRUE(database) << error_text(database);
    EXPECT_EQ(*database->query_value<std::int64_t>("SELECT count(*) FROM kernel"), 1000);
    EXPECT_FALSE(database->execute("DELETE FROM kernel"));
  }
  EXPECT_EQ(error_text(Database::from_bytes("")),
            "database in memory: is empty, not an SQLite database");
  EXPECT_EQ(error_text(Database::from_bytes("Time (%),Name\n")),
            "database in memory: file is not a database");
}

TEST(SqliteReadOnly, GivesACellOnlyAsTheTypeItHas) {
  Result<Database> database = Database::in_memory();
  ASSERT_TRUE(database) << error_text(database);
  Result<Statement> statement = database->prepare("SELECT 7, 'x', NULL");
  ASSERT_TRUE(statement) << error_text(statement);
  ASSERT_TRUE(*statement->step());
  std::int64_t number = 1;
  EXPECT_TRUE(statement->try_get(0, number));
  EXPECT_EQ(number, 7);
  EXPECT_FALSE(statement->try_get(1, number));
  EXPECT_FALSE(statement->try_get(2, number));
  EXPECT_EQ(number, 7);
  std::optional<std::int64_t> maybe = 3;
  EXPECT_TRUE(statement->try_get(2, maybe));
  EXPECT_EQ(maybe, std::nullopt);
}

/// The files of a writer in WAL mode that died before it could clean up: 10 rows in the database, 5
/// more in the -wal.
void leave_wal(const fs::path& folder, const std::vector<std::string>& suffixes) {
  const testing::TempDir elsewhere;
  make_database(elsewhere / "a", 10, "PRAGMA journal_mode = WAL");
  Result<Database> writer = Database::open_read_write(elsewhere / "a", Create::No);
  ASSERT_TRUE(writer) << error_text(writer);
  ASSERT_TRUE(writer->execute("INSERT INTO kernel SELECT id, name FROM kernel LIMIT 5"));
  for (const std::string& suffix : suffixes) {
    fs::copy_file(elsewhere.path() / ("a" + suffix), folder / ("a" + suffix));
  }
}

TEST(SqliteReadOnly, ReadsWhatIsOnlyInTheWal) {
  const testing::TempDir folder;
  leave_wal(folder.path(), {"", "-wal", "-shm"});
  const auto before = snapshot(folder.path());
  const Result<std::int64_t> rows = count_rows(folder / "a");
  ASSERT_TRUE(rows) << error_text(rows);
  EXPECT_EQ(*rows, 15);
  EXPECT_EQ(snapshot(folder.path()), before);
}

TEST(SqliteReadOnly, RefusesToLoseWhatIsOnlyInTheWal) {
  const testing::TempDir folder;
  leave_wal(folder.path(), {"", "-wal"});
  const auto before = snapshot(folder.path());
  const Result<std::int64_t> rows = count_rows(folder / "a");
  EXPECT_EQ(
      error_text(rows),
      (folder / "a").string() +
          ": has changes in its -wal file that cannot be read without writing next to it; run "
          "'PRAGMA wal_checkpoint(TRUNCATE)' on it (or on a copy of both files) first");
  EXPECT_EQ(rows.error().kind(), ErrorKind::Io);
  EXPECT_EQ(snapshot(folder.path()), before);
}

TEST(SqliteReadOnly, LooksForSideFilesBehindALink) {
  const testing::TempDir folder;
  const testing::TempDir links;
  leave_wal(folder.path(), {"", "-wal"});
  fs::create_symlink(folder / "a", links / "link");
  EXPECT_THAT(error_text(count_rows(links / "link")), HasSubstr("has changes in its -wal file"));
}

TEST(SqliteReadOnly, TellsOfAnUnfinishedTransaction) {
  const testing::TempDir elsewhere;
  const testing::TempDir folder;
  make_database(elsewhere / "a", 5000);
  {
    Result<Database> writer = Database::open_read_write(elsewhere / "a", Create::No);
    ASSERT_TRUE(writer->execute("PRAGMA cache_size = 1; PRAGMA cache_spill = 1"));
    Result<Transaction> transaction = Transaction::begin(*writer);
    ASSERT_TRUE(writer->execute("UPDATE kernel SET name = name || 'x'"));
    fs::copy_file(elsewhere / "a", folder / "a");
    fs::copy_file(elsewhere / "a-journal", folder / "a-journal");
  }
  const auto before = snapshot(folder.path());
  const Result<std::int64_t> rows = count_rows(folder / "a");
  EXPECT_EQ(error_text(rows),
            (folder / "a").string() +
                ": its last change was never finished; a program that may write must "
                "open it first, to undo what its -journal file holds");
  EXPECT_EQ(rows.error().kind(), ErrorKind::Io);
  EXPECT_EQ(snapshot(folder.path()), before);
}

TEST(SqliteReadOnly, DoesNotTrustTheSchema) {
  const testing::TempDir folder;
  make_database(folder / "a", 1);
  {
    Result<Database> attacker = Database::open_read_write(folder / "a", Create::No);
    ASSERT_TRUE(
        attacker->execute("CREATE VIEW hook AS SELECT load_extension('/tmp/evil.so');"
                          "CREATE VIEW reader AS SELECT fts3_tokenizer('simple');"));
  }
  Result<Database> database = Database::open_read_only(folder / "a");
  ASSERT_TRUE(database) << error_text(database);
  EXPECT_EQ(error_text(database->query_value<std::string>("SELECT * FROM hook")),
            (folder / "a").string() + ": unsafe use of load_extension(), in 'SELECT * FROM hook'");
  EXPECT_FALSE(database->query_value<std::string>("SELECT * FROM reader"));
  EXPECT_EQ(
      error_text(database->query_value<std::string>("SELECT load_extension('/tmp/evil.so')")),
      (folder / "a").string() + ": not authorized, in 'SELECT load_extension('/tmp/evil.so')'");
}

TEST(SqliteReadOnly, ReadsWhatNsysExports) {
  const fs::path folder = testing::shared_dir() / "fixtures" / "h200";
  const fs::path path = folder / "nsys-decode.sqlite";
  if (!fs::exists(path)) GTEST_SKIP() << "no nsys-decode.sqlite in " << folder;
  const auto before = snapshot(folder);
  {
    Result<Database> database = Database::open_read_only(path);
    ASSERT_TRUE(database) << error_text(database);
    EXPECT_THAT(*database->tables(), Contains("CUPTI_ACTIVITY_KIND_KERNEL"));
    EXPECT_THAT(*database->tables(), Contains("StringIds"));
    EXPECT_TRUE(*database->has_column("CUPTI_ACTIVITY_KIND_KERNEL", "demangledName"));
    Result<Statement> kernels = database->prepare(
        "SELECT k.start, k.end, s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k "
        "JOIN StringIds s ON s.id = k.demangledName");
    ASSERT_TRUE(kernels) << error_text(kernels);
    std::int64_t count = 0;
    const Result<void> done = kernels->each<std::int64_t, std::int64_t, std::string_view>(
        [&](std::int64_t start, std::int64_t end, std::string_view name) {
          ++count;
          EXPECT_LT(start, end);
          EXPECT_FALSE(name.empty());
        });
    EXPECT_TRUE(done) << error_text(done);

    // SQLite's own interface as the reference.
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
    sqlite3_stmt* oracle = nullptr;
    ASSERT_EQ(sqlite3_prepare_v2(handle, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL", -1,
                                 &oracle, nullptr),
              SQLITE_OK);
    ASSERT_EQ(sqlite3_step(oracle), SQLITE_ROW);
    EXPECT_EQ(count, sqlite3_column_int64(oracle, 0));
    EXPECT_GT(count, 0);
    sqlite3_finalize(oracle);
    sqlite3_close(handle);
  }
  EXPECT_EQ(snapshot(folder), before);
}

}  // namespace
}  // namespace profline::sqlite
