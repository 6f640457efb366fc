#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/timeline.h"

/// A few steps of a capture, small enough for a page.
namespace profline::web {

/// Numbers are part of the page's data.
enum class EventKind : std::uint8_t {
  Range = 0,
  Operator = 1,
  Launch = 2,
  Synchronize = 3,
  OtherCall = 4,
  Kernel = 5,
  Copy = 6,
  OtherWork = 7
};

struct WindowEvent {
  std::uint32_t lane = 0;
  std::int64_t start_ns = 0;  ///< since the start of the window; negative: began before it
  std::int64_t duration_ns = 0;
  std::uint32_t name = 0;  ///< in Window::names
  EventKind kind = EventKind::Range;
  std::int64_t since_launch_ns = -1;  ///< of GPU work: time from launch to start; -1: not known
};

struct Lane {
  std::string name;  ///< `thread 12: CUDA calls`, `GPU 0, stream 7`
  bool is_device = false;
};

struct Window {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::string what;  ///< `decode steps 9 to 12 of 20`
  std::vector<Lane> lanes;
  std::vector<std::string> names;
  std::vector<WindowEvent> events;
  std::size_t all_events = 0;  ///< of the capture
  std::size_t left_out = 0;  ///< of the window: nested too deeply, or on threads that are not shown
};

struct WindowLimits {
  std::size_t steps = 4;
  std::size_t events = 6000;
  std::size_t threads = 6;
  std::size_t depth = 5;  ///< nesting depth of operators and of ranges
};

/// The phase that a window shows.
struct ShownPhase {
  std::string name = {};  ///< of its range; ranges of steps, if any, are named `<name>_step`
  std::size_t steps = 0;  ///< of its first instance in the capture; 0: not known
};

/// The middle of the phase: whole steps if they have ranges, else about as much time as its number
/// of steps suggests; without such a range the middle of the longest range, or of the capture.
/// Shortened until it has few enough events. Nothing: the capture is empty.
std::optional<Window> window_of(const Timeline& timeline, const ShownPhase& phase,
                                const WindowLimits& limits = {});

/// The totals of a lane within the window.
struct LaneAccount {
  std::size_t events = 0;
  const WindowEvent* longest = nullptr;  ///< null: the lane is empty
  std::int64_t busy_ns = 0;              ///< time with an event
  std::int64_t longest_gap_ns = 0;       ///< without an event

  bool operator==(const LaneAccount&) const = default;
};
LaneAccount account_of(const Window& window, std::size_t lane);

}  // namespace profline::web
