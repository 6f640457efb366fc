#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "records/timeline.h"

/// What a capture says about time: which range the work of a device belongs to (this file), where
/// every nanosecond went (accounting.h), and to which kernels (group_kernels.h).
namespace profline::timeline {

using ContextId = std::uint32_t;
/// Launched outside every range.
inline constexpr ContextId kOutside = 0;
/// The launch was not recorded, so the range is not known.
inline constexpr ContextId kNoLaunch = static_cast<ContextId>(-1);

/// A stack of ranges that were open on a thread at one instant, as its top and the rest.
struct Context {
  RowIndex range = kNoRow;     ///< the innermost one, in Timeline::ranges
  ContextId below = kOutside;  ///< the stack without it
};

/// The ranges that each call was made in.
///
/// A call belongs to the ranges that are open on its own thread at the instant it starts; device
/// work belongs to the ranges of the call that launched it, however much later it runs. The
/// innermost range is the one that was opened last; of those opened at the same instant, the one
/// that closes first. A start/end range counts on the thread that started it, whichever thread ends
/// it, and need not nest: it may close while a range opened after it is still open.
class Attribution {
 public:
  /// One sweep over calls and ranges in time order with a stack per thread: O(n log n).
  static Attribution of(const Timeline& timeline);

  /// The context of a call, in Timeline::calls.
  ContextId of_call(RowIndex call) const { return of_call_[call]; }
  /// The context of a piece of work: that of its launch.
  ContextId of_work(const DeviceWork& work) const {
    return work.launch == kNoRow ? kNoLaunch : of_call_[work.launch];
  }
  /// The context in which a range was opened, without the range itself.
  ContextId around(RowIndex range) const { return around_[range]; }
  /// Must not be called with kNoLaunch. kOutside has no range.
  const Context& context(ContextId id) const { return contexts_[id]; }
  /// The innermost range of a context; kNoRow if outside all ranges or if the launch was not
  /// recorded.
  RowIndex innermost(ContextId id) const { return id == kNoLaunch ? kNoRow : contexts_[id].range; }
  std::size_t context_count() const { return contexts_.size(); }

  /// Calls `visit(range)` for each range of the stack, innermost first.
  template <typename Visit>
  void each(ContextId id, Visit&& visit) const {
    if (id == kNoLaunch) return;
    for (; id != kOutside; id = contexts_[id].below) visit(contexts_[id].range);
  }

 private:
  friend class Sweep;
  std::vector<ContextId> of_call_;
  std::vector<ContextId> around_;
  std::vector<Context> contexts_;
};

/// The name under which ranges that differ only in counters of their program become one row:
///
///   aten::to, op_id = 999599                      aten::to
///   aten::mm, seq = 12, sizes = [[1, 64], ...]    aten::mm
///   ProfilerStep#7                                ProfilerStep#*
///
/// These are PyTorch's names (emit_nvtx and the profiler's schedule); any other name is its own
/// label.
std::string range_label(std::string_view name);

/// The label of a range, with its domain if it has one: `decode`, `domain:decode`.
std::string range_label(const Timeline& timeline, const Range& range);

/// The labels of a timeline's range names, each computed once and numbered in the order of the
/// ranges.
class RangeLabels {
 public:
  explicit RangeLabels(const Timeline& timeline);

  /// The number of the label of a range's name.
  std::uint32_t of(Names::Id name) const { return of_name_[name]; }
  const std::string& text(std::uint32_t label) const { return labels_.text(label); }

 private:
  std::vector<std::uint32_t> of_name_;
  Names labels_;
};

/// Whether a user's `pattern` means this range: it equals the name or the label, or matches one of
/// them as a glob, in which `*` stands for any text and `?` for any character.
bool matches_range(std::string_view name, std::string_view pattern);

/// By name id: whether a range has the name and the pattern matches it.
std::vector<bool> matching_ranges(const Timeline& timeline, std::string_view pattern);

/// By context: whether it is inside a range that the pattern matches, at any depth.
std::vector<bool> contexts_in_ranges(const Timeline& timeline, const Attribution& attribution,
                                     std::string_view pattern);

}  // namespace profline::timeline
