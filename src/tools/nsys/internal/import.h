#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/figures.h"
#include "base/result.h"
#include "formats/sqlite.h"
#include "records/timeline.h"
#include "tools/nsys/sqlite_reader.h"

namespace profline::nsys::internal {

/// Finds the call of a piece of work by its correlation id, which is unique only within a process.
/// Ids are nearly dense, so a table of 4 bytes per id suffices; otherwise a sorted list is used.
class CallIndex {
 public:
  /// `process_of_thread` maps each row of Timeline::threads to its process, 0, 1 ... If a runtime
  /// function and the driver function that it called share an id, the one that launches counts,
  /// else the outer one. Id 0 means that a call has no id.
  static CallIndex of(const std::vector<HostCall>& calls,
                      const std::vector<std::uint32_t>& process_of_thread);

  /// kNoRow if it is unknown.
  RowIndex find(std::uint32_t process, std::uint64_t correlation) const;
  /// For the only process that made calls; kNoRow if there are several.
  RowIndex find(std::uint64_t correlation) const;

 private:
  struct Process {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint64_t count = 0;
    std::vector<RowIndex> dense;                             // by id minus `first`
    std::vector<std::pair<std::uint64_t, RowIndex>> sparse;  // sorted; the best call first

    void expect(std::uint64_t correlation);  // called for all ids first, then
    void choose_form();                      // called once, then
    void add(RowIndex row, const std::vector<HostCall>& calls);
    void sort(const std::vector<HostCall>& calls);
  };
  static RowIndex find(const Process& process, std::uint64_t correlation);

  std::vector<Process> processes_;
};

// The parts of read_sqlite(): what the tables have in common (this file), and one function per
// group of tables, which adds its rows to Import::timeline.

/// An upper bound on the rows in a database of this size.
std::uint64_t most_rows_in(sqlite::Database& database);

/// The tables of a file with their columns, as they are on disk.
using Schema = std::map<std::string, std::vector<std::string>, std::less<>>;
Result<Schema> read_schema(sqlite::Database& database);

/// In quotes, for a name from the file.
std::string sql_name(std::string_view identifier);

/// The texts of StringIds, each fetched at the first use of its id: the table also contains texts
/// that are never used, such as whole output files.
class Strings {
 public:
  /// `database` and `names` must outlive it. Without the table no id has a text.
  static Strings of(sqlite::Database& database, const Schema& schema, Names& names);

  /// Nothing if there is no such id.
  std::optional<Names::Id> find(std::int64_t id);
  /// Interns a text of the file, with bytes that are not UTF-8 replaced by U+FFFD.
  Names::Id intern(std::string_view text);
  /// The distinct texts that had such bytes.
  const std::set<std::string>& repaired() const { return repaired_; }
  void add_repaired(const std::set<std::string>& more) {
    repaired_.insert(more.begin(), more.end());
  }

 private:
  explicit Strings(Names& names) : names_(&names) {}

  /// For a table without a key, where each lookup would scan all of it.
  void load_all(sqlite::Database& database);

  Names* names_;
  std::optional<sqlite::Statement> lookup_;
  std::unordered_map<std::int64_t, std::optional<Names::Id>> known_;
  std::set<std::string> repaired_;
};

/// nsys' number of a process: the upper 40 bits of a globalTid, including the machine's part.
constexpr std::int64_t process_key(std::int64_t global_id) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(global_id) &
                                   ~std::uint64_t{0xFFFFFF});
}
constexpr std::int64_t pid_of(std::int64_t global_id) {
  return static_cast<std::int64_t>((static_cast<std::uint64_t>(global_id) >> 24U) & 0xFFFFFFU);
}
constexpr std::int64_t tid_of(std::int64_t global_id) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(global_id) & 0xFFFFFFU);
}

/// A row of a table, with columns in the requested order. A cell that is absent, NULL or of another
/// type gives the fallback.
class Rows {
 public:
  explicit Rows(const sqlite::Row& row) : row_(row) {}

  std::int64_t integer(int column, std::int64_t fallback = 0) const {
    std::int64_t value = fallback;
    return row_.try_get(column, value) ? value : fallback;
  }
  std::optional<std::int64_t> maybe(int column) const {
    std::int64_t value = 0;
    if (!row_.try_get(column, value)) return std::nullopt;
    return value;
  }
  std::optional<std::string_view> text(int column) const {
    std::string_view value;
    if (!row_.try_get(column, value)) return std::nullopt;
    return value;
  }
  std::optional<double> real(int column) const {
    if (const auto whole = maybe(column)) return static_cast<double>(*whole);
    double value = 0;
    if (!row_.try_get(column, value)) return std::nullopt;
    return value;
  }
  /// The bytes of a blob or of a text.
  std::optional<std::string_view> bytes(int column) const {
    sqlite::Blob value;
    if (!row_.try_get(column, value)) return text(column);
    return std::string_view(reinterpret_cast<const char*>(value.data()), value.size());
  }

