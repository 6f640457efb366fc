#include "analysis/timeline/internal/device_sweep.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <queue>

#include "analysis/timeline/attribution.h"

namespace profline::timeline::internal {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// The state of a device at the current instant, as counts.
struct Present {
  std::array<std::int64_t, 3> running{};  // compute, copy, communication
  std::int64_t queued = 0;
  std::array<std::int64_t, kIdleCauses> host{};  // by the cause of idle time it would be

  unsigned kinds() const {
    return (running[0] > 0 ? kCompute : 0U) | (running[1] > 0 ? kCopy : 0U) |
           (running[2] > 0 ? kCommunication : 0U);
  }
  IdleCause cause() const {
    if (queued > 0) return IdleCause::Queued;
    for (const IdleCause cause :
         {IdleCause::Launching, IdleCause::CopyWait, IdleCause::Synchronizing,
          IdleCause::Allocating, IdleCause::HostBetween}) {
      if (host[static_cast<std::size_t>(cause)] > 0) return cause;
    }
    return IdleCause::NothingQueued;
  }
};

std::size_t running_slot(unsigned kind) {
  return kind == kCompute ? 0 : kind == kCopy ? 1 : 2;
}

/// The cause of a device's idle time while one of its threads is inside such a call.
IdleCause cause_of(CallKind kind) {
  switch (kind) {
    case CallKind::Launch:
    case CallKind::GraphLaunch:
      return IdleCause::Launching;
    case CallKind::Copy:
    case CallKind::Fill:
      return IdleCause::CopyWait;
    case CallKind::Synchronize:
      return IdleCause::Synchronizing;
    case CallKind::Memory:
      return IdleCause::Allocating;
    case CallKind::Other:
      break;
  }
  return IdleCause::NothingQueued;
}

/// A pending end.
struct Ending {
  std::int64_t when_ns;
  RowIndex row;
  bool operator>(const Ending& other) const { return when_ns > other.when_ns; }
};
using Endings = std::priority_queue<Ending, std::vector<Ending>, std::greater<>>;

/// The instants between a thread's first and last launch on a device.
struct Busy {
  std::int64_t when_ns;
  DeviceIndex device;
  std::int64_t change;
};

class DeviceSweep {
 public:
  DeviceSweep(const Timeline& timeline, const Placement& placement, std::span<const Window> windows,
              const WindowClosed& closed)
      : timeline_(timeline),
        placement_(placement),
        windows_(windows),
        closed_(closed),
        present_(placement.devices.size()),
        since_ns_(placement.devices.size(), timeline.begin_ns),
        sums_(placement.devices.size()),
        queued_by_(timeline.calls.size()),
        busy_(busy_hosts()),
        opening_(windows_by(&Window::start_ns)),
        closing_(windows_by(&Window::end_ns)),
        at_opening_(windows.size(), kNoRow) {
    for (const DeviceWork& work : timeline.work) {
      if (waits(work)) ++queued_by_[work.launch];
    }
  }

  std::vector<DeviceTime> run() {
    for (std::int64_t now = next(); now != kNever; now = next()) {
      // Rows of zero length must begin before they end, hence this order.
      open_windows(now);
      close_windows(now);
      start_work(now);
      end_work(now);
      start_calls(now);
      end_calls(now);
      change_hosts(now);
    }
    advance_all(timeline_.end_ns);
    return std::move(sums_);
  }

 private:
  std::int64_t next() const {
    std::int64_t when = kNever;
    const auto earlier = [&](bool there, std::int64_t candidate) {
      if (there) when = std::min(when, candidate);
    };
    if (next_work_ < timeline_.work.size()) when = timeline_.work[next_work_].start_ns;
    earlier(!work_ends_.empty(), work_ends_.empty() ? 0 : work_ends_.top().when_ns);
    if (next_call_ < timeline_.calls.size()) earlier(true, timeline_.calls[next_call_].start_ns);
    earlier(!call_ends_.empty(), call_ends_.empty() ? 0 : call_ends_.top().when_ns);
    if (next_busy_ < busy_.size()) earlier(true, busy_[next_busy_].when_ns);
    if (next_opening_ < opening_.size()) {
      earlier(true, windows_[opening_[next_opening_]].start_ns);
    }
    if (next_closing_ < closing_.size()) {
      earlier(true, windows_[closing_[next_closing_]].end_ns);
    }
    return when;
  }

