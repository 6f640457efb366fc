#include "base/clock.h"

#include <gtest/gtest.h>

#include "testing/fake_clock.h"

namespace profline {
namespace {

using namespace std::chrono_literals;

TEST(UtcTimestamp, IsIsoWithMilliseconds) {
  EXPECT_EQ(utc_timestamp(Clock::Wall(0s)), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(utc_timestamp(Clock::Wall(951827696s + 999999us)), "2000-02-29T12:34:56.999Z");
  EXPECT_EQ(utc_timestamp(Clock::Wall(-1ms)), "1969-12-31T23:59:59.999Z");
}

TEST(FakeClock, GoesOnlyWhenTold) {
  testing::FakeClock clock;
  EXPECT_EQ(utc_timestamp(clock.wall_now()), "2026-11-15T10:20:30.123Z");
  const Clock::Steady before = clock.now();
  EXPECT_EQ(clock.now(), before);
  clock.advance(1500ms);
  EXPECT_EQ(clock.now() - before, 1500ms);
  EXPECT_EQ(utc_timestamp(clock.wall_now()), "2026-11-15T10:20:31.623Z");
}

TEST(SystemClock, NeverGoesBackwards) {
  const SystemClock clock;
  const Clock::Steady before = clock.now();
  EXPECT_LE(before, clock.now());
}

}  // namespace
}  // namespace profline
