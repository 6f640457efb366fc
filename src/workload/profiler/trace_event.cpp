#include "workload/profiler/trace_event.h"

namespace profline::workload {

std::string shapes_text(const std::vector<std::vector<std::int64_t>>& shapes) {
  std::string text = "[";
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    text += i == 0 ? "[" : ", [";
    for (std::size_t j = 0; j < shapes[i].size(); ++j) {
      if (j > 0) text += ", ";
      text += std::to_string(shapes[i][j]);
    }
    text += ']';
  }
  return text + ']';
}

}  // namespace profline::workload
