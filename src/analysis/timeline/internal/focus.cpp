#include "analysis/timeline/internal/focus.h"

#include <algorithm>

#include "analysis/timeline/range_names.h"

namespace profline::timeline::internal {

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