 private:
  const sqlite::Row& row_;
};

/// Rows whose ids are in [first, last].
struct Slice {
  std::int64_t first = std::numeric_limits<std::int64_t>::min();
  std::int64_t last = std::numeric_limits<std::int64_t>::max();

  bool is_all() const { return *this == Slice(); }
  bool operator==(const Slice&) const = default;
};

/// The identity of a stream in nsys.
struct StreamKey {
  std::int64_t process = 0;  ///< process_key()
  std::int64_t device = 0;
  std::int64_t context = 0;
  std::int64_t stream = 0;

  auto operator<=>(const StreamKey&) const = default;
};

/// Rows that were skipped for one reason.
struct SkippedRows {
  std::uint64_t count = 0;
  std::optional<std::int64_t> first_start_ns;  ///< of those that have a start
  bool whole_table = false;
};

struct ShapeHash {
  std::size_t operator()(const LaunchShape& shape) const;
};

/// A file that is being read into a Timeline; or the part that one thread reads, see
/// read_in_slices().
struct Import {
  sqlite::Database& database;
  const Schema& schema;
  Timeline& timeline;
  Strings strings;
  std::optional<std::filesystem::path> path{};  ///< absent: only in memory
  Slicing slicing{};                            ///< of large tables
  Slice slice{};                                ///< the part of a table that is read
  /// No more rows than this fit into the file. A damaged file may contain cycles.
  std::uint64_t most_rows = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::string> tables_read{};
  std::shared_ptr<const CallIndex> calls{};  ///< shared by the threads that read work
  /// (pid, CUDA's number of a device in that process) to the machine's number of the device: a
  /// process that sees only some of the devices still counts from 0.
  std::map<std::pair<std::int64_t, std::int64_t>, std::int32_t> device_of{};
  std::unordered_map<std::int64_t, RowIndex> thread_rows{};     ///< by globalTid
  std::unordered_map<std::int64_t, std::uint32_t> processes{};  ///< by process_key, in order
  std::map<StreamKey, RowIndex> stream_rows{};
  std::unordered_map<LaunchShape, RowIndex, ShapeHash> shape_rows{};
  std::vector<std::int64_t> thread_keys{};            ///< by row of Timeline::threads: globalTid
  std::vector<StreamKey> stream_keys{};               ///< by row of Timeline::streams
  std::uint64_t unnamed = 0;                          ///< rows whose name is not in StringIds
  std::map<std::string, SkippedRows> skipped_rows{};  ///< by table and reason
  std::int64_t session_ns = 0;  ///< duration of the session according to nsys; 0: unknown
  /// If set, reading is piece by piece: called every kRowsPerPiece rows of a table, it takes the
  /// rows out of the timeline; false ends the scan. Rows are then neither linked nor ordered.
  std::function<bool()> take_piece{};

  static constexpr std::uint64_t kRowsPerPiece = 1U << 16U;

  /// The first of these tables that exists; it then counts as read.
  std::optional<std::string> table(std::initializer_list<std::string_view> names);
  bool has_column(std::string_view table, std::string_view column) const;
  /// Calls `visit(row)` for each row of the table; missing columns read as NULL. Damage ends the
  /// scan and is reported as a loss.
  template <typename Visit>
  void scan(const std::string& table, const std::vector<std::string_view>& columns, Visit&& visit) {
    std::uint64_t count = 0;
    const Result<void> done =
        database.scan(cells(table, columns), from(table), [&](const sqlite::Row& row) {
          if (++count > most_rows) return false;
          visit(Rows(row));
          return !take_piece || count % kRowsPerPiece != 0 || take_piece();
        });
    if (!done) return lose_rest(table, count, done.error());
    if (count > most_rows) lose_rest(table, most_rows, endless());
  }
  /// The columns of a SELECT, with NULL for those that the table lacks.
  std::string cells(const std::string& table, const std::vector<std::string_view>& columns) const;
  /// The table and the condition of the slice.
  std::string from(const std::string& table) const;
  /// Nothing for a table without row ids, or one that is damaged or empty.
  std::optional<std::int64_t> last_row_id(std::string_view table);
  static Error endless();
  void lose_rest(const std::string& table, std::uint64_t rows, const Error& why);
  /// An upper bound on the table's rows that does not trust the file too much; for reserve().
  std::size_t rows_at_most(std::string_view table);
  /// The same for all of these tables, as far as they exist.
  std::size_t rows_at_most(std::span<const std::string_view> tables);

