#include "tiles/lanes.h"

namespace profline::tiles {

std::string_view to_text(LaneKind kind) {
  switch (kind) {
    case LaneKind::Work:
      return "work";
    case LaneKind::Copies:
      return "copies";
    case LaneKind::Ranges:
      return "ranges";
    case LaneKind::SharedRanges:
      return "shared ranges";
    case LaneKind::Operators:
      return "operators";
    case LaneKind::Calls:
      return "calls";
  }
  return "work";
}

std::string_view to_text(EventKind kind) {
  switch (kind) {
    case EventKind::Kernel:
      return "kernel";
    case EventKind::Copy:
      return "copy";
    case EventKind::Fill:
      return "fill";
    case EventKind::Graph:
      return "graph";
    case EventKind::Range:
      return "range";
    case EventKind::Operator:
      return "operator";
    case EventKind::Call:
      return "call";
  }
  return "kernel";
}

}  // namespace profline::tiles
