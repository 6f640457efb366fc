#include "formats/sqlite.h"

#include <array>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "testing/temp_dir.h"

namespace profline::sqlite {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

template <typename T>
std::string error_text(const Result<T>& result) {
  return result ? "no error" : result.error().to_string();
}

/// A database in memory with a table of every type.
Database example() {
  Result<Database> database = Database::in_memory();
  EXPECT_TRUE(database) << error_text(database);
  const Result<void> filled = database->execute(
      "CREATE TABLE Cells (i INTEGER, r REAL, t TEXT, b BLOB);"
      "INSERT INTO Cells VALUES (42, 1.5, 'gemm', x'00ff');"
      "INSERT INTO Cells VALUES (NULL, NULL, NULL, NULL);");
  EXPECT_TRUE(filled) << error_text(filled);
  return *std::move(database);
}

TEST(SqliteStatement, ReadsEachTypeStrictly) {
  Database database = example();
  Result<Statement> row = database.prepare("SELECT i, r, t, b FROM Cells LIMIT 1");
  ASSERT_TRUE(row) << error_text(row);
  ASSERT_TRUE(*row->step());
  EXPECT_EQ(*row->get<std::int64_t>(0), 42);
  EXPECT_EQ(*row->get<double>(0), 42.0);
  EXPECT_EQ(*row->get<double>(1), 1.5);
  EXPECT_EQ(*row->get<std::string_view>(2), "gemm");
  EXPECT_EQ(*row->get<std::string>(2), "gemm");
  const Result<Blob> blob = row->get<Blob>(3);
  EXPECT_THAT(*blob, ElementsAre(std::byte{0}, std::byte{0xFF}));
  EXPECT_EQ(*row->get<std::optional<std::int64_t>>(0), 42);

  EXPECT_EQ(error_text(row->get<std::int64_t>(1)),
            "database in memory: column 'r' holds a real where an integer is expected, in 'SELECT "
            "i, r, t, b FROM Cells LIMIT 1'");
  EXPECT_EQ(error_text(row->get<std::string_view>(0)),
            "database in memory: column 'i' holds an integer where a text is expected, in 'SELECT "
            "i, r, t, b FROM Cells LIMIT 1'");
  EXPECT_EQ(row->get<double>(2).error().kind(), ErrorKind::Parse);
  EXPECT_FALSE(row->get<Blob>(2));
}

TEST(SqliteStatement, NullIsNoValueButAnEmptyOptional) {
  Database database = example();
  Result<Statement> row = database.prepare("SELECT i, t FROM Cells WHERE i IS NULL");
  ASSERT_TRUE(*row->step());
  EXPECT_TRUE(row->is_null(0));
  EXPECT_EQ(error_text(row->get<std::int64_t>(0)),
            "database in memory: column 'i' holds NULL where an integer is expected, in 'SELECT i, "
            "t FROM Cells WHERE i IS NULL'");
  EXPECT_EQ(*row->get<std::optional<std::int64_t>>(0), std::nullopt);
  EXPECT_EQ(*row->get<std::optional<std::string_view>>(1), std::nullopt);
}

TEST(SqliteScan, PassesTheCellsOfEachRow) {
  Database database = example();
  int rows = 0;
  const Result<void> done = database.scan("t, i, b, r, NULL", "Cells", [&](const Row& row) {
    std::int64_t whole = 7;
    double real = 0;
    std::string_view text;
    Blob blob;
    EXPECT_EQ(row.try_get(0, text), rows == 0);
    EXPECT_EQ(row.try_get(1, whole), rows == 0);
    EXPECT_EQ(row.try_get(2, blob), rows == 0);
    EXPECT_EQ(row.try_get(3, real), rows == 0);
    EXPECT_FALSE(row.try_get(4, whole));
    if (rows++ > 0) return true;
    EXPECT_EQ(text, "gemm");
    EXPECT_EQ(whole, 42);
    EXPECT_THAT(blob, ElementsAre(std::byte{0}, std::byte{0xFF}));
    EXPECT_EQ(real, 1.5);
    EXPECT_FALSE(row.try_get(0, whole)) << "a text is not an integer";
    return true;
  });
  EXPECT_TRUE(done) << error_text(done);
  EXPECT_EQ(rows, 2);
}

TEST(SqliteScan, EndsWhenTheVisitorSaysSoOrThrows) {
  Database database = example();
  int rows = 0;
  const Result<void> stopped = database.scan("i", "Cells", [&](const Row&) {
    ++rows;
    return false;
  });
  EXPECT_TRUE(stopped) << error_text(stopped);
  EXPECT_EQ(rows, 1);
  const auto fail = [](const Row&) -> bool { throw std::length_error("too long"); };
  EXPECT_THROW(static_cast<void>(database.scan("i", "Cells", fail)), std::length_error);
  EXPECT_EQ(*database.query_value<std::int64_t>("SELECT count(*) FROM Cells"), 2);
}

TEST(SqliteScan, MayBeNestedAndNamesWhatIsWrong) {
  Database database = example();
  int pairs = 0;
  const auto inner = [&](const Row&) { return ++pairs > 0; };
  const Result<void> done = database.scan("i", "Cells", [&](const Row&) {
    return database.scan("i", "Cells WHERE i IS NOT NULL", inner).has_value();
  });
  EXPECT_TRUE(done) << error_text(done);
  EXPECT_EQ(pairs, 2);
  EXPECT_EQ(error_text(database.scan("i", "Rows", inner)),
            "database in memory: no such table: Rows, in 'SELECT profline_visit(?,i) FROM Rows'");
}

TEST(SqliteScan, IsNotOpenToTheSchemaOfAFile) {
  Database database = example();
  ASSERT_TRUE(database.scan("i", "Cells", [](const Row&) { return true; }));
  EXPECT_FALSE(database.execute("CREATE TABLE Trap (i INTEGER CHECK (profline_visit(i) > 0))"));
  EXPECT_FALSE(database.execute("SELECT profline_visit(1, 2) FROM Cells"));
}

TEST(SqliteStatement, BindsByIndexAndByName) {
  Database database = example();
  Result<Statement> echo =
      database.query("SELECT ?, ?, ?, ?, ?, ?", std::int64_t{-5}, 2.5, std::string_view("a\0b", 3),
                     nullptr, std::optional<std::int64_t>(), std::string());
  ASSERT_TRUE(echo) << error_text(echo);
  ASSERT_TRUE(*echo->step());
  EXPECT_EQ(*echo->get<std::int64_t>(0), -5);
  EXPECT_EQ(*echo->get<double>(1), 2.5);
  EXPECT_EQ(*echo->get<std::string>(2), std::string("a\0b", 3));
  EXPECT_TRUE(echo->is_null(3));
  EXPECT_TRUE(echo->is_null(4));
  EXPECT_EQ(*echo->get<std::string_view>(5), "");

  Result<Statement> named = database.prepare("SELECT :name || :name, :bytes");
  ASSERT_TRUE(named->bind(":name", "ab"));
  const std::array<std::byte, 2> bytes = {std::byte{1}, std::byte{2}};
  ASSERT_TRUE(named->bind(":bytes", Blob(bytes)));
  ASSERT_TRUE(*named->step());
  EXPECT_EQ(*named->get<std::string_view>(0), "abab");
  EXPECT_THAT(*named->get<Blob>(1), ElementsAre(std::byte{1}, std::byte{2}));

  EXPECT_EQ(error_text(named->bind(":nam", 1)),
            "database in memory: no parameter ':nam', in 'SELECT :name || :name, :bytes'");
  EXPECT_EQ(error_text(database.query("SELECT ?", 1, 2)),
            "database in memory: parameters: 1, values: 2, in 'SELECT ?'");
  EXPECT_EQ(error_text(database.query("SELECT ?, ?", 1)),
            "database in memory: parameters: 2, values: 1, in 'SELECT ?, ?'");
  EXPECT_EQ(error_text(database.prepare("SELECT ?")->bind(2, 1)),
            "database in memory: column index out of range, in 'SELECT ?'");
}

TEST(SqliteStatement, StaysAtTheEndUntilReset) {
  Database database = example();
  Result<Statement> one = database.prepare("SELECT 1");
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(*one->step());
    EXPECT_FALSE(*one->step());
    EXPECT_FALSE(*one->step());
    one->reset();
  }
}

