#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/timeline/internal/device_sweep.h"
#include "records/timeline.h"

namespace profline::timeline::internal {

/// Where threads are inside the ranges that a pattern names. Ranges that overlap on a thread are
/// one window, so that nothing in them counts twice.
class Focus {
 public:
  Focus(const Timeline& timeline, std::string_view pattern);

  std::uint64_t instances() const { return instances_; }  ///< ranges that the pattern names
  std::uint64_t still_open() const { return still_open_; }
  const std::vector<Window>& windows() const { return windows_; }
  /// The window that a thread is in at an instant, in windows(); nothing where it is in none.
  std::optional<std::size_t> find(RowIndex thread, std::int64_t when_ns) const;

 private:
  void add(const Range& range);

  std::vector<Window> windows_;
  std::vector<std::vector<std::size_t>> by_thread_;  // of windows_, in order of time
  std::uint64_t instances_ = 0;
  std::uint64_t still_open_ = 0;
};

}  // namespace profline::timeline::internal