  /// Accounts for the time since the device's last change.
  void advance(std::size_t device, std::int64_t now) {
    const std::int64_t passed_ns = now - since_ns_[device];
    if (passed_ns == 0) return;
    const unsigned kinds = present_[device].kinds();
    sums_[device].ran_ns[kinds] += passed_ns;
    if (kinds == 0) {
      sums_[device].idle_ns[static_cast<std::size_t>(present_[device].cause())] += passed_ns;
    }
    since_ns_[device] = now;
  }
  void advance_all(std::int64_t now) {
    for (std::size_t device = 0; device < sums_.size(); ++device) advance(device, now);
  }

  void open_windows(std::int64_t now) {
    while (next_opening_ < opening_.size() && windows_[opening_[next_opening_]].start_ns <= now) {
      advance_all(now);
      at_opening_[opening_[next_opening_++]] = keep_sums();
    }
  }

  void close_windows(std::int64_t now) {
    while (next_closing_ < closing_.size() && windows_[closing_[next_closing_]].end_ns <= now) {
      advance_all(now);
      const RowIndex window = closing_[next_closing_++];
      const std::size_t kept = at_opening_[window];
      std::vector<DeviceTime>& before = kept_[kept];
      for (std::size_t device = 0; device < sums_.size(); ++device) {
        before[device] = difference(sums_[device], before[device]);
      }
      closed_(window, before);
      free_.push_back(static_cast<RowIndex>(kept));
    }
  }

  RowIndex keep_sums() {
    if (free_.empty()) {
      kept_.push_back(sums_);
      return static_cast<RowIndex>(kept_.size() - 1);
    }
    const RowIndex slot = free_.back();
    free_.pop_back();
    kept_[slot] = sums_;
    return slot;
  }

  static DeviceTime difference(const DeviceTime& later, const DeviceTime& earlier) {
    DeviceTime between;
    for (std::size_t i = 0; i < between.ran_ns.size(); ++i) {
      between.ran_ns[i] = later.ran_ns[i] - earlier.ran_ns[i];
    }
    for (std::size_t i = 0; i < kIdleCauses; ++i) {
      between.idle_ns[i] = later.idle_ns[i] - earlier.idle_ns[i];
    }
    return between;
  }

  /// Whether work was submitted before it began, on the device of its call.
  bool waits(const DeviceWork& work) const {
    return work.launch != kNoRow && timeline_.calls[work.launch].end_ns < work.start_ns &&
           placement_.of_call[work.launch] == placement_.of_work(work);
  }

  void start_work(std::int64_t now) {
    for (; next_work_ < timeline_.work.size() && timeline_.work[next_work_].start_ns <= now;
         ++next_work_) {
      const DeviceWork& work = timeline_.work[next_work_];
      const DeviceIndex device = placement_.of_work(work);
      if (device == kNoDevice) continue;
      advance(device, now);
      if (waits(work)) --present_[device].queued;
      ++present_[device].running[running_slot(placement_.kind_of(work))];
      work_ends_.push({work.end_ns, static_cast<RowIndex>(next_work_)});
    }
  }

  void end_work(std::int64_t now) {
    for (; !work_ends_.empty() && work_ends_.top().when_ns <= now; work_ends_.pop()) {
      const DeviceWork& work = timeline_.work[work_ends_.top().row];
      const DeviceIndex device = placement_.of_work(work);
      advance(device, now);
      --present_[device].running[running_slot(placement_.kind_of(work))];
    }
  }

  void start_calls(std::int64_t now) {
    for (; next_call_ < timeline_.calls.size() && timeline_.calls[next_call_].start_ns <= now;
         ++next_call_) {
      const HostCall& call = timeline_.calls[next_call_];
      const DeviceIndex device = placement_.of_call[next_call_];
      if (device == kNoDevice) continue;
      advance(device, now);
      ++present_[device].host[static_cast<std::size_t>(cause_of(call.kind))];
      call_ends_.push({call.end_ns, static_cast<RowIndex>(next_call_)});
    }
  }

  void end_calls(std::int64_t now) {
    for (; !call_ends_.empty() && call_ends_.top().when_ns <= now; call_ends_.pop()) {
      const RowIndex row = call_ends_.top().row;
      const DeviceIndex device = placement_.of_call[row];
      advance(device, now);
      --present_[device].host[static_cast<std::size_t>(cause_of(timeline_.calls[row].kind))];
      present_[device].queued += queued_by_[row];
    }
  }