TEST(SqliteStatement, KnowsItsColumns) {
  Database database = example();
  Result<Statement> statement = database.prepare("SELECT i AS id, t FROM Cells");
  EXPECT_EQ(statement->column_count(), 2);
  EXPECT_EQ(statement->column_name(0), "id");
  EXPECT_EQ(*statement->column("t"), 1);
  EXPECT_EQ(error_text(statement->column("i")),
            "database in memory: no column 'i', in 'SELECT i AS id, t FROM Cells'");
}

TEST(SqliteStatement, VisitsRowsWithTypedCells) {
  Database database = example();
  Result<Statement> rows = database.prepare("SELECT i, t FROM Cells ORDER BY i DESC");
  std::vector<std::string> seen;
  using Integer = std::optional<std::int64_t>;
  using Text = std::optional<std::string_view>;
  const Result<void> done = rows->each<Integer, Text>([&](Integer i, Text t) {
    seen.push_back(std::to_string(i.value_or(-1)) + " " + std::string(t.value_or("none")));
  });
  EXPECT_TRUE(done) << error_text(done);
  EXPECT_THAT(seen, ElementsAre("42 gemm", "-1 none"));

  rows->reset();
  EXPECT_EQ(
      error_text(rows->each<std::int64_t, std::string_view>([](std::int64_t, std::string_view) {})),
      "database in memory: column 'i' holds NULL where an integer is expected, in 'SELECT i, "
      "t FROM Cells ORDER BY i DESC'");
  rows->reset();
  int visits = 0;
  EXPECT_EQ(error_text(rows->each<Integer>([&](Integer) -> Result<void> {
              ++visits;
              return Error(ErrorKind::Cancelled, "enough");
            })),
            "enough");
  EXPECT_EQ(visits, 1);
}

