#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "records/timeline.h"

/// What a capture measured of each kernel and operator, launch by launch.
namespace profline::captures {

/// One kernel with one launch shape, or one operator.
struct CallTimes {
  std::string name;        ///< canonical, the same whichever tool saw it
  std::string short_name;  ///< what people call it
  std::string shape;       ///< `grid 4,1,1 block 128,1,1`; empty: not known, or an operator
  std::vector<double> ns;  ///< of each call, in order of time

  double total_ns() const;
};

/// Every kernel, most time first.
std::vector<CallTimes> kernel_times(const Timeline& timeline);

/// Every operator by its own time on the host, operators inside it left out; most time first.
std::vector<CallTimes> operator_times(const Timeline& timeline);

}  // namespace profline::captures
