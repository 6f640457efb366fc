#include <sqlite3.h>

#include "base/error.h"
#include "formats/sqlite.h"

namespace profline::sqlite {
namespace {

std::string_view type_name(int type) {
  switch (type) {
    case SQLITE_INTEGER:
      return "an integer";
    case SQLITE_FLOAT:
      return "a real";
    case SQLITE_TEXT:
      return "a text";
    case SQLITE_BLOB:
      return "a blob";
    default:
      return "NULL";
  }
}

}  // namespace

void internal::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);  // repeats the last step's result, which was handled
}

bool internal::read(sqlite3_value* cell, std::int64_t& value) {
  if (sqlite3_value_type(cell) != SQLITE_INTEGER) return false;
  value = sqlite3_value_int64(cell);
  return true;
}

bool internal::read(sqlite3_value* cell, double& value) {
  const int type = sqlite3_value_type(cell);
  if (type != SQLITE_FLOAT && type != SQLITE_INTEGER) return false;
  value = sqlite3_value_double(cell);
  return true;
}

bool internal::read(sqlite3_value* cell, std::string_view& text) {
  if (sqlite3_value_type(cell) != SQLITE_TEXT) return false;
  const void* const data = sqlite3_value_text(cell);
  if (data == nullptr) return false;           // no memory to turn UTF-16 into UTF-8
  const int size = sqlite3_value_bytes(cell);  // after value_text: its size
  text = {static_cast<const char*>(data), static_cast<std::size_t>(size)};
  return true;
}

bool internal::read(sqlite3_value* cell, std::string& text) {
  std::string_view view;
  if (!read(cell, view)) return false;
  text = view;
  return true;
}

bool internal::read(sqlite3_value* cell, Blob& blob) {
  if (sqlite3_value_type(cell) != SQLITE_BLOB) return false;
  const void* const data = sqlite3_value_blob(cell);
  const int size = sqlite3_value_bytes(cell);
  blob = {static_cast<const std::byte*>(data), static_cast<std::size_t>(size)};
  return true;
}

Result<void> Statement::bind(int index, std::int64_t value) {
  return check_bound(sqlite3_bind_int64(statement_.get(), index, value));
}

Result<void> Statement::bind(int index, double value) {
  return check_bound(sqlite3_bind_double(statement_.get(), index, value));
}

Result<void> Statement::bind(int index, std::string_view text) {
  // An empty view may have no address, which SQLite would take for NULL.
  const char* const data = text.data() != nullptr ? text.data() : "";
  return check_bound(sqlite3_bind_text64(statement_.get(), index, data, text.size(),
                                         SQLITE_TRANSIENT, SQLITE_UTF8));
}

Result<void> Statement::bind(int index, Blob blob) {
  if (blob.empty()) return check_bound(sqlite3_bind_zeroblob(statement_.get(), index, 0));
  return check_bound(
      sqlite3_bind_blob64(statement_.get(), index, blob.data(), blob.size(), SQLITE_TRANSIENT));
}

Result<void> Statement::bind(int index, std::nullptr_t) {
  return check_bound(sqlite3_bind_null(statement_.get(), index));
}

std::string_view Statement::sql() const {
  return sqlite3_sql(statement_.get());
}

Result<void> Statement::check_bound(int code) const {
  if (code == SQLITE_OK) return {};
  return connection_->error(code, sql());
}

Result<int> Statement::parameter(std::string_view name) const {
  const int index = sqlite3_bind_parameter_index(statement_.get(), std::string(name).c_str());
  if (index > 0) return index;
  return connection_->complaint(ErrorKind::Parse, "no parameter '" + std::string(name) + "'",
                                sql());
}

Result<void> Statement::expect_parameters(std::size_t count) const {
  const auto there = static_cast<std::size_t>(sqlite3_bind_parameter_count(statement_.get()));
  if (there == count) return {};
  return connection_->complaint(
      ErrorKind::Parse,
      "parameters: " + std::to_string(there) + ", values: " + std::to_string(count), sql());
}

Result<bool> Statement::step() {
  cells_ = 0;
  if (done_) return false;  // SQLite would begin again
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) {
    cells_ = sqlite3_data_count(statement_.get());
    return true;
  }
  done_ = true;
  if (code == SQLITE_DONE) return false;
  return connection_->error(code, sql());
}

void Statement::reset() {
  sqlite3_reset(statement_.get());  // repeats the last step's result, which was handled
  cells_ = 0;
  done_ = false;
}

int Statement::column_count() const {
  return sqlite3_column_count(statement_.get());
}

std::string_view Statement::column_name(int column) const {
  PL_ASSERT(column >= 0 && column < column_count(), "the column exists");
  return sqlite3_column_name(statement_.get(), column);
}

Result<int> Statement::column(std::string_view name) const {
  for (int column = 0; column < column_count(); ++column) {
    if (column_name(column) == name) return column;
  }
  return connection_->complaint(ErrorKind::Parse, "no column '" + std::string(name) + "'", sql());
}

bool Statement::is_null(int column) const {
  require_cell(column);
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

void Statement::require_cell(int column) const {
  PL_ASSERT(column >= 0 && column < cells_, "step() gave a row, and it has this column");
}

Error Statement::mismatch(int column, std::string_view expected) const {
  const std::string_view actual = type_name(sqlite3_column_type(statement_.get(), column));
  return connection_->complaint(ErrorKind::Parse,
                                "column '" + std::string(column_name(column)) + "' holds " +
                                    std::string(actual) + " where " + std::string(expected) +
                                    " is expected",
                                sql());
}

sqlite3_value* Statement::cell(int column) const {
  require_cell(column);
  // SQLite calls this value unprotected because other threads might change it; a connection has
  // only one thread.
  return sqlite3_column_value(statement_.get(), column);
}

Result<Transaction> Transaction::begin(Database& database) {
  PL_TRY(database.execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::~Transaction() {
  // SQLite itself rolls back on some failures (a full disk); then no transaction is active.
  if (database_ == nullptr || sqlite3_get_autocommit(database_->connection_->handle()) != 0) return;
  // A destructor cannot report a failure, and the next reader undoes an unfinished transaction
  // anyway.
  static_cast<void>(database_->execute("ROLLBACK"));
}

Result<void> Transaction::commit() {
  PL_ASSERT(database_ != nullptr, "a transaction is committed once");
  PL_TRY(database_->execute("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace profline::sqlite
