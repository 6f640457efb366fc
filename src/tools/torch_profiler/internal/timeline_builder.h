#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/node.h"
#include "records/timeline.h"
#include "tools/torch_profiler/internal/trace_event.h"

/// The small tables that rows refer to, each with a fast path for the most recent lookup:
/// neighbours in a trace mostly have the same thread, the same stream and a few names.
namespace profline::torch_profiler::internal {

/// Texts of the trace as ids.
class NameTable {
 public:
  explicit NameTable(Names& names) : names_(names) {}

  /// 0 for anything but a string.
  Names::Id id_of(const RawValue& value);

  std::uint64_t bad_escapes() const { return bad_escapes_; }
  std::uint64_t bad_utf8() const { return bad_utf8_; }  ///< distinct texts

 private:
  struct Slot {
    std::string raw;  // as written in the trace
    Names::Id id = 0;
    bool is_filled = false;
  };
  static constexpr std::size_t kSlots = 2048;
  static constexpr std::size_t kLongestKept = std::size_t{16} << 10U;

  Names::Id first_sight(std::string_view raw);

  Names& names_;
  std::vector<Slot> slots_ = std::vector<Slot>(kSlots);
  std::uint64_t bad_escapes_ = 0;
  std::uint64_t bad_utf8_ = 0;
};

/// Threads by the process and thread in the trace: numbers or any text.
class ThreadTable {
 public:
  explicit ThreadTable(std::vector<Thread>& threads) : threads_(threads) {}

  RowIndex row_of(const RawValue& process, const RawValue& thread);
  /// The name that metadata gives a thread, kept until the thread occurs.
  void set_name(const RawValue& process, const RawValue& thread, Names::Id name);
  /// Gives the threads their names; a thread with a text instead of a number gets that text.
  void apply_names(Names& names);

 private:
  std::vector<Thread>& threads_;
  std::unordered_map<std::string, RowIndex> rows_;
  std::unordered_map<std::string, Names::Id> names_;
  std::vector<std::string> texts_;  // by row: the text of a thread without a number
  std::string last_key_;
  RowIndex last_row_ = kNoRow;
};

class StreamTable {
 public:
  explicit StreamTable(std::vector<Stream>& streams) : streams_(streams) {}
  RowIndex row_of(const Stream& stream);

 private:
  struct Hash {
    std::size_t operator()(const Stream& stream) const;
  };
  std::vector<Stream>& streams_;
  std::unordered_map<Stream, RowIndex, Hash> rows_;
  RowIndex last_ = kNoRow;
};

class ShapeTable {
 public:
  explicit ShapeTable(std::vector<LaunchShape>& shapes) : shapes_(shapes) {}
  /// kNoRow if the event has no grid.
  RowIndex row_of(const RawEvent& event);

 private:
  struct Hash {
    std::size_t operator()(const LaunchShape& shape) const;
  };
  std::vector<LaunchShape>& shapes_;
  std::unordered_map<LaunchShape, RowIndex, Hash> rows_;
  RowIndex last_ = kNoRow;
};

/// What events say about collectives. PyTorch describes one twice: with the operator that starts it
/// (`record_param_comms`) and, since 2.2, with each of its kernels. The ranges of back ends on the
/// host (`gloo:all_reduce`) have at most the shapes and types of their inputs.
class CollectiveTable {
 public:
  CollectiveTable(Timeline& timeline, NameTable& names) : timeline_(timeline), names_(names) {}

  /// The row for a kernel's own description; kNoRow if it has none.
  RowIndex add_kernel(const RawEvent& event);
  /// The row for an operator's description; kNoRow if it has none.
  RowIndex add_operator(const RawEvent& event);
  /// The row for a range of a back end on the host; kNoRow for any other range.
  RowIndex add_range(const RawEvent& event);
  /// The process groups of the process. If there is only one, all its collectives are of that.
  void set_groups(const Node& groups);
  /// Call when rows are linked and sorted: makes one row per collective and links its kernels, or
  /// its range on the host, to it.
  void finish();

 private:
  /// What a row was made from.
  enum class Source : std::uint8_t { Kernel, Operator, Range };

  RowIndex add(const RawEvent& event, Source source);
  void take_inputs(const RawEvent& event, Collective& row);
  Names::Id group_of(Names::Id name, Names::Id description);
  RowIndex row_of(const DeviceWork& work) const;
  void link_ranges(std::vector<bool>& used);
  void keep_only(const std::vector<bool>& used);

