#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recorder/format/layout.h"
#include "records/reading.h"
#include "tools/recorder/recording.h"

/// The events of a recording: the chunks of its file, the names in them, and the ranges that events
/// open and close.
namespace profline::recorder::internal {

/// What a stage held from one copy to the file until the next.
struct Lap {
  std::uint32_t stage = 0;
  std::uint32_t number = 0;
  std::uint32_t thread = 0;
  std::string_view content;  ///< without the header
  bool cut_off = false;      ///< the file ends inside it
};

struct Chunks {
  std::vector<Lap> events;  ///< by stage and number
  std::vector<Lap> names;
};

/// All chunks after the header. If the process was killed while it copied a lap, the lap is in the
/// file twice; here it is listed once.
Chunks find_chunks(std::string_view bytes, Reading& reading);

/// Finds names by their numbers in the file.
class NameList {
 public:
  NameList(const std::vector<Lap>& laps, Reading& reading);

  /// The position of a name in `names()`; a number that the file does not define is a name of its
  /// own.
  std::uint32_t position(std::uint32_t id) const;
  const std::vector<std::string>& names() const { return names_; }

 private:
  void read(const Lap& lap, Reading& reading);

  std::vector<std::string> names_;
  std::vector<std::uint32_t> positions_;  // by number in the file; 0: not defined
};

/// Bytes that are not UTF-8 become U+FFFD.
std::string as_utf8(std::string_view bytes);

class RangeBuilder {
 public:
  RangeBuilder(const NameList& names, ProcessRanges& process) : names_(names), process_(process) {}

  /// Takes the laps of all stages in order.
  void add(const Lap& lap);
  /// Ends what is still open, and joins the ends that came from other threads.
  void finish();

 private:
  struct CrossStart {
    std::uint64_t id = 0;
    std::uint32_t range = 0;
  };
  struct CrossEnd {
    std::uint64_t id = 0;
    std::int64_t at_ns = 0;
  };

  void begin_thread(std::uint32_t thread);
  void close_thread();
  void take(const Event& event, const Event* next);
  void take_in_range(const Event& event, EventKind kind, std::uint32_t name);
  void push(const RecordedRange& range);
  void pop(std::uint32_t domain, std::int64_t at_ns);
  RecordedRange opened(const Event& event) const;
  void join_cross_thread_ends();

  const NameList& names_;
  ProcessRanges& process_;
  std::uint32_t stage_ = 0;
  std::uint32_t lap_ = 0;
  bool has_thread_ = false;
  std::int64_t last_ns_ = 0;         // of the current thread
  std::vector<std::uint32_t> open_;  // of the current thread, outermost first
  std::vector<CrossStart> starts_;
  std::vector<CrossEnd> ends_;
};

}  // namespace profline::recorder::internal
