// Reads large tables with several threads: SQLite decodes about two million rows per second on a
// core, and a capture has tens of millions.

#include <algorithm>
#include <atomic>
#include <thread>

#include "tools/nsys/internal/import.h"

namespace profline::nsys::internal {
namespace {

constexpr std::int64_t kRowsPerSlice = 200'000;
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

std::vector<Slice> slices_of(std::int64_t last_row_id) {
  std::vector<Slice> slices;
  for (std::int64_t first = 1; first <= last_row_id; first += kRowsPerSlice) {
    slices.push_back({first, first + kRowsPerSlice - 1});
  }
  if (slices.empty()) return {Slice()};
  slices.front().first = Slice().first;
  slices.back().last = Slice().last;
  return slices;
}

Part read_part(const Import& whole, const Slice& slice, const std::function<void(Import&)>& read) {
  Part part;
  Result<sqlite::Database> database =
      sqlite::Database::open_read_only(*whole.path, {.damaged_too = true});
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

/// Appends the part's rows, with references renumbered, and empties it.
void merge(Import& file, Part& part) {
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
  part = Part();
}

}  // namespace

void read_in_slices(Import& file, const std::string& table,
                    const std::function<void(Import&)>& read) {
  if (file.take_piece) return read(file);
  const std::int64_t last = file.last_row_id(table).value_or(0);
  const std::size_t rows = file.rows_at_most(table);
  // A wrong id that overstates the number of rows would make endless slices.
  const bool is_large = last > kRowsPerSlice && static_cast<std::size_t>(last) == rows;
  if (!is_large || !file.path) return read(file);

  const std::vector<Slice> slices = slices_of(last);
  std::vector<Part> parts(slices.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t at = next++; at < slices.size(); at = next++) {
      parts[at] = read_part(file, slices[at], read);
    }
  };
  {
    const unsigned cores = std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads);
    std::vector<std::jthread> threads;
    for (unsigned thread = 1; thread < cores; ++thread) threads.emplace_back(work);
    work();
  }
  std::size_t calls = file.timeline.calls.size();
  std::size_t works = file.timeline.work.size();
  for (const Part& part : parts) {
    calls += part.timeline.calls.size();
    works += part.timeline.work.size();
  }
  file.timeline.calls.reserve(calls);
  file.timeline.work.reserve(works);
  for (Part& part : parts) {
    if (part.failure) {
      file.lose_rest(table, 0, *part.failure);
    } else {
      merge(file, part);
    }
  }
}

}  // namespace profline::nsys::internal
