#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "recorder/format/layout.h"
#include "records/document.h"
#include "records/request.h"
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

/// Turns the ranges of a process into phases. A window is a stretch of time whose ranges become
/// phases: a request.
namespace profline::recorder::internal {

struct Window {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int32_t range = -1;   ///< the request's own range; -1: something else observed the request
  std::uint32_t thread = 0;  ///< as the kernel numbers it
  bool across_threads = false;
};

/// The windows of one process.
class Windows {
 public:
  /// `windows` may overlap.
  Windows(const ProcessRanges& process, std::vector<Window> windows);

  const std::vector<Window>& all() const { return windows_; }

  /// The window of a range that is not inside another range of that window; -1 if there is no such
  /// window. Ranges that fit into more than one window are counted in `ambiguous()`.
  std::int32_t around(const RecordedRange& range);
  std::uint64_t ambiguous() const { return ambiguous_; }

 private:
  bool may_hold(const Window& window, const RecordedRange& range, bool same_thread) const;

  const ProcessRanges& process_;
  std::vector<Window> windows_;         // by start
  std::vector<std::int64_t> last_end_;  // of the windows up to each
  std::uint64_t ambiguous_ = 0;
};

/// The requests of a process: outermost complete ranges of this name, and marked ones. `cut_off`
/// counts those that did not end.
std::vector<Window> request_windows(const ProcessRanges& process, std::string_view request_range,
                                    std::uint64_t& cut_off);

class PhaseCollector {
 public:
  PhaseCollector(const ProcessRanges& process, Windows& windows);

  /// In the order of the windows.
  std::vector<std::vector<Phase>> phases();
  /// The window of a range; negative if it is in none.
  std::int32_t window_of(std::uint32_t range) const { return owners_[range]; }
  /// Steps that the program marked outside any phase.
  std::uint64_t stray_steps() const { return stray_steps_; }

 private:
  static constexpr std::uint32_t kRoot = 0;

  /// A path of names; the root is the request.
  struct Node {
    std::uint32_t parent = kRoot;
    std::uint32_t name = 0;
    std::uint32_t depth = 0;
    std::int32_t last_parent = -1;  ///< the range around the instance that was seen last
    bool repeats = false;           ///< twice or more often inside one range
    bool has_marked_steps = false;
    bool has_children = false;
    std::uint32_t repeating_children = 0;
    std::uint32_t step_child = kRoot;  ///< the child whose instances are steps; kRoot: none
  };
  /// What a window holds of a node.
  struct Total {
    std::uint32_t node = 0;
    std::int64_t start_ns = 0;
    std::int64_t ns = 0;
    std::vector<std::int64_t> steps_ns;
  };

  void assign_all();
  void assign(std::size_t index);
  std::uint32_t child(std::uint32_t parent, std::uint32_t name);
  void find_step_children();
  void add_instances();
  void add_marked_steps();
  Total& total(std::int32_t window, std::uint32_t node, std::int64_t start_ns);
  bool is_step(std::uint32_t node) const;
  bool repeats_in_request(std::uint32_t node) const;
  Phase phase_of(const Total& total, const Window& window) const;
  std::string path_of(std::uint32_t node) const;

  const ProcessRanges& process_;
  Windows& windows_;
  std::vector<std::int32_t> owners_;    // window of each range
  std::vector<std::uint32_t> node_of_;  // node of each range
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, std::uint32_t> children_;  // by parent and name
  std::vector<std::vector<Total>> totals_;                     // by window
  std::unordered_map<std::uint64_t, std::uint32_t> places_;    // by window and node, in totals_
  std::uint64_t stray_steps_ = 0;
};

}  // namespace profline::recorder::internal
