#pragma once

// What versions of libtorch's profiler call differently: 1.13 (whole microseconds) and 2.x.

#include <cstdint>

#include <torch/csrc/autograd/profiler_kineto.h>

namespace profline::workload::compat {

template <typename Event>
constexpr bool tells_nanoseconds() {
  return requires(const Event& event) {
    event.startNs();
  };
}

template <typename Event>
std::int64_t start_ns(const Event& event) {
  if constexpr (tells_nanoseconds<Event>()) {
    return static_cast<std::int64_t>(event.startNs());
  } else {
    return static_cast<std::int64_t>(event.startUs()) * 1000;
  }
}

template <typename Event>
std::int64_t duration_ns(const Event& event) {
  if constexpr (tells_nanoseconds<Event>()) {
    return static_cast<std::int64_t>(event.durationNs());
  } else {
    return static_cast<std::int64_t>(event.durationUs()) * 1000;
  }
}

/// Events that newer versions mark as being for their own use.
template <typename Event>
bool is_hidden(const Event& event) {
  if constexpr (requires { event.isHiddenEvent(); }) {
    return event.isHiddenEvent();
  } else {
    return false;
  }
}

}  // namespace profline::workload::compat
