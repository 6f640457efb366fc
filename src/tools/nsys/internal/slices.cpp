// Reads large tables with several threads: SQLite decodes about two million rows per second on a
// core, and a capture has tens of millions.

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "tools/nsys/internal/import.h"

namespace profline::nsys::internal {
namespace {

constexpr unsigned kMostThreads = 8;

/// The result of one slice.
struct Part {
  Timeline timeline;
  std::unordered_map<std::int64_t, RowIndex> thread_rows;
  std::map<StreamKey, RowIndex> stream_rows;
  std::uint64_t unnamed = 0;
  std::map<std::string, SkippedRows> skipped_rows;
  std::set<std::string> repaired;
  std::optional<Error> failure;
};

std::vector<Slice> slices_of(std::int64_t last_row_id, std::int64_t rows) {
  std::vector<Slice> slices;
  for (std::int64_t first = 1; first <= last_row_id; first += rows) {
    slices.push_back({first, first + rows - 1});
  }
  if (slices.empty()) return {Slice()};
  slices.front().first = Slice().first;
  slices.back().last = Slice().last;
  return slices;
}

/// What threads need to know about the file. They copy it because the file's tables grow while
/// parts are merged into them.
struct Source {
  explicit Source(const Import& file)
      : path(*file.path),
        schema(file.schema),
        most_rows(file.most_rows),
        calls(file.calls),
        device_of(file.device_of),
        processes(file.processes) {}

  std::filesystem::path path;
  const Schema& schema;
  std::uint64_t most_rows;
  std::shared_ptr<const CallIndex> calls;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int32_t> device_of;
  std::unordered_map<std::int64_t, std::uint32_t> processes;
};

/// The memory of rows that were merged, for the next slice: new memory costs as much as the rows.
struct Buffers {
  std::vector<HostCall> calls;
  std::vector<DeviceWork> work;
};

Part read_part(const Source& whole, const Slice& slice, Buffers buffers,
               const std::function<void(Import&)>& read) {
  Part part;
  part.timeline.calls = std::move(buffers.calls);
  part.timeline.work = std::move(buffers.work);
  Result<sqlite::Database> database =
      sqlite::Database::open_read_only(whole.path, {.damaged_too = true});
  if (!database) {
    part.failure = std::move(database).error();
    return part;
  }
  Import file{.database = *database,
              .schema = whole.schema,
              .timeline = part.timeline,
              .strings = Strings::of(*database, whole.schema, part.timeline.names),
              .slice = slice,
              .most_rows = whole.most_rows,
              .calls = whole.calls,
              .device_of = whole.device_of,
              .processes = whole.processes};
  read(file);
  part.thread_rows = std::move(file.thread_rows);
  part.stream_rows = std::move(file.stream_rows);
  part.unnamed = file.unnamed;
  part.skipped_rows = std::move(file.skipped_rows);
  part.repaired = file.strings.repaired();
  return part;
}

std::vector<RowIndex> merged_threads(Import& file, const Part& part) {
  // In the order of occurrence in the part, so that the result does not depend on the hash.
  std::vector<std::int64_t> ids(part.thread_rows.size());
  for (const auto& [id, row] : part.thread_rows) ids[row] = id;
  std::vector<RowIndex> rows;
  rows.reserve(ids.size());
  for (const std::int64_t id : ids) rows.push_back(file.thread(id));
  return rows;
}

std::vector<RowIndex> merged_streams(Import& file, const Part& part) {
  std::vector<StreamKey> keys(part.stream_rows.size());
  for (const auto& [key, row] : part.stream_rows) keys[row] = key;
  std::vector<RowIndex> rows;
  rows.reserve(keys.size());
  for (const StreamKey& key : keys) rows.push_back(file.stream(key));
  return rows;
}

void merge_reading(Import& file, Reading part) {
  Reading& whole = file.timeline.reading;
  whole.used += part.used;
  std::move(part.notes.begin(), part.notes.end(), std::back_inserter(whole.notes));
  std::move(part.losses.begin(), part.losses.end(), std::back_inserter(whole.losses));
}

void merge_skipped(Import& file, const std::map<std::string, SkippedRows>& part) {
  for (const auto& [reason, rows] : part) {
    SkippedRows& whole = file.skipped_rows[reason];
    whole.count += rows.count;
    if (!rows.first_start_ns) continue;
    whole.first_start_ns =
        std::min(*rows.first_start_ns, whole.first_start_ns.value_or(*rows.first_start_ns));
  }
}

/// Appends the part's rows, with references renumbered. Leaves it with nothing but their memory.
Buffers merge(Import& file, Part part) {
  Timeline& whole = file.timeline;
  std::vector<Names::Id> names;
  for (Names::Id id = 0; id < part.timeline.names.size(); ++id) {
    names.push_back(whole.names.id_of(part.timeline.names.text(id)));
  }
  std::vector<RowIndex> shapes;
  for (const LaunchShape& shape : part.timeline.shapes) shapes.push_back(file.shape(shape));
  const std::vector<RowIndex> threads = merged_threads(file, part);
  const std::vector<RowIndex> streams = merged_streams(file, part);
  for (HostCall call : part.timeline.calls) {
    call.name = names[call.name];
    call.thread = threads[call.thread];
    whole.calls.push_back(call);
  }
  for (DeviceWork work : part.timeline.work) {
    work.name = names[work.name];
    if (work.shape != kNoRow) work.shape = shapes[work.shape];
    if (work.stream != kNoRow) work.stream = streams[work.stream];
    whole.work.push_back(work);
  }
  merge_reading(file, std::move(part.timeline.reading));
  merge_skipped(file, part.skipped_rows);
  file.unnamed += part.unnamed;
  file.strings.add_repaired(part.repaired);
  Buffers buffers{std::move(part.timeline.calls), std::move(part.timeline.work)};
  buffers.calls.clear();
  buffers.work.clear();
  return buffers;
}

/// The slices of a table, read by several threads and merged in their order. Only a few that were
/// read wait for their turn, because every row that waits is in memory twice.
class SlicedTable {
 public:
  SlicedTable(Import& file, const std::string& table, std::vector<Slice> slices,
              const std::function<void(Import&)>& read)
      : file_(file), source_(file), table_(table), slices_(std::move(slices)), read_(read) {}

