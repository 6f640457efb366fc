#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;
struct sqlite3_value;

/// SQLite databases: what nsys exports, and our own index of runs. For use by one thread.
///
/// Errors name the file, SQLite's message and the SQL. Kinds: NotFound for a missing file; Parse
/// for a file that is not a database, is damaged, or lacks what the SQL asks for; Io for one that
/// is locked, unwritable or unreadable; Config for a violated constraint.
namespace profline::sqlite {

using Blob = std::span<const std::byte>;

namespace internal {
/// An open database and its name for messages. Errors on closing are bugs: a Statement must not
/// outlive its Database.
class Connection {
 public:
  Connection(sqlite3* handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  sqlite3* handle() const { return handle_; }
  const std::string& name() const { return name_; }
  /// The last failure on this connection, as our Error.
  Error error(int code, std::string_view sql) const;
  /// An Error of our own, with the SQL it is about.
  Error complaint(ErrorKind kind, std::string what, std::string_view sql) const;

 private:
  sqlite3* handle_;
  std::string name_;
};

struct Finalize {
  void operator()(sqlite3_stmt* statement) const;
};

/// What a cell must hold to be read as T, for messages.
template <typename T>
constexpr std::string_view kExpected = "a text";
template <>
inline constexpr std::string_view kExpected<std::int64_t> = "an integer";
template <>
inline constexpr std::string_view kExpected<double> = "a real";
template <>
inline constexpr std::string_view kExpected<Blob> = "a blob";
template <typename T>
constexpr std::string_view kExpected<std::optional<T>> = kExpected<T>;

// False if the cell holds another type. These are the inner loop of every scan, hence no Result.
bool read(sqlite3_value* cell, std::int64_t& value);
bool read(sqlite3_value* cell, double& value);
bool read(sqlite3_value* cell, std::string_view& text);
bool read(sqlite3_value* cell, std::string& text);
bool read(sqlite3_value* cell, Blob& blob);
}  // namespace internal

/// The cells of one row of Database::scan().
class Row {
 public:
  explicit Row(std::span<sqlite3_value* const> cells) : cells_(cells) {}

  /// As Statement::try_get(). Views are valid until the visit of the row ends.
  template <typename T>
  bool try_get(int column, T& value) const {
    PL_ASSERT(column >= 0 && static_cast<std::size_t>(column) < cells_.size(), "it is a column");
    return internal::read(cells_[static_cast<std::size_t>(column)], value);
  }

 private:
  std::span<sqlite3_value* const> cells_;
};

/// A prepared SQL statement: bind, step through the rows, reset, repeat.
///
///   sqlite::Statement kernels = PL_TRY(db.query("SELECT start, end FROM K WHERE s = ?", stream));
///   while (PL_TRY(kernels.step())) use(PL_TRY(kernels.get<std::int64_t>(0)));
///
/// Reading rows does not allocate. Must not outlive the Database it came from.
class Statement {
 public:
  /// Parameters count from 1, as in SQL; names are written as in the SQL, `:stream`. Text and blobs
  /// are copied. Call only before the first step or after reset().
  Result<void> bind(int index, std::int64_t value);
  Result<void> bind(int index, double value);
  Result<void> bind(int index, std::string_view text);
  Result<void> bind(int index, Blob blob);
  Result<void> bind(int index, std::nullptr_t null);
  Result<void> bind(int index, const char* text) { return bind(index, std::string_view(text)); }
  template <typename T>
  requires(std::is_integral_v<T>) Result<void> bind(int index, T value) {
    static_assert(sizeof(T) < 8 || std::is_signed_v<T>, "SQLite has no unsigned 64-bit integers");
    return bind(index, static_cast<std::int64_t>(value));
  }
  template <typename T>
  Result<void> bind(int index, const std::optional<T>& value) {
    return value ? bind(index, *value) : bind(index, nullptr);
  }
  template <typename T>
  Result<void> bind(std::string_view name, const T& value) {
    return bind(PL_TRY(parameter(name)), value);
  }
  /// Binds all parameters in order; an Error if the number of values differs, because SQLite would
  /// use NULL for missing ones.
  template <typename... Values>
  Result<void> bind_all(const Values&... values) {
    PL_TRY(expect_parameters(sizeof...(values)));
    int index = 0;
    Result<void> done;
    // Stops at the first failure.
    static_cast<void>(((done = bind(++index, values)).has_value() && ...));
    return done;
  }

