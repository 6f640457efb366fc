#include "pipeline/internal/live_stage_run.h"

#include <gtest/gtest.h>

#include "testing/fake_clock.h"

namespace profline::pipeline {
namespace {

using namespace std::chrono_literals;
using Activity = TimeAccount::Activity;

TEST(TimeAccount, EveryMomentBelongsToTheInnermostActivity) {
  testing::FakeClock clock;
  TimeAccount account(clock);
  clock.advance(100ns);  // before the first child: no gap
  {
    const TimeAccount::Span child(account, Activity::Child);
    clock.advance(1000ns);
  }
  clock.advance(7ns);
  {
    const TimeAccount::Span reading(account, Activity::Reading);
    clock.advance(20ns);
    const TimeAccount::Span child(account, Activity::Child);
    clock.advance(300ns);
  }
  {
    const TimeAccount::Span digesting(account, Activity::Digesting);
    clock.advance(40ns);
  }
  clock.advance(5ns);
  {
    const TimeAccount::Span child(account, Activity::Child);
    clock.advance(1ns);
  }
  clock.advance(60ns);  // after the last child: no gap
  const RunTiming timing = account.timing();
  EXPECT_EQ(timing.total_ns, 1533);
  EXPECT_EQ(timing.children_ns, 1301);
  EXPECT_EQ(timing.reading_ns, 20);
  EXPECT_EQ(timing.digesting_ns, 40);
  EXPECT_EQ(timing.reporting_ns, 0);
  EXPECT_EQ(timing.between_children_ns, 12);
}

TEST(TimeAccount, AStageHasWhatWasSpentSinceItBegan) {
  testing::FakeClock clock;
  TimeAccount account(clock);
  clock.advance(5ns);
  const RunTiming before = account.timing();
  {
    const TimeAccount::Span child(account, Activity::Child);
    clock.advance(10ns);
  }
  clock.advance(2ns);
  const StageTiming timing = spent_since(before, account.timing());
  EXPECT_EQ(timing.total_ns, 12);
  EXPECT_EQ(timing.children_ns, 10);
}

}  // namespace
}  // namespace profline::pipeline
