#include "tiles/build.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/figures.h"
#include "records/timeline.h"
#include "tiles/internal/directory.h"
#include "tiles/internal/external_sort.h"
#include "tiles/internal/row_writer.h"
#include "tools/nsys/sqlite_reader.h"
#include "tools/torch_profiler/trace.h"

namespace profline::tiles {
namespace {

using internal::Directory;
using internal::ExternalSort;
using internal::LaneEvent;
using internal::RowDirectory;
using internal::RowWriter;
using internal::StoredEvent;

/// More events at the same time than this are counted and not drawn.
constexpr std::size_t kMostRows = 64;
constexpr std::uint64_t kEventsBetweenQuestions = std::uint64_t{1} << 16U;
/// More different combinations of shape, size and so on than this are not kept.
constexpr std::size_t kMostDetails = std::size_t{1} << 20U;

/// The details that occurred, each once.
class Details {
 public:
  Details() {
    for (std::uint32_t kind = 0; kind <= static_cast<std::uint32_t>(EventKind::Call); ++kind) {
      id_of({.kind = kind});
    }
  }

  std::uint32_t id_of(const Detail& detail) {
    if (last_ && detail == list_[*last_]) return *last_;
    // What is always there is the kind alone, whose ids are the numbers of the kinds.
    if (list_.size() >= kMostDetails && ids_.count(detail) == 0) {
      ++dropped_;
      return detail.kind;
    }
    const auto [entry, is_new] = ids_.try_emplace(detail, static_cast<std::uint32_t>(list_.size()));
    if (is_new) list_.push_back(detail);
    last_ = entry->second;
    return entry->second;
  }
  std::uint64_t dropped() const { return dropped_; }
  std::vector<Detail> take() { return std::move(list_); }

 private:
  struct Hash {
    std::size_t operator()(const Detail& detail) const {
      return internal::checksum({reinterpret_cast<const char*>(&detail), sizeof detail});
    }
  };
  std::unordered_map<Detail, std::uint32_t, Hash> ids_;
  std::vector<Detail> list_;
  std::optional<std::uint32_t> last_;
  std::uint64_t dropped_ = 0;
};

/// What the events of a lane have in common: its kind, and a stream, a thread or a process.
struct LaneKey {
  LaneKind kind = LaneKind::Work;
  std::int64_t owner = 0;  ///< a row of streams or threads, or the number of a process; -1: unknown

  auto operator<=>(const LaneKey&) const = default;
};

class Builder {
 public:
  Builder(ExternalSort sort, const BuildOptions& options)
      : sort_(std::move(sort)), options_(options) {}

  Result<void> add(const Timeline& piece) {
    for (const DeviceWork& work : piece.work) PL_TRY(add_work(piece, work));
    for (const HostCall& call : piece.calls) {
      PL_TRY(add({LaneKind::Calls, owner_of(call.thread)}, call,
                 static_cast<std::uint32_t>(EventKind::Call)));
    }
    for (const Range& range : piece.ranges) PL_TRY(add_range(piece, range));
    for (const Operator& op : piece.operators) {
      PL_TRY(add({LaneKind::Operators, owner_of(op.thread)}, op,
                 details_.id_of({.kind = static_cast<std::uint32_t>(EventKind::Operator),
                                 .text = op.input_shapes})));
    }
    return keep_going();
  }

  /// Writes the index; `facts` has the tables, and the capture's begin and end.
  Result<void> write(const Timeline& facts, std::string_view identity, AtomicFile& target) {
    internal::IndexFile file(target);
    Directory directory;
    directory.identity = identity;
    directory.facts = {
        .source = facts.source,
        .tool = facts.tool,
        .origin_ns = facts.begin_ns,
        .length_ns = facts.end_ns - facts.begin_ns,
        .unix_origin_ns = facts.unix_origin_ns == 0 ? 0 : facts.unix_origin_ns + facts.begin_ns,
        .events = events_,
        .notes = facts.reading.notes,
        .losses = facts.reading.losses};
    std::vector<Lane> lanes = PL_TRY(write_rows(directory, file));
    for (const Reading::Skipped& skipped : facts.reading.skipped) {
      if (skipped.is_of_the_tool) continue;
      directory.facts.notes.push_back(counted(skipped.count, "event was", "events were") +
                                      " skipped: " + skipped.reason);
    }
    add_notes(directory.facts);
    directory.lanes = named_and_ordered(std::move(lanes), facts);
    for (Names::Id id = 0; id < facts.names.size(); ++id) {
      directory.names.push_back(facts.names.text(id));
    }
    directory.details = details_.take();
    return directory.write(file);
  }

 private:
  static std::int64_t owner_of(RowIndex row) {
    return row == kNoRow ? -1 : static_cast<std::int64_t>(row);
  }