  void use() { ++timeline.reading.used; }
  /// Skips the row; its first column must be its start.
  void skip(const std::string& table, std::string_view reason, const Rows& row);
  void note(std::string text) { timeline.reading.notes.push_back(std::move(text)); }

  RowIndex thread(std::int64_t global_tid);
  std::uint32_t process(std::int64_t global_id);
  RowIndex stream(const StreamKey& key);
  RowIndex shape(const LaunchShape& shape);
  /// The name of that id, else `(unnamed)`.
  Names::Id name(std::optional<std::int64_t> string_id);
};

/// Calls `read(part)` so that the parts, in order, cover the whole table: once with `import`
/// itself, or for a large table in slices by several threads, each with its own connection, merged
/// in order. `read` adds rows to the part's timeline.calls and timeline.work, and must not touch
/// shared state.
void read_in_slices(Import& import, const std::string& table,
                    const std::function<void(Import&)>& read);

/// Start and end of a row; nothing if they are not an interval: the row is then skipped and
/// counted.
struct Interval {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};
std::optional<Interval> interval(Import& import, const std::string& table, const Rows& rows);
std::optional<Interval> interval(Import& import, const std::string& table, const Rows& rows,
                                 std::optional<std::int64_t> end);

/// Differences of implausible times must not overflow.
inline constexpr std::int64_t kFarthestTime = std::int64_t{1} << 61;

void read_metadata(Import& import);
void read_calls(Import& import);  ///< before read_work(), which links to them
void read_work(Import& import);
void read_kernels_only(Import& import);  ///< instead of calls, work and ranges
void read_ranges(Import& import);
void read_samples(Import& import);
void read_diagnostics(Import& import);
void count_other_tables(Import& import);
/// Sorting, the capture's begin and end, names of threads: what needs all rows.
void finish(Import& import);
/// The same after reading piece by piece: only what needs no rows. The capture's begin and end are
/// the caller's.
void finish_pieces(Import& import);

/// nsys does not guarantee an order of rows, so the result must not depend on it. Rows are compared
/// by their content, not by numbers assigned in the order of arrival.
void order_calls(Import& import);
/// Sorts the work from `first` on; the work before that is already sorted.
void order_work(Import& import, std::size_t first);
void order_ranges(Import& import);
/// Numbers threads, streams and shapes by their content.
void renumber(Import& import);

}  // namespace profline::nsys::internal

/// NCCL's description of its calls: ranges of the NVTX domain NCCL with extended payloads, which
/// contain the size of the message and the communicator.
namespace profline::nsys::internal {

/// The relevant fields of a payload, if present.
struct NcclPayload {
  std::optional<std::uint64_t> communicator;
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint64_t> ranks;
};

/// Knows where the fields are, from the tables that nsys writes next to NVTX_EVENTS.
class NcclSchemas {
 public:
  explicit NcclSchemas(Import& import);

  bool empty() const { return fields_.empty(); }
  /// Decodes NVTX_EVENTS.binaryData; nothing if it is not a payload with one of the fields.
  std::optional<NcclPayload> decode(std::string_view bytes) const;

 private:
  enum class Field : std::uint8_t { Communicator, Bytes, Ranks };
  struct Place {
    Field field;
    std::uint64_t offset;
    std::uint64_t size;
    auto operator<=>(const Place&) const = default;
  };
  // By domain and schema. Several processes register the same ones.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<Place>> fields_;

  static std::optional<Field> field_of(std::string_view name);
  static std::uint64_t size_of_type(std::int64_t type);
};

/// Collects NCCL's calls for Timeline::collectives.
class NcclCalls {
 public:
  /// Adds a range that is a call of NCCL, with its payload if it has one.
  void add(const Range& range, const Names& names, const std::optional<NcclPayload>& payload);
  /// Makes rows, and links the kernels that a call launched to it. Call after reading work and
  /// calls.
  void finish(Timeline& timeline);

 private:
  struct Call {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    RowIndex thread = kNoRow;
    Names::Id name = 0;
    std::uint64_t communicator = 0;
    std::uint64_t bytes = 0;
    RowIndex row = kNoRow;  // in Timeline::collectives
  };
  struct GroupEnd {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
  };
  struct OfThread {
    std::vector<Call> calls;
    std::vector<GroupEnd> group_ends;
  };

  Collective collective(const Call& call, Names& names) const;
  static void put_in_order(std::vector<Call>& calls, const Names& names);
  static void link(Timeline& timeline, const std::vector<OfThread>& threads);

  std::vector<Call> calls_;
  std::map<RowIndex, std::vector<GroupEnd>> group_ends_;  // by thread
  std::map<std::uint64_t, std::uint64_t> ranks_;          // by communicator
};

}  // namespace profline::nsys::internal
