#pragma once

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
#include "tools/torch_profiler/internal/event_tables.h"
#include "tools/torch_profiler/internal/trace_event.h"

namespace profline::torch_profiler::internal {

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
