#include "tools/nsys/internal/import.h"

#include <algorithm>

#include "base/figures.h"
#include "base/strings.h"

namespace profline::nsys::internal {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// Replaces each byte that is not part of valid UTF-8.
std::string repaired_text(std::string_view text) {
  std::string whole;
  while (const auto bad = first_invalid_utf8(text)) {
    whole += text.substr(0, *bad);
    whole += kReplacement;
    text.remove_prefix(*bad + 1);
  }
  return whole += text;
}

}  // namespace

std::string sql_name(std::string_view identifier) {
  std::string text = "\"";
  for (const char byte : identifier) {
    if (byte == '"') text += '"';
    text += byte;
  }
  return text += '"';
}

std::size_t ShapeHash::operator()(const LaunchShape& shape) const {
  std::uint64_t hash = 0;
  const auto mix = [&](std::uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 29U;
  };
  mix(shape.grid[0] | std::uint64_t{shape.block[0]} << 32U);
  mix(shape.grid[1] | std::uint64_t{shape.block[1]} << 32U);
  mix(shape.grid[2] | std::uint64_t{shape.block[2]} << 32U);
  mix(shape.registers_per_thread | std::uint64_t{shape.dynamic_shared_bytes} << 32U);
  mix(shape.static_shared_bytes);
  return hash;
}

std::uint64_t most_rows_in(sqlite::Database& database) {
  constexpr std::int64_t kLeastCellBytes = 4;
  const auto pages = database.query_value<std::int64_t>("PRAGMA page_count");
  const auto page_bytes = database.query_value<std::int64_t>("PRAGMA page_size");
  if (!pages || !page_bytes) return 0;
  return static_cast<std::uint64_t>(*pages * *page_bytes / kLeastCellBytes);
}

Result<Schema> read_schema(sqlite::Database& database) {
  Schema schema;
  for (const std::string& table : PL_TRY(database.tables())) {
    // A table whose own definition is damaged is treated as absent.
    const Result<std::vector<sqlite::Database::Column>> columns = database.columns(table);
    if (!columns) continue;
    for (const sqlite::Database::Column& column : *columns) schema[table].push_back(column.name);
  }
  return schema;
}

Strings Strings::of(sqlite::Database& database, const Schema& schema, Names& names) {
  Strings strings(names);
  if (schema.find("StringIds") == schema.end()) return strings;
  const auto key = database.query_value<std::int64_t>(
      "SELECT pk FROM pragma_table_info('StringIds') WHERE name = 'id'");
  if (!key || *key == 0) {
    strings.load_all(database);
    return strings;
  }
  Result<sqlite::Statement> lookup = database.prepare("SELECT value FROM StringIds WHERE id = ?");
  if (lookup) strings.lookup_ = std::move(lookup).value();
  return strings;
}

void Strings::load_all(sqlite::Database& database) {
  Result<sqlite::Statement> all = database.prepare("SELECT id, value FROM StringIds");
  if (!all) return;
  Result<bool> there = all->step();
  while (there && *there) {
    std::int64_t id = 0;
    std::string_view text;
    if (all->try_get(0, id) && all->try_get(1, text)) {
      const Names::Id name = intern(text);
      std::optional<Names::Id>& known = known_[id];
      // If an id occurs twice, the alphabetically first text counts, whatever the order.
      if (!known || names_->text(name) < names_->text(*known)) known = name;
    }
    there = all->step();
  }
}

std::optional<Names::Id> Strings::find(std::int64_t id) {
  const auto [entry, is_new] = known_.try_emplace(id);
  if (!is_new || !lookup_) return entry->second;
  lookup_->reset();
  if (!lookup_->bind(1, id)) return std::nullopt;
  const Result<bool> there = lookup_->step();
  std::string_view text;
  if (there && *there && lookup_->try_get(0, text)) entry->second = intern(text);
  return entry->second;
}

Names::Id Strings::intern(std::string_view text) {
  if (!first_invalid_utf8(text)) return names_->id_of(text);
  repaired_.emplace(text);
  return names_->id_of(repaired_text(text));
}

std::optional<std::string> Import::table(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (schema.find(name) == schema.end()) continue;
    tables_read.emplace_back(name);
    return std::string(name);
  }
  return std::nullopt;
}

bool Import::has_column(std::string_view table, std::string_view column) const {
  const auto entry = schema.find(table);
  return entry != schema.end() &&
         std::find(entry->second.begin(), entry->second.end(), column) != entry->second.end();
}

std::string Import::cells(const std::string& table,
                          const std::vector<std::string_view>& columns) const {
  std::string sql;
  for (const std::string_view column : columns) {
    if (!sql.empty()) sql += ',';
    sql += has_column(table, column) ? sql_name(column) : "NULL";
  }
  return sql;
}

std::string Import::from(const std::string& table) const {
  if (slice.is_all()) return sql_name(table);
  return sql_name(table) + " WHERE rowid BETWEEN " + std::to_string(slice.first) + " AND " +
         std::to_string(slice.last);
}

