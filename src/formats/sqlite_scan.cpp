#include <cstddef>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include "base/error.h"
#include "formats/sqlite.h"

namespace profline::sqlite {
namespace {

constexpr const char* kVisitType = "profline visit";

struct Visit {
  const std::function<bool(const Row& row)>& function;
  bool has_stopped = false;
  std::exception_ptr failure{};  // SQLite is C, and nothing may be thrown through it
};

/// Called for each row: the visit, then the cells.
void visit_row(sqlite3_context* context, int count, sqlite3_value** values) {
  auto* const visit =
      static_cast<Visit*>(count > 0 ? sqlite3_value_pointer(values[0], kVisitType) : nullptr);
  if (visit == nullptr) return sqlite3_result_error(context, "only for Database::scan()", -1);
  try {
    visit->has_stopped =
        !visit->function(Row(std::span(values + 1, static_cast<std::size_t>(count - 1))));
  } catch (...) {
    visit->has_stopped = true;
    visit->failure = std::current_exception();
  }
  if (visit->has_stopped) sqlite3_result_error(context, "stopped", -1);
}

void end_visits(sqlite3_context* /*context*/) {}

}  // namespace

Result<void> Database::scan(std::string_view columns, std::string_view from,
                            const std::function<bool(const Row& row)>& visit) {
  if (!can_scan_) {
    // An aggregate, so that the statement has one row; its result is of no interest. Only our own
    // SQL may call it: what the schema of a file contains may not.
    const int code = sqlite3_create_function_v2(connection_->handle(), "profline_visit", -1,
                                                SQLITE_UTF8 | SQLITE_DIRECTONLY, nullptr, nullptr,
                                                visit_row, end_visits, nullptr);
    if (code != SQLITE_OK) return connection_->error(code, {});
    can_scan_ = true;
  }
  std::string sql = "SELECT profline_visit(?,";
  sql.append(columns).append(") FROM ").append(from);
  Statement statement = PL_TRY(prepare(sql));
  Visit state{visit};
  PL_TRY(statement.check_bound(
      sqlite3_bind_pointer(statement.statement_.get(), 1, &state, kVisitType, nullptr)));
  const Result<bool> row = statement.step();
  if (state.failure) std::rethrow_exception(state.failure);
  if (!row && !state.has_stopped) return row.error();
  return {};
}

}  // namespace profline::sqlite