  void change_hosts(std::int64_t now) {
    for (; next_busy_ < busy_.size() && busy_[next_busy_].when_ns <= now; ++next_busy_) {
      const Busy& busy = busy_[next_busy_];
      advance(busy.device, now);
      present_[busy.device].host[static_cast<std::size_t>(IdleCause::HostBetween)] += busy.change;
    }
  }

  std::vector<Busy> busy_hosts() const {
    struct Span {
      std::int64_t first_ns;
      std::int64_t last_ns;
    };
    std::map<std::pair<RowIndex, DeviceIndex>, Span> spans;
    for (std::size_t row = 0; row < timeline_.calls.size(); ++row) {
      const HostCall& call = timeline_.calls[row];
      const DeviceIndex device = placement_.of_call[row];
      if (device == kNoDevice || !launches_work(call.kind)) continue;
      const auto [entry, is_new] =
          spans.try_emplace({call.thread, device}, Span{call.start_ns, call.start_ns});
      if (!is_new) entry->second.last_ns = call.start_ns;  // calls are sorted by start
    }
    std::vector<Busy> changes;
    for (const auto& [key, span] : spans) {
      changes.push_back({span.first_ns, key.second, 1});
      changes.push_back({span.last_ns, key.second, -1});
    }
    std::sort(changes.begin(), changes.end(),
              [](const Busy& a, const Busy& b) { return a.when_ns < b.when_ns; });
    return changes;
  }

  std::vector<RowIndex> windows_by(std::int64_t Window::*when) const {
    std::vector<RowIndex> order(windows_.size());
    std::iota(order.begin(), order.end(), RowIndex{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](RowIndex a, RowIndex b) { return windows_[a].*when < windows_[b].*when; });
    return order;
  }

  const Timeline& timeline_;
  const Placement& placement_;
  const std::span<const Window> windows_;
  const WindowClosed& closed_;

  // By device.
  std::vector<Present> present_;
  std::vector<std::int64_t> since_ns_;
  std::vector<DeviceTime> sums_;

  // Pending events, in time order.
  std::vector<std::uint32_t> queued_by_;  // by call: work that is queued once it has returned
  std::vector<Busy> busy_;
  std::vector<RowIndex> opening_;
  std::vector<RowIndex> closing_;
  Endings work_ends_;
  Endings call_ends_;
  std::size_t next_work_ = 0;
  std::size_t next_call_ = 0;
  std::size_t next_busy_ = 0;
  std::size_t next_opening_ = 0;
  std::size_t next_closing_ = 0;

  // The sums when each open window was opened.
  std::vector<RowIndex> at_opening_;  // by window: index in kept_
  std::vector<std::vector<DeviceTime>> kept_;
  std::vector<RowIndex> free_;
};

}  // namespace

std::vector<DeviceTime> sweep_devices(const Timeline& timeline, const Placement& placement,
                                      std::span<const Window> windows,
                                      const WindowClosed& window_closed) {
  return DeviceSweep(timeline, placement, windows, window_closed).run();
}

Focus::Focus(const Timeline& timeline, std::string_view pattern)
    : by_thread_(timeline.threads.size()) {
  const std::vector<bool> matching = matching_ranges(timeline, pattern);
  for (const Range& range : timeline.ranges) {
    if (matching[range.name]) add(range);
  }
}

void Focus::add(const Range& range) {
  ++instances_;
  if (!range.closed) ++still_open_;
  if (range.thread == kNoRow) return;
  std::vector<std::size_t>& of_thread = by_thread_[range.thread];
  if (!of_thread.empty() && range.start_ns < windows_[of_thread.back()].end_ns) {
    Window& last = windows_[of_thread.back()];
    last.end_ns = std::max(last.end_ns, range.end_ns);
    return;
  }
  of_thread.push_back(windows_.size());
  windows_.push_back({range.start_ns, range.end_ns});
}

std::optional<std::size_t> Focus::find(RowIndex thread, std::int64_t when_ns) const {
  if (thread == kNoRow) return std::nullopt;
  const std::vector<std::size_t>& of_thread = by_thread_[thread];
  const auto after = std::upper_bound(
      of_thread.begin(), of_thread.end(), when_ns,
      [&](std::int64_t when, std::size_t window) { return when < windows_[window].start_ns; });
  if (after == of_thread.begin() || windows_[*std::prev(after)].end_ns <= when_ns) {
    return std::nullopt;
  }
  return *std::prev(after);
}

}  // namespace profline::timeline::internal