void Import::lose_rest(const std::string& table, std::uint64_t rows, const Error& why) {
  std::string text = table + " is damaged: ";
  text += rows == 0   ? "no rows could be read"
          : rows == 1 ? "only the first row could be read"
                      : "only the first " + std::to_string(rows) + " rows could be read";
  if (!slice.is_all()) {
    text +=
        " of those from row " + std::to_string(slice.first) + " to " + std::to_string(slice.last);
  }
  if (why.kind() != ErrorKind::Parse) text += " (" + why.message() + ")";
  timeline.reading.losses.push_back(std::move(text));
}

std::optional<std::int64_t> Import::last_row_id(std::string_view table) {
  const auto last = database.query_value<std::optional<std::int64_t>>("SELECT max(rowid) FROM " +
                                                                      sql_name(table));
  return last ? *last : std::nullopt;
}

std::size_t Import::rows_at_most(std::string_view table) {
  // Looking up the last row id is cheap, counting rows is not; but it may be wrong.
  const auto last = last_row_id(table);
  if (!last || *last <= 0) return 0;
  const std::int64_t first = std::max<std::int64_t>(slice.first, 1);
  const std::int64_t ids = std::min(*last, slice.last) - first + 1;
  const std::uint64_t most = take_piece ? std::min(most_rows, kRowsPerPiece) : most_rows;
  return static_cast<std::size_t>(
      std::min(static_cast<std::uint64_t>(std::max<std::int64_t>(ids, 0)), most));
}

std::size_t Import::rows_at_most(std::span<const std::string_view> tables) {
  std::size_t rows = 0;
  for (const std::string_view table : tables) {
    if (schema.find(table) != schema.end()) rows += rows_at_most(table);
  }
  return rows;
}

Error Import::endless() {
  return Error(ErrorKind::Parse, "more rows than fit into the file");
}

void Import::skip(const std::string& table, std::string_view reason, const Rows& row) {
  SkippedRows& skipped = skipped_rows[table + ": " + std::string(reason)];
  ++skipped.count;
  const auto start = row.maybe(0);
  if (start) skipped.first_start_ns = std::min(*start, skipped.first_start_ns.value_or(*start));
}

std::uint32_t Import::process(std::int64_t global_id) {
  const auto next = static_cast<std::uint32_t>(processes.size());
  return processes.try_emplace(process_key(global_id), next).first->second;
}

RowIndex Import::thread(std::int64_t global_tid) {
  const auto [entry, is_new] =
      thread_rows.try_emplace(global_tid, static_cast<RowIndex>(timeline.threads.size()));
  if (is_new) {
    process(global_tid);
    timeline.threads.push_back({pid_of(global_tid), tid_of(global_tid), 0});
    thread_keys.push_back(global_tid);
  }
  return entry->second;
}

RowIndex Import::stream(const StreamKey& key) {
  const auto [entry, is_new] =
      stream_rows.try_emplace(key, static_cast<RowIndex>(timeline.streams.size()));
  if (is_new) {
    const auto known = device_of.find({pid_of(key.process), key.device});
    const auto device =
        known != device_of.end() ? known->second : static_cast<std::int32_t>(key.device);
    // Each process numbers its contexts separately.
    const std::uint64_t context = (static_cast<std::uint64_t>(key.context) & 0xFFFFFFFFU) |
                                  std::uint64_t{process(key.process)} << 32U;
    timeline.streams.push_back({device, context, key.stream});
    stream_keys.push_back(key);
  }
  return entry->second;
}

RowIndex Import::shape(const LaunchShape& shape) {
  const auto [entry, is_new] =
      shape_rows.try_emplace(shape, static_cast<RowIndex>(timeline.shapes.size()));
  if (is_new) timeline.shapes.push_back(shape);
  return entry->second;
}

Names::Id Import::name(std::optional<std::int64_t> string_id) {
  if (string_id) {
    if (const auto found = strings.find(*string_id)) return *found;
  }
  ++unnamed;
  return timeline.names.id_of("(unnamed)");
}

std::optional<Interval> interval(Import& file, const std::string& table, const Rows& rows) {
  return interval(file, table, rows, rows.maybe(1));
}

std::optional<Interval> interval(Import& file, const std::string& table, const Rows& rows,
                                 std::optional<std::int64_t> end) {
  const auto start = rows.maybe(0);
  if (!start || !end) {
    file.skip(table, "no start or no end", rows);
    return std::nullopt;
  }
  if (*end < *start) {
    file.skip(table, "end before start", rows);
    return std::nullopt;
  }
  if (*start < -kFarthestTime || *end > kFarthestTime) {
    file.skip(table, "a time that no clock shows", rows);
    return std::nullopt;
  }
  return Interval{*start, *end};
}

}  // namespace profline::nsys::internal