TEST(SqliteDatabase, TellsOfWrongSql) {
  Database database = example();
  struct Case {
    std::string_view sql;
    std::string error;
  };
  const std::vector<Case> cases = {
      {"SELECT x FROM Cells", "database in memory: no such column: x, in 'SELECT x FROM Cells'"},
      {"SELECT *\n  FROM nowhere",
       "database in memory: no such table: nowhere, in 'SELECT * FROM nowhere'"},
      {"SELEC 1", "database in memory: near \"SELEC\": syntax error, in 'SELEC 1'"},
      {"SELECT 1; SELECT 2",
       "database in memory: more than one SQL statement, in 'SELECT 1; SELECT 2'"},
      {" -- nothing", "database in memory: no SQL statement, in '-- nothing'"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.sql);
    const Result<Statement> statement = database.prepare(c.sql);
    EXPECT_EQ(error_text(statement), c.error);
    EXPECT_EQ(statement.error().kind(), ErrorKind::Parse);
  }
  EXPECT_TRUE(database.prepare("SELECT 1; -- and a comment"));
  const std::string lengthy = "SELECT '" + std::string(200, 'x') + "' FROM nowhere";
  EXPECT_EQ(error_text(database.prepare(lengthy)),
            "database in memory: no such table: nowhere, in '" + lengthy.substr(0, 120) + "...'");
}

TEST(SqliteDatabase, KnowsItsTablesAndColumns) {
  Database database = example();
  ASSERT_TRUE(
      database.execute("CREATE TABLE \"a 'b\" (x); CREATE TABLE sqlitelike (id INTEGER "
                       "PRIMARY KEY AUTOINCREMENT); CREATE VIEW v AS SELECT 1;"));
  EXPECT_THAT(*database.tables(), ElementsAre("Cells", "a 'b", "sqlitelike"));
  const Result<std::vector<Database::Column>> columns = database.columns("Cells");
  ASSERT_TRUE(columns) << error_text(columns);
  ASSERT_EQ(columns->size(), 4U);
  EXPECT_EQ(columns->at(1).name, "r");
  EXPECT_EQ(columns->at(1).declared_type, "REAL");
  EXPECT_EQ(error_text(database.columns("Cels")),
            "database in memory: no table 'Cels' (did you mean 'Cells'?)");
  EXPECT_TRUE(*database.has_table("cells"));
  EXPECT_TRUE(*database.has_table("a 'b"));
  EXPECT_FALSE(*database.has_table("Cell"));
  EXPECT_TRUE(*database.has_column("Cells", "I"));
  EXPECT_FALSE(*database.has_column("Cells", "x"));
  EXPECT_FALSE(*database.has_column("nowhere", "x"));
}

