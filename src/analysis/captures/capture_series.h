#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "records/timeline.h"

/// What a capture measured for each kernel and operator, launch by launch.
namespace profline::captures {

/// One kernel with one launch shape, or one operator.
struct CallTimes {
  std::string name;        ///< canonical: the same for every tool
  std::string short_name;  ///< for display
  std::string shape;       ///< `grid 4,1,1 block 128,1,1`; empty: not known, or an operator
  std::vector<double> ns;  ///< of each call, in time order

  double total_ns() const;
};

/// Every kernel, most time first.
std::vector<CallTimes> kernel_times(const Timeline& timeline);

/// Every operator by self time on the host; most time first.
std::vector<CallTimes> operator_times(const Timeline& timeline);

}  // namespace profline::captures