  void read_with(unsigned threads) {
    most_waiting_ = std::size_t{2} * threads;
    std::vector<std::jthread> others;
    for (unsigned thread = 1; thread < threads; ++thread) {
      others.emplace_back([this] {
        while (const auto slice = next_slice()) read_slice(*slice);
      });
    }
    // This thread merges what is ready, and reads a slice if nothing is.
    for (std::size_t turn = 0; turn < slices_.size(); ++turn) {
      while (const auto slice = slice_before(turn)) read_slice(*slice);
      Part part = take(turn);
      if (part.failure) {
        file_.lose_rest(table_, 0, *part.failure);
      } else {
        keep(merge(file_, std::move(part)));
      }
    }
  }

 private:
  /// The next slice to read, as soon as few enough wait; nothing after the last one.
  std::optional<std::size_t> next_slice() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock,
                  [this] { return next_ == slices_.size() || next_ < merged_ + most_waiting_; });
    if (next_ == slices_.size()) return std::nullopt;
    return next_++;
  }

  /// The same for the thread that merges, as long as the slice whose turn it is was not read. Never
  /// waits for others to merge, which only this thread does.
  std::optional<std::size_t> slice_before(std::size_t turn) {
    const std::lock_guard lock(mutex_);
    const bool is_needed = !parts_.contains(turn) && next_ < slices_.size();
    if (!is_needed || next_ >= merged_ + most_waiting_) return std::nullopt;
    return next_++;
  }

  void read_slice(std::size_t slice) {
    Part part = read_part(source_, slices_[slice], spare_buffers(), read_);
    {
      const std::lock_guard lock(mutex_);
      parts_.emplace(slice, std::move(part));
    }
    changed_.notify_all();
  }

  Buffers spare_buffers() {
    const std::lock_guard lock(mutex_);
    if (spare_.empty()) return {};
    Buffers buffers = std::move(spare_.back());
    spare_.pop_back();
    return buffers;
  }

  void keep(Buffers buffers) {
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(buffers));
  }

  Part take(std::size_t turn) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return parts_.contains(turn); });
    Part part = std::move(parts_.extract(turn).mapped());
    ++merged_;
    lock.unlock();
    changed_.notify_all();
    return part;
  }

  Import& file_;
  const Source source_;
  const std::string& table_;
  const std::vector<Slice> slices_;
  const std::function<void(Import&)>& read_;
  std::size_t most_waiting_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::size_t, Part> parts_;  // that were read and not merged
  std::vector<Buffers> spare_;
  std::size_t next_ = 0;
  std::size_t merged_ = 0;
};

}  // namespace

void read_in_slices(Import& file, const std::string& table,
                    const std::function<void(Import&)>& read) {
  if (file.take_piece) return read(file);
  const std::int64_t last = file.last_row_id(table).value_or(0);
  const std::size_t rows = file.rows_at_most(table);
  // A wrong id that overstates the number of rows would make endless slices.
  const bool is_large = last > file.slicing.rows && static_cast<std::size_t>(last) == rows;
  if (!is_large || !file.path) return read(file);
  const unsigned cores = std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads);
  const unsigned threads = file.slicing.threads != 0 ? file.slicing.threads : cores;
  SlicedTable(file, table, slices_of(last, file.slicing.rows), read).read_with(threads);
}

}  // namespace profline::nsys::internal