TEST(SqliteDatabase, GivesSingleValues) {
  Database database = example();
  EXPECT_EQ(*database.query_value<std::int64_t>("SELECT count(*) FROM Cells"), 2);
  EXPECT_EQ(*database.query_value<std::string>("SELECT t FROM Cells WHERE i = ?", 42), "gemm");
  EXPECT_EQ(error_text(database.query_value<std::string>("SELECT t FROM Cells WHERE i = ?", 43)),
            "database in memory: no row, in 'SELECT t FROM Cells WHERE i = ?'");
}

TEST(SqliteDatabase, TellsOfBrokenConstraints) {
  Database database = example();
  ASSERT_TRUE(
      database.execute("CREATE TABLE run (id INTEGER PRIMARY KEY); INSERT INTO run DEFAULT VALUES;"
                       "CREATE TABLE stage (run INTEGER REFERENCES run);"));
  const Result<void> twice = database.execute("INSERT INTO run VALUES (1)");
  EXPECT_EQ(
      error_text(twice),
      "database in memory: UNIQUE constraint failed: run.id, in 'INSERT INTO run VALUES (1)'");
  EXPECT_EQ(twice.error().kind(), ErrorKind::Config);
  EXPECT_EQ(error_text(database.execute("INSERT INTO stage VALUES (7)")),
            "database in memory: FOREIGN KEY constraint failed, in 'INSERT INTO stage VALUES (7)'");
}

TEST(SqliteDatabase, AttachesNothing) {
  Database database = example();
  EXPECT_EQ(error_text(database.execute("ATTACH ':memory:' AS other")),
            "database in memory: too many attached databases - max 0, in 'ATTACH ':memory:' AS "
            "other'");
}

TEST(SqliteTransaction, KeepsAllOrNothing) {
  Database database = example();
  const auto count = [&] {
    return *database.query_value<std::int64_t>("SELECT count(*) FROM Cells");
  };
  {
    Result<Transaction> undone = Transaction::begin(database);
    ASSERT_TRUE(undone) << error_text(undone);
    ASSERT_TRUE(database.execute("DELETE FROM Cells"));
    EXPECT_EQ(count(), 0);
  }
  EXPECT_EQ(count(), 2);
  {
    Result<Transaction> kept = Transaction::begin(database);
    ASSERT_TRUE(database.execute("DELETE FROM Cells WHERE i IS NULL"));
    EXPECT_EQ(error_text(Transaction::begin(database)),
              "database in memory: cannot start a transaction within a transaction, in 'BEGIN "
              "IMMEDIATE'");
    EXPECT_TRUE(kept->commit());
  }
  EXPECT_EQ(count(), 1);
}

