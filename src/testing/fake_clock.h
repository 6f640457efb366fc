#pragma once

#include <chrono>

#include "base/clock.h"

namespace profline::testing {

/// A clock that advances only on request. Starts at 2026-11-15T10:20:30.123Z.
class FakeClock final : public Clock {
 public:
  Steady now() const override { return steady_; }
  Wall wall_now() const override { return wall_; }

  void advance(std::chrono::nanoseconds duration) {
    steady_ += duration;
    wall_ += std::chrono::duration_cast<Wall::duration>(duration);
  }

 private:
  Steady steady_{std::chrono::hours(1)};
  Wall wall_{std::chrono::sys_days(std::chrono::year(2026) / 11 / 15) + std::chrono::hours(10) +
             std::chrono::minutes(20) + std::chrono::milliseconds(30123)};
};

}  // namespace profline::testing