  Result<void> keep_going() const {
    if (!options_.keep_going || options_.keep_going(events_)) return {};
    return Error(ErrorKind::Cancelled, "stopped");
  }

  Result<void> add_work(const Timeline& piece, const DeviceWork& work) {
    Detail detail{.bytes = work.bytes};
    EventKind kind = EventKind::Kernel;
    if (work.kind == WorkKind::Copy) kind = EventKind::Copy;
    if (work.kind == WorkKind::Fill) kind = EventKind::Fill;
    if (work.kind == WorkKind::Graph) kind = EventKind::Graph;
    detail.kind = static_cast<std::uint32_t>(kind);
    detail.from = static_cast<std::uint32_t>(work.from);
    detail.to = static_cast<std::uint32_t>(work.to);
    if (work.shape != kNoRow) {
      const LaunchShape& shape = piece.shapes[work.shape];
      std::copy(shape.grid.begin(), shape.grid.end(), detail.grid);
      std::copy(shape.block.begin(), shape.block.end(), detail.block);
      detail.registers_per_thread = shape.registers_per_thread;
      detail.static_shared_bytes = shape.static_shared_bytes;
      detail.dynamic_shared_bytes = shape.dynamic_shared_bytes;
    }
    const bool is_copy = kind == EventKind::Copy || kind == EventKind::Fill;
    return add({is_copy ? LaneKind::Copies : LaneKind::Work, owner_of(work.stream)}, work,
               details_.id_of(detail));
  }

  Result<void> add_range(const Timeline& piece, const Range& range) {
    const std::uint32_t detail = details_.id_of(
        {.kind = static_cast<std::uint32_t>(EventKind::Range), .text = range.domain});
    if (range.kind == RangeKind::PushPop) {
      return add({LaneKind::Ranges, owner_of(range.thread)}, range, detail);
    }
    const std::int64_t process = range.thread == kNoRow ? -1 : piece.threads[range.thread].process;
    return add({LaneKind::SharedRanges, process}, range, detail);
  }

  template <typename Row>
  Result<void> add(const LaneKey& key, const Row& row, std::uint32_t detail) {
    if (last_lane_ == lanes_.end() || last_lane_->first != key) {
      last_lane_ = lanes_.try_emplace(key, static_cast<std::uint32_t>(lanes_.size())).first;
    }
    ++events_;
    return sort_.add({row.start_ns, row.end_ns, last_lane_->second, row.name, detail, 0});
  }

  /// By provisional number.
  Result<std::vector<Lane>> write_rows(Directory& directory, internal::IndexFile& file) {
    std::uint32_t last_level = internal::kFirstLevel;
    while (last_level < internal::kLastLevel && directory.facts.length_ns >> last_level > 8) {
      ++last_level;
    }
    std::vector<Lane> lanes(lanes_.size());
    std::vector<std::unique_ptr<RowWriter>> rows;  // of the lane at hand, by depth
    std::uint32_t lane = 0;
    const auto end_lane = [&]() -> Result<void> {
      lanes[lane].first_row = static_cast<std::uint32_t>(directory.rows.size());
      lanes[lane].rows = static_cast<std::uint32_t>(rows.size());
      for (const auto& row : rows) {
        directory.rows.push_back(PL_TRY(row->finish()));
        lanes[lane].events += directory.rows.back().events;
      }
      rows.clear();
      return {};
    };
    const std::int64_t origin_ns = directory.facts.origin_ns;
    std::uint64_t written = 0;
    PL_TRY(sort_.visit_in_order([&](const LaneEvent& event) -> Result<void> {
      if (written++ % kEventsBetweenQuestions == 0) PL_TRY(keep_going());
      if (event.lane != lane) {
        PL_TRY(end_lane());
        lane = event.lane;
      }
      const StoredEvent stored{event.start_ns - origin_ns, event.end_ns - origin_ns, event.name,
                               event.detail};
      std::size_t depth = 0;
      while (depth < rows.size() && rows[depth]->end_ns() > stored.start_ns) ++depth;
      if (depth == kMostRows) {
        ++too_deep_;
        return {};
      }
      if (depth == rows.size()) {
        rows.push_back(
            std::make_unique<RowWriter>(file, lane, static_cast<std::uint32_t>(depth), last_level));
      }
      return rows[depth]->add(stored);
    }));
    if (!lanes.empty()) PL_TRY(end_lane());
    return lanes;
  }

  void add_notes(CaptureFacts& facts) const {
    if (too_deep_ > 0) {
      facts.notes.push_back(counted(too_deep_, "event is", "events are") +
                            " not in the timeline: more than " + std::to_string(kMostRows) +
                            " overlapped in one lane");
    }
    if (details_.dropped() > 0) {
      facts.notes.push_back(counted(details_.dropped(), "event has", "events have") +
                            " no launch shape or size in the timeline: there are more than " +
                            std::to_string(kMostDetails) + " different ones");
    }
  }

