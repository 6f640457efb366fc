#include "summary/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::summary {
namespace {

PhaseSummary phase_with_share(std::optional<double> share) {
  PhaseSummary phase;
  phase.share = share;
  return phase;
}

TEST(Verdict, PhasesBelowTwoPercentAreSmall) {
  EXPECT_TRUE(is_small(phase_with_share(0.0199)));
  EXPECT_FALSE(is_small(phase_with_share(0.02)));
  EXPECT_FALSE(is_small(phase_with_share({})));  // unknown
}

TEST(Verdict, AStepIsWorthWhatItsFirstGainCouldSave) {
  PhaseSummary phase = phase_with_share(0.5);
  EXPECT_TRUE(is_worth_a_step(phase));
  phase.gains = {{"", 0, 0, 1.01, 0.005}, {"", 0, 0, 2, 0.25}};
  EXPECT_FALSE(is_worth_a_step(phase));
  phase.gains.front().saved_share = 0.01;
  EXPECT_TRUE(is_worth_a_step(phase));
  EXPECT_TRUE(is_worth_a_step(phase_with_share({})));
  EXPECT_FALSE(is_worth_a_step(phase_with_share(0.009)));
}

TEST(Verdict, PhasesByShareKeepTheirOrderWhereSharesAreEqual) {
  RunSummary summary;
  summary.phases = {phase_with_share({}), phase_with_share(0.2), phase_with_share(0.5),
                    phase_with_share(0.2)};
  EXPECT_THAT(by_share(summary), ::testing::ElementsAre(&summary.phases[2], &summary.phases[1],
                                                        &summary.phases[3], &summary.phases[0]));
}

TEST(Verdict, HostWorkIsNotableFromATenthOfARequest) {
  SummaryRequest request;
  request.parts = {{"load", "load", 0.09, {}, true}, {"forward", "forward", 0.7, {}}};
  EXPECT_EQ(notable_host_work(request), nullptr);
  request.parts.front().share = 0.1;
  EXPECT_EQ(notable_host_work(request), &request.parts.front());
}

TEST(Verdict, TheWorstProfilerIsNotableIfItSlowsTheProgramDownByAQuarter) {
  RunSummary summary;
  summary.overhead.resize(3);
  summary.overhead[1].slowdown = 1.24;
  EXPECT_EQ(notable_overhead(summary), nullptr);
  summary.overhead[0].slowdown = 1.25;
  summary.overhead[2].slowdown = 1.5;
  EXPECT_EQ(notable_overhead(summary), &summary.overhead[2]);
}

TEST(Verdict, TheSpreadOfTwoRequestsSaysLittle) {
  SummaryRequest request;
  request.requests = 2;
  EXPECT_TRUE(has_few_requests(request));
  request.requests = 3;
  EXPECT_FALSE(has_few_requests(request));
}

}  // namespace
}  // namespace profline::summary