  /// Advances to the next row; false after the last one, until reset().
  Result<bool> step();
  /// Rewinds to before the first row; bindings stay.
  void reset();

  int column_count() const;
  /// Columns count from 0.
  std::string_view column_name(int column) const;
  /// The first column of this name.
  Result<int> column(std::string_view name) const;

  /// A cell of the current row, strictly typed: std::int64_t for an integer, double for a real or
  /// an integer, std::string_view or std::string for a text, Blob for a blob, std::optional of any
  /// of these also for NULL. Anything else is an Error: SQLite lets any cell hold any type. Views
  /// are valid until the next step() or reset().
  template <typename T>
  Result<T> get(int column) const {
    T value{};
    PL_TRY(get_to(column, value));
    return value;
  }
  bool is_null(int column) const;
  /// The same for scans of untrusted data: false, and `value` unchanged or NULL, if the cell holds
  /// another type.
  template <typename T>
  bool try_get(int column, T& value) const {
    return read(column, value);
  }

  /// Calls `visit` with the cells of each row, typed as by get(); it may return a Result<void>,
  /// whose Error ends the loop.
  ///
  ///   PL_TRY(statement.each<std::int64_t, std::string_view>([&](auto start, auto name) {...}));
  template <typename... Columns, typename Visit>
  Result<void> each(Visit&& visit) {
    while (PL_TRY(step())) {
      PL_TRY((visit_row<Columns...>(visit, std::index_sequence_for<Columns...>())));
    }
    return {};
  }

 private:
  friend class Database;
  Statement(sqlite3_stmt* statement, const internal::Connection& connection)
      : statement_(statement), connection_(&connection) {}

  Result<int> parameter(std::string_view name) const;
  Result<void> expect_parameters(std::size_t count) const;
  std::string_view sql() const;
  Result<void> check_bound(int code) const;
  Error mismatch(int column, std::string_view expected) const;
  void require_cell(int column) const;

  sqlite3_value* cell(int column) const;
  template <typename T>
  bool read(int column, T& value) const {
    return internal::read(cell(column), value);
  }
  template <typename T>
  bool read(int column, std::optional<T>& value) const {
    if (is_null(column)) {
      value.reset();
      return true;
    }
    return read(column, value.emplace());
  }

  template <typename T>
  Result<void> get_to(int column, T& value) const {
    if (read(column, value)) return {};
    return mismatch(column, internal::kExpected<T>);
  }

  template <typename... Columns, typename Visit, std::size_t... kIndex>
  Result<void> visit_row(Visit& visit, std::index_sequence<kIndex...>) const {
    std::tuple<Columns...> cells;
    if (!(read(static_cast<int>(kIndex), std::get<kIndex>(cells)) && ...)) {
      Result<void> failure;
      static_cast<void>(
          ((failure = get_to(static_cast<int>(kIndex), std::get<kIndex>(cells))).has_value() &&
           ...));
      return failure;
    }
    if constexpr (std::is_void_v<std::invoke_result_t<Visit&, const Columns&...>>) {
      visit(std::as_const(std::get<kIndex>(cells))...);
      return {};
    } else {
      return visit(std::as_const(std::get<kIndex>(cells))...);
    }
  }