  /// The owner's part of the order in which lanes are shown: devices before threads.
  using Place = std::tuple<int, std::int64_t, std::int64_t, std::int64_t, LaneKind>;

  std::vector<Lane> named_and_ordered(std::vector<Lane> lanes, const Timeline& facts) {
    std::vector<std::pair<Place, std::size_t>> order;
    for (const auto& [key, number] : lanes_) {
      Lane& lane = lanes[number];
      lane.kind = key.kind;
      const bool is_device = key.kind == LaneKind::Work || key.kind == LaneKind::Copies;
      order.emplace_back(is_device ? name_stream(lane, key, facts) : name_host(lane, key, facts),
                         number);
    }
    std::sort(order.begin(), order.end());
    std::vector<Lane> result;
    for (const auto& [place, number] : order) {
      if (lanes[number].rows > 0) result.push_back(std::move(lanes[number]));
    }
    return result;
  }

  static Place name_stream(Lane& lane, const LaneKey& key, const Timeline& facts) {
    const char* what = key.kind == LaneKind::Copies ? " copies" : "";
    if (key.owner < 0) {
      lane.group = "GPU";
      lane.name = std::string("unknown stream") + what;
      return {0, -1, -1, -1, key.kind};
    }
    const Stream& stream = facts.streams[static_cast<std::size_t>(key.owner)];
    lane.group = "GPU " + std::to_string(stream.device);
    for (const Gpu& gpu : facts.gpus) {
      if (gpu.device == stream.device && !gpu.name.empty()) {
        lane.group += " " + gpu.name;
        break;
      }
    }
    // Streams of several contexts may have the same number.
    const bool is_unique =
        std::count_if(facts.streams.begin(), facts.streams.end(), [&](const Stream& other) {
          return other.device == stream.device && other.stream == stream.stream;
        }) == 1;
    lane.name = "stream " + std::to_string(stream.stream) +
                (is_unique ? "" : " of context " + std::to_string(stream.context & 0xFFFFFFFFU)) +
                what;
    return {0, stream.device, static_cast<std::int64_t>(stream.context), stream.stream, key.kind};
  }

  static Place name_host(Lane& lane, const LaneKey& key, const Timeline& facts) {
    lane.name = to_text(key.kind);
    if (key.kind == LaneKind::SharedRanges) {
      lane.group = key.owner < 0 ? "host" : "process " + std::to_string(key.owner);
      return {1, key.owner, -1, -1, key.kind};
    }
    if (key.owner < 0) {
      lane.group = "host";
      return {1, -1, -1, -1, key.kind};
    }
    const Thread& thread = facts.threads[static_cast<std::size_t>(key.owner)];
    const std::string number = "thread " + std::to_string(thread.thread);
    const std::string& name = facts.names.text(thread.name);
    // Kineto's names begin with it.
    lane.group = name.starts_with(number) ? name : number + (name.empty() ? "" : " " + name);
    return {1, thread.process, thread.thread, key.owner, key.kind};
  }

  ExternalSort sort_;
  const BuildOptions& options_;
  std::map<LaneKey, std::uint32_t> lanes_;
  std::map<LaneKey, std::uint32_t>::iterator last_lane_ = lanes_.end();
  Details details_;
  std::uint64_t events_ = 0;
  std::uint64_t too_deep_ = 0;
};

Result<bool> is_sqlite(const std::filesystem::path& path) {
  constexpr std::string_view kStart = "SQLite format 3";
  const FileDescriptor file = PL_TRY(open_for_reading(path));
  std::string start(kStart.size(), '\0');
  const ssize_t got = read_some(file.get(), start.data(), start.size());
  return got == static_cast<ssize_t>(kStart.size()) && start == kStart;
}

}  // namespace

Result<void> build_index(const std::filesystem::path& capture, const std::filesystem::path& target,
                         std::string_view identity, const BuildOptions& options) {
  const bool from_nsys = PL_TRY(is_sqlite(capture));
  AtomicFile file = PL_TRY(AtomicFile::create_private(target));
  Builder builder(PL_TRY(ExternalSort::in(target.parent_path(), options.events_in_memory)),
                  options);
  if (from_nsys) {
    const Timeline facts = PL_TRY(nsys::read_sqlite_in_pieces(
        capture, [&](const Timeline& piece) { return builder.add(piece); }));
    PL_TRY(builder.write(facts, identity, file));
  } else {
    const Timeline trace = PL_TRY(torch_profiler::read_trace(capture));
    PL_TRY(builder.add(trace));
    PL_TRY(builder.write(trace, identity, file));
  }
  return file.commit();
}

}  // namespace profline::tiles
