#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "records/timeline.h"

namespace profline::nsys::internal {

/// Finds the call that a piece of work names by its correlation id, which is unique within a
/// process only. Ids are nearly dense, so that a table of 4 bytes an id does; where they are not,
/// a sorted list stands in.
class CallIndex {
 public:
  /// `process_of_thread` says for each row of Timeline::threads which process it is of, 0, 1 ...
  /// Where a runtime function and the driver function it called share an id, the one that launches
  /// counts, else the outer one. Calls with id 0 have none.
  static CallIndex of(const std::vector<HostCall>& calls,
                      const std::vector<std::uint32_t>& process_of_thread);

  /// kNoRow when there is none.
  RowIndex find(std::uint32_t process, std::uint64_t correlation) const;
  /// Of the only process that made calls; kNoRow when there are several.
  RowIndex find(std::uint64_t correlation) const;

 private:
  struct Process {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint64_t count = 0;
    std::vector<RowIndex> dense;                             // by id less `first`
    std::vector<std::pair<std::uint64_t, RowIndex>> sparse;  // sorted; the best call first

    void expect(std::uint64_t correlation);  // all of them first, then
    void choose_form();                      // once, then
    void add(RowIndex row, const std::vector<HostCall>& calls);
    void sort(const std::vector<HostCall>& calls);
  };
  static RowIndex find(const Process& process, std::uint64_t correlation);

  std::vector<Process> processes_;
};

}  // namespace profline::nsys::internal