  std::unique_ptr<sqlite3_stmt, internal::Finalize> statement_;
  const internal::Connection* connection_;
  int cells_ = 0;  // in the current row; 0 without a row
  bool done_ = false;
};

struct OpenOptions {
  /// How long to wait for another program's lock.
  std::chrono::milliseconds busy_timeout{2000};
  /// Up to this much of the file is mapped instead of read. Off by default: a file that shrinks
  /// while it is mapped kills the program (SIGBUS), and the gain is small (see sqlite_bench.cpp).
  std::int64_t mmap_bytes = 0;
  /// Also open a truncated or otherwise damaged file, as far as SQLite can read it: reading fails
  /// with an Error where it cannot, and the rows before that are valid. Only for open_read_only()
  /// and from_bytes().
  bool damaged_too = false;
};

enum class Create { No, Yes };

class Database {
 public:
  /// Opens somebody else's database without leaving a trace: neither it nor anything next to it is
  /// written, and its folder may be unwritable. The database is not trusted: no code in its schema
  /// runs beyond SQLite's harmless functions, nothing is attached, no extension is loaded.
  ///
  /// A file in WAL mode with an empty -wal is read as `immutable`, because SQLite would otherwise
  /// create files next to it; do not open one that somebody may start writing to. If the -wal holds
  /// changes, the file is read through the writer's -shm, and refused without a -shm: ignoring
  /// these changes would lose data silently.
  static Result<Database> open_read_only(const std::filesystem::path& path,
                                         const OpenOptions& options = {});
  /// Opens a database of our own. Foreign keys are enforced; triggers and views are disabled, as we
  /// create none. A link is refused.
  static Result<Database> open_read_write(const std::filesystem::path& path, Create create,
                                          const OpenOptions& options = {});
  static Result<Database> in_memory();
  /// Somebody else's database as bytes, trusted as little as by open_read_only().
  static Result<Database> from_bytes(std::string_view bytes, const OpenOptions& options = {});

  /// One statement; more than one in the text is an Error.
  Result<Statement> prepare(std::string_view sql);
  /// Prepares and binds.
  template <typename... Values>
  Result<Statement> query(std::string_view sql, const Values&... values) {
    Statement statement = PL_TRY(prepare(sql));
    PL_TRY(statement.bind_all(values...));
    return statement;
  }
  /// The first cell of the first row; an Error if there are no rows. T owns its value.
  template <typename T, typename... Values>
  Result<T> query_value(std::string_view sql, const Values&... values) {
    static_assert(!std::is_same_v<T, std::string_view> && !std::is_same_v<T, Blob>,
                  "the statement that a view points into is gone");
    Statement statement = PL_TRY(query(sql, values...));
    if (!PL_TRY(statement.step())) return no_row(sql);
    return statement.get<T>(0);
  }
  /// Calls `visit` with each row of `SELECT <columns> FROM <from>` until it returns false: for
  /// large tables, because SQLite then hands all cells of a row over at once, which costs less than
  /// stepping through a Statement. `visit` may use this database. An exception of `visit` passes
  /// through.
  Result<void> scan(std::string_view columns, std::string_view from,
                    const std::function<bool(const Row& row)>& visit);
  /// Runs all the statements in order and discards any rows.
  Result<void> execute(const std::string& sql);

  struct Column {
    std::string name;
    std::string declared_type;  // as written in the schema; a cell may hold something else
  };
  /// Names of the tables, sorted; without SQLite's own.
  Result<std::vector<std::string>> tables();
  /// The columns of a table, in its order; an Error if there is no such table.
  Result<std::vector<Column>> columns(std::string_view table);
  /// Ignores case, as SQL does.
  Result<bool> has_table(std::string_view table);
  Result<bool> has_column(std::string_view table, std::string_view column);

  /// SQLite's own check for damage: its findings, empty if the file is sound. Reads the whole file.
  Result<std::vector<std::string>> quick_check();

  const std::string& name() const { return connection_->name(); }

 private:
  friend class Transaction;
  struct How;
  explicit Database(std::unique_ptr<internal::Connection> connection)
      : connection_(std::move(connection)) {}
  static Result<Database> open(const How& how, const OpenOptions& options);
  Result<void> settle(const How& how, const OpenOptions& options);
  Error no_row(std::string_view sql) const;

  std::unique_ptr<internal::Connection> connection_;
  bool can_scan_ = false;  // SQLite knows the function that scan() uses
};

/// Everything until commit() happens, or nothing does. The write lock is taken at once. Must not
/// outlive the Database.
class Transaction {
 public:
  static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  /// Call once; after an Error nothing was kept, and the destructor undoes the rest.
  Result<void> commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}

  Database* database_;
};

}  // namespace profline::sqlite
