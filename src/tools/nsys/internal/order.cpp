// The order of rows and numbers of a Timeline, independent of the order in the file.

#include <algorithm>
#include <numeric>
#include <tuple>

#include "tools/nsys/internal/import.h"

namespace profline::nsys::internal {
namespace {

auto value_of(const LaunchShape& shape) {
  return std::tie(shape.grid, shape.block, shape.registers_per_thread, shape.static_shared_bytes,
                  shape.dynamic_shared_bytes);
}

/// Compares rows of a table by their content; kNoRow comes last.
template <typename Values>
int compare_rows(const Values& values, RowIndex a, RowIndex b) {
  if (a == b) return 0;
  if (a == kNoRow || b == kNoRow) return a == kNoRow ? 1 : -1;
  if (values(a) < values(b)) return -1;
  return values(b) < values(a) ? 1 : 0;
}

class ByValue {
 public:
  explicit ByValue(const Import& file) : import_(file), timeline_(file.timeline) {}

  int threads(RowIndex a, RowIndex b) const {
    return compare_rows([&](RowIndex row) { return import_.thread_keys[row]; }, a, b);
  }
  int streams(RowIndex a, RowIndex b) const {
    return compare_rows([&](RowIndex row) -> const StreamKey& { return import_.stream_keys[row]; },
                        a, b);
  }
  int shapes(RowIndex a, RowIndex b) const {
    return compare_rows([&](RowIndex row) { return value_of(timeline_.shapes[row]); }, a, b);
  }
  int names(Names::Id a, Names::Id b) const {
    return a == b ? 0 : timeline_.names.text(a).compare(timeline_.names.text(b));
  }

 private:
  const Import& import_;
  const Timeline& timeline_;
};

/// True if the first comparison that finds a difference finds less.
bool first_is_less(std::initializer_list<int> comparisons) {
  for (const int comparison : comparisons) {
    if (comparison != 0) return comparison < 0;
  }
  return false;
}

template <typename Row, typename Before>
void sort_rows(std::vector<Row>& rows, std::size_t first, const Before& before) {
  const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(first);
  // A table is usually sorted, and then this costs little more than reading it.
  if (!std::is_sorted(begin, rows.end(), before)) std::sort(begin, rows.end(), before);
}

/// The rows sorted by `before`, and the new position of each row.
template <typename Row, typename Before>
std::vector<RowIndex> sorted(std::vector<Row>& rows, const Before& before) {
  std::vector<RowIndex> order(rows.size());
  std::iota(order.begin(), order.end(), RowIndex{0});
  std::stable_sort(order.begin(), order.end(), before);
  std::vector<Row> in_order;
  std::vector<RowIndex> place(rows.size());
  for (const RowIndex row : order) {
    place[row] = static_cast<RowIndex>(in_order.size());
    in_order.push_back(rows[row]);
  }
  rows = std::move(in_order);
  return place;
}

void move_row(RowIndex& row, const std::vector<RowIndex>& place) {
  if (row != kNoRow) row = place[row];
}

void renumber_threads(Import& file) {
  Timeline& timeline = file.timeline;
  const ByValue compare(file);
  const auto place =
      sorted(timeline.threads, [&](RowIndex a, RowIndex b) { return compare.threads(a, b) < 0; });
  std::sort(file.thread_keys.begin(), file.thread_keys.end());
  for (auto& [global_tid, row] : file.thread_rows) move_row(row, place);
  for (HostCall& call : timeline.calls) move_row(call.thread, place);
  for (Range& range : timeline.ranges) {
    move_row(range.thread, place);
    move_row(range.end_thread, place);
  }
}

/// Each process numbers its contexts separately, so that of a stream has the process in its upper
/// half.
void renumber_streams(Import& file) {
  Timeline& timeline = file.timeline;
  std::map<std::int64_t, std::uint64_t> processes;
  for (const auto& [key, number] : file.processes) processes[key] = 0;
  std::uint64_t next = 0;
  for (auto& [key, number] : processes) number = next++;
  for (std::size_t row = 0; row < timeline.streams.size(); ++row) {
    std::uint64_t& context = timeline.streams[row].context;
    context = (context & 0xFFFFFFFFU) | processes[file.stream_keys[row].process] << 32U;
  }
  const ByValue compare(file);
  const auto place =
      sorted(timeline.streams, [&](RowIndex a, RowIndex b) { return compare.streams(a, b) < 0; });
  for (DeviceWork& work : timeline.work) move_row(work.stream, place);
  std::sort(file.stream_keys.begin(), file.stream_keys.end());
}

void renumber_shapes(Import& file) {
  Timeline& timeline = file.timeline;
  const ByValue compare(file);
  const auto place =
      sorted(timeline.shapes, [&](RowIndex a, RowIndex b) { return compare.shapes(a, b) < 0; });
  for (DeviceWork& work : timeline.work) move_row(work.shape, place);
}

}  // namespace

void order_calls(Import& file) {
  const ByValue compare(file);
  // An outer call before the inner ones that start with it.
  sort_rows(file.timeline.calls, 0, [&](const HostCall& a, const HostCall& b) {
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    if (a.end_ns != b.end_ns) return a.end_ns > b.end_ns;
    if (a.correlation != b.correlation) return a.correlation < b.correlation;
    return first_is_less({compare.threads(a.thread, b.thread), compare.names(a.name, b.name)});
  });
}

void order_work(Import& file, std::size_t first) {
  if (file.take_piece) return;  // the rows before `first` may be gone
  const ByValue compare(file);
  const auto before = [&](const DeviceWork& a, const DeviceWork& b) {
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    if (a.end_ns != b.end_ns) return a.end_ns < b.end_ns;
    if (const int streams = compare.streams(a.stream, b.stream)) return streams < 0;
    const auto rest = [](const DeviceWork& work) {
      return std::tie(work.kind, work.launch, work.graph_node, work.bytes, work.copy, work.from,
                      work.to);
    };
    if (rest(a) != rest(b)) return rest(a) < rest(b);
    return first_is_less({compare.names(a.name, b.name), compare.shapes(a.shape, b.shape)});
  };
  std::vector<DeviceWork>& work = file.timeline.work;
  sort_rows(work, first, before);
  std::inplace_merge(work.begin(), work.begin() + static_cast<std::ptrdiff_t>(first), work.end(),
                     before);
}

void order_ranges(Import& file) {
  const ByValue compare(file);
  sort_rows(file.timeline.ranges, 0, [&](const Range& a, const Range& b) {
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    if (a.end_ns != b.end_ns) return a.end_ns > b.end_ns;
    if (const int threads = compare.threads(a.thread, b.thread)) return threads < 0;
    if (std::tie(a.kind, a.closed) != std::tie(b.kind, b.closed)) {
      return std::tie(a.kind, a.closed) < std::tie(b.kind, b.closed);
    }
    return first_is_less({compare.names(a.name, b.name), compare.names(a.domain, b.domain),
                          compare.threads(a.end_thread, b.end_thread)});
  });
}

void renumber(Import& file) {
  renumber_threads(file);
  renumber_streams(file);
  renumber_shapes(file);
}

}  // namespace profline::nsys::internal
