#pragma once

#include <cstdint>
#include <string_view>

#include "records/timeline.h"

/// Small timelines, row by row.
namespace profline::testing {

/// Takes rows in any order; build() sorts them and sets the window around them.
class TimelineBuilder {
 public:
  TimelineBuilder& window(std::int64_t begin_ns, std::int64_t end_ns);
  /// Number 0, 1 ...
  RowIndex thread(std::int64_t process, std::int64_t tid);
  RowIndex stream(std::int32_t device, std::int64_t stream);

  struct Call {
    std::int64_t start_ns;
    std::int64_t end_ns;
    RowIndex thread;
    CallKind kind = CallKind::Launch;
  };
  /// The id to pass as the launch of work.
  std::uint64_t call(const Call& call);

  struct Work {
    std::int64_t start_ns;
    std::int64_t end_ns;
    RowIndex stream;
    std::uint64_t launch = 0;  ///< 0: no record
    std::string_view name = "kernel";
    WorkKind kind = WorkKind::Kernel;
  };
  TimelineBuilder& work(const Work& work);

  struct Open {
    std::int64_t start_ns;
    std::int64_t end_ns;
    std::string_view name;
    RowIndex thread;
    RangeKind kind = RangeKind::PushPop;
  };
  TimelineBuilder& range(const Open& range);

  Timeline build();

 private:
  Timeline timeline_;
};

/// A random timeline with every irregularity: overlapping and nested ranges of both kinds, work
/// without a launch, before its launch or without a stream, calls inside calls, rows of zero
/// length; two processes, three threads, two devices. About 120 ns long.
Timeline random_timeline(std::uint64_t seed);

}  // namespace profline::testing
