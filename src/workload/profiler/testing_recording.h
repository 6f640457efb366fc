#pragma once

#include <cstdint>

// Shared by the tests of this folder: a recording written by hand.

#include "workload/profiler/call_tree.h"

namespace profline::workload::profiler_test {

inline TraceEvent call(const char* name, std::int64_t start_ns, std::int64_t end_ns,
                       std::uint64_t id = 0) {
  TraceEvent event;
  event.name = name;
  event.start_ns = start_ns;
  event.duration_ns = end_ns - start_ns;
  event.thread = 1;
  event.id = id;
  return event;
}

inline TraceEvent range(const char* name, std::int64_t start_ns, std::int64_t end_ns) {
  TraceEvent event = call(name, start_ns, end_ns);
  event.kind = TraceEvent::Kind::Range;
  return event;
}

inline TraceEvent kernel(const char* name, std::int64_t start_ns, std::int64_t end_ns,
                         std::uint64_t caller) {
  TraceEvent event = call(name, start_ns, end_ns);
  event.kind = TraceEvent::Kind::Kernel;
  event.device = 0;
  event.thread = 7;
  event.caller = caller;
  return event;
}

inline TraceEvent memory(std::int64_t at_ns, std::int64_t bytes) {
  TraceEvent event = call("[memory]", at_ns, at_ns);
  event.kind = TraceEvent::Kind::Memory;
  event.bytes = bytes;
  return event;
}

inline Recording recording_of(std::vector<TraceEvent> events, std::int64_t begin_ns,
                              std::int64_t end_ns) {
  return {.events = std::move(events), .begin_ns = begin_ns, .end_ns = end_ns};
}

}  // namespace profline::workload::profiler_test