  Timeline& timeline_;
  NameTable& names_;
  std::unordered_map<std::uint64_t, RowIndex> of_operator_;  // by External id
  std::vector<std::uint64_t> external_ids_;                  // by row
  std::vector<Source> sources_;                              // by row
  std::optional<Collective> only_group_;                     // its group, members and ranks
};

/// Rows with their link keys, which the finished tables no longer need.
struct PendingWork {
  DeviceWork row;
  std::uint64_t correlation = 0;
  std::uint64_t external_id = 0;
};
struct PendingCall {
  HostCall row;
  std::uint64_t external_id = 0;
  std::uint64_t bytes = 0;
  RowIndex shape = kNoRow;  ///< HIP records grid and block with the launching call
};

/// Builds tables from events, one after another; times are absolute until finish().
class TimelineBuilder {
 public:
  TimelineBuilder();

  /// Counts the event as used or skipped.
  void add(const RawEvent& event, std::uint64_t offset);
  /// Skips what is not an event or is not needed: see Reading::Skipped.
  void skip(std::string_view reason, std::uint64_t offset, bool is_of_the_tool = false);
  /// A member next to the events: `deviceProperties`, `baseTimeNanoseconds`, `distributedInfo`.
  void add_member(const std::string& key, const Node& value);
  void note(std::string text) { timeline_.reading.notes.push_back(std::move(text)); }
  void loss(std::string text) { timeline_.reading.losses.push_back(std::move(text)); }
  std::uint64_t events() const { return events_; }
  /// Why this trace is refused: all its device work is of unsupported devices. Nothing if it is
  /// accepted.
  std::optional<std::string> refusal() const;
  /// False once: the first problem of its kind is reported in full, the others are counted.
  bool reported_malformed() { return std::exchange(reported_malformed_, true); }

  /// Sorts and links the rows, and adds notes about what was tolerated.
  Timeline finish(std::string source);

 private:
  struct Times {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
  };
  /// A begin event without an end so far: where its row is.
  struct Open {
    enum class Table : std::uint8_t { Work, Call, Range, Operator };
    Table table = Table::Range;
    std::size_t row = 0;
    std::uint64_t offset = 0;
  };

  struct SkipCount {
    std::string reason;
    std::uint64_t count = 0;
    std::uint64_t first_offset = 0;
    bool is_of_the_tool = false;
  };

  void use() {
    ++events_;
    ++timeline_.reading.used;
  }
  void add_complete(const RawEvent& event, std::uint64_t offset);
  void add_begin(const RawEvent& event, std::uint64_t offset);
  void add_end(const RawEvent& event, std::uint64_t offset);
  void add_async(const RawEvent& event, std::uint64_t offset);
  void add_metadata(const RawEvent& event, std::uint64_t offset);
  /// Makes a row; false if the event is of a class that has no rows (and is skipped).
  bool add_row(const RawEvent& event, const Times& times, std::uint64_t offset, Open& made);
  void add_work(const RawEvent& event, const Times& times, EventClass kind);
  void add_call(const RawEvent& event, const Times& times);
  void add_range(const RawEvent& event, const Times& times, RangeKind kind);
  void add_operator(const RawEvent& event, const Times& times);
  std::int64_t start_of(const Open& open) const;
  void close(const Open& open, std::int64_t end_ns);

  bool read_time(const RawValue& value, std::string_view what, std::uint64_t offset,
                 std::int64_t& ns);
  void skip_class(const RawEvent& event, EventClass kind, std::uint64_t offset);
  EventClass class_of(const RawEvent& event);
  Stream stream_of(const RawEvent& event) const;
  void become_nanoseconds(std::string why);

  void add_gpus(const Node& properties);
  void drop_unclosed(std::int64_t capture_end_ns);
  void judge_clock();
  void rebase();
  void add_notes();
  template <typename Visit>
  void each_time(Visit&& visit);

  Timeline timeline_;
  NameTable names_;
  ThreadTable threads_;
  StreamTable streams_;
  ShapeTable shapes_;
  CollectiveTable collectives_;
  std::vector<PendingWork> work_;
  std::vector<PendingCall> calls_;

  std::map<std::pair<std::string, std::string>, std::vector<Open>> begun_;  // by process, thread
  std::unordered_map<std::string, std::vector<Open>> begun_async_;          // by category and id
  std::string last_category_;
  EventClass last_class_ = EventClass::None;
  std::set<std::string> unknown_categories_;
  std::vector<SkipCount> skipped_;
  std::map<std::string, std::uint64_t> foreign_;  // events of unsupported devices, by category

  ClockUnit unit_ = ClockUnit::Microseconds;
  bool has_fractions_ = false;
  std::int64_t base_ns_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t duplicates_ = 0;
  std::uint64_t quoted_numbers_ = 0;
  std::uint64_t without_stream_ = 0;
  bool reported_malformed_ = false;
  bool is_converted_ = false;  // from an nsys file, by another program
};

/// Sorts each table by time and fills in `launch` and `op`; adds the ranges that are scopes among
/// the operators. Adds notes about what it could not link.
void link(Timeline& timeline, std::vector<PendingWork> work, std::vector<PendingCall> calls);

}  // namespace profline::torch_profiler::internal