TEST(SqliteReadWrite, CreatesOnlyWhenAsked) {
  const testing::TempDir folder;
  const std::filesystem::path path = folder / "runs.sqlite";
  const Result<Database> absent = Database::open_read_write(path, Create::No);
  EXPECT_EQ(error_text(absent), path.string() + ": no such file");
  EXPECT_EQ(absent.error().kind(), ErrorKind::NotFound);
  EXPECT_FALSE(std::filesystem::exists(path));
  {
    Result<Database> made = Database::open_read_write(path, Create::Yes);
    ASSERT_TRUE(made) << error_text(made);
    ASSERT_TRUE(made->execute("CREATE TABLE run (id)"));
  }
  Result<Database> again = Database::open_read_write(path, Create::No);
  ASSERT_TRUE(again) << error_text(again);
  EXPECT_TRUE(*again->has_table("run"));

  const Result<Database> nowhere =
      Database::open_read_write(folder / "none" / "runs.sqlite", Create::Yes);
  EXPECT_EQ(error_text(nowhere),
            (folder / "none" / "runs.sqlite").string() + ": its folder does not exist");
  EXPECT_EQ(nowhere.error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(error_text(Database::open_read_write(folder.path(), Create::Yes)),
            folder.path().string() + ": is a folder, not an SQLite database");
}

TEST(SqliteReadWrite, RunsNoTriggersAndReadsNoViews) {
  const testing::TempDir folder;
  const std::filesystem::path path = folder / "runs.sqlite";
  Result<Database> database = Database::open_read_write(path, Create::Yes);
  ASSERT_TRUE(database) << error_text(database);
  ASSERT_TRUE(
      database->execute("CREATE TABLE run (id); CREATE TABLE victim (id);"
                        "INSERT INTO victim VALUES (1);"
                        "CREATE TRIGGER hook AFTER INSERT ON run BEGIN DELETE FROM victim; END;"
                        "CREATE VIEW metric AS SELECT id FROM run;"
                        "INSERT INTO run VALUES (1);"));
  EXPECT_EQ(database->query_value<std::int64_t>("SELECT count(*) FROM victim").value(), 1);
  EXPECT_EQ(error_text(database->query_value<std::int64_t>("SELECT count(*) FROM metric")),
            path.string() +
                ": access to view \"metric\" prohibited, in 'SELECT count(*) FROM "
                "metric'");
}

TEST(SqliteReadWrite, RefusesALink) {
  const testing::TempDir folder;
  ASSERT_TRUE(Database::open_read_write(folder / "theirs.sqlite", Create::Yes));
  std::filesystem::create_symlink(folder / "theirs.sqlite", folder / "runs.sqlite");
  std::filesystem::create_symlink(folder / "nowhere", folder / "dangling.sqlite");
  for (const char* name : {"runs.sqlite", "dangling.sqlite"}) {
    const Result<Database> database = Database::open_read_write(folder / name, Create::Yes);
    EXPECT_EQ(error_text(database), (folder / name).string() + ": is a link");
    EXPECT_EQ(database.error().kind(), ErrorKind::Io);
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "nowhere"));
  // The folder itself may be reached through a link.
  std::filesystem::create_directory_symlink(folder.path(), folder / "here");
  EXPECT_TRUE(Database::open_read_write(folder / "here/theirs.sqlite", Create::No));
}

/// A journal left by a transaction over two databases, whose common journal has this name.
std::string journal_naming(const std::string& victim) {
  const std::string magic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
  const auto number = [](std::uint32_t value) {
    std::string bytes;
    for (const unsigned shift : {24U, 16U, 8U, 0U}) bytes += static_cast<char>(value >> shift);
    return bytes;
  };
  std::uint32_t sum = 0;
  for (const char byte : victim) sum += static_cast<std::uint32_t>(byte);
  return magic + std::string(504, '\0') + number(0x40000000 / 4096 + 1) + victim +
         number(static_cast<std::uint32_t>(victim.size())) + number(sum) + magic;
}

TEST(SqliteReadWrite, RemovesNoFileThatAJournalNames) {
  const testing::TempDir folder;
  const std::filesystem::path path = folder / "runs.sqlite";
  ASSERT_TRUE(Database::open_read_write(path, Create::Yes)->execute("CREATE TABLE run (id)"));
  const std::filesystem::path victim = folder / "victim";
  ASSERT_TRUE(write_file_atomic(victim, "precious"));
  ASSERT_TRUE(write_file_atomic(folder / "runs.sqlite-journal", journal_naming(victim.string())));
  EXPECT_EQ(error_text(Database::open_read_write(path, Create::No)),
            path.string() + ": has a -journal file that profline did not write");
  EXPECT_TRUE(std::filesystem::exists(victim));
}

TEST(SqliteReadWrite, TellsOfALock) {
  const testing::TempDir folder;
  const std::filesystem::path path = folder / "runs.sqlite";
  Result<Database> first = Database::open_read_write(path, Create::Yes);
  ASSERT_TRUE(first) << error_text(first);
  const OpenOptions impatient = {.busy_timeout = milliseconds(0)};
  Result<Database> second = Database::open_read_write(path, Create::No, impatient);
  ASSERT_TRUE(second) << error_text(second);
  const Result<Transaction> holding = Transaction::begin(*first);
  ASSERT_TRUE(holding) << error_text(holding);
  const Result<Transaction> waiting = Transaction::begin(*second);
  EXPECT_EQ(error_text(waiting), path.string() + ": database is locked, in 'BEGIN IMMEDIATE'");
  EXPECT_EQ(waiting.error().kind(), ErrorKind::Io);
}

}  // namespace
}  // namespace profline::sqlite
