#pragma once

#include <chrono>
#include <string>

namespace profline {

/// The program's source of time; tests use a fake one.
class Clock {
 public:
  using Steady = std::chrono::steady_clock::time_point;
  using Wall = std::chrono::system_clock::time_point;

  virtual ~Clock() = default;
  /// For durations: never goes backwards.
  virtual Steady now() const = 0;
  /// For dates: follows the system clock, and may jump.
  virtual Wall wall_now() const = 0;
};

class SystemClock final : public Clock {
 public:
  Steady now() const override { return std::chrono::steady_clock::now(); }
  Wall wall_now() const override { return std::chrono::system_clock::now(); }
};

/// `2026-11-15T10:20:30.123Z`: UTC, truncated (not rounded) to milliseconds.
std::string utc_timestamp(Clock::Wall time);

}  // namespace profline
