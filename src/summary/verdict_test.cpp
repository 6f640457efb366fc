#include "summary/verdict.h"

#include <utility>

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

/// A run with one phase, a part of another, that no limit explains.
RunSummary unexplained_run(std::string kind) {
  PhaseSummary phase = phase_with_share(0.792);
  phase.name = "encoder";
  phase.part_of = "prefill";
  phase.unit = "image";
  phase.mean_ns = 522e6;
  phase.kind = std::move(kind);
  phase.next_step = "start with aten::mm";
  RunSummary summary;
  summary.request = SummaryRequest();
  summary.phases = {phase};
  return summary;
}

TEST(Verdict, WithoutOneLimitItLeadsWithWhereTheTimeGoes) {
  RunSummary summary = unexplained_run("mixed");
  SummaryCost& cost = summary.phases.front().cost.emplace();
  cost.mfu = 0.021;
  cost.bandwidth = 0.003;
  EXPECT_EQ(verdict_of(summary),
            "Most of the time goes to phase encoder: 522 ms per image, 79.2 % of each request. It "
            "is not dominated by one limit: at peak speed arithmetic would take 2.1 % of that time "
            "and memory traffic 0.3 %. Next: start with aten::mm");
  cost.bandwidth = 1.5;  // its data comes from a cache
  summary.phases.front().share = 0.4;
  EXPECT_EQ(verdict_of(summary),
            "The largest part of the time goes to phase encoder: 522 ms per image, 40.0 % of each "
            "request. It is not dominated by one limit: at peak speed arithmetic would take 2.1 % "
            "of that time. Next: start with aten::mm");
}

TEST(Verdict, ADeviceThatBothWaitsAndWorksIsDescribedByItsBusyTime) {
  RunSummary summary = unexplained_run("mixed");
  PhaseSummary& phase = summary.phases.front();
  phase.device.emplace().busy_share = 0.8;
  phase.device->unprofiled_ns = 522e6;
  phase.gains = {{"if the GPU never waited", 104.4e6, 417.6e6, 1.25, 0.158}};
  EXPECT_EQ(verdict_of(summary),
            "Most of the time goes to phase encoder: 522 ms per image, 79.2 % of each request. It "
            "is not dominated by one limit: GPU busy 80.0 % of the time. An image would take 418 "
            "ms if the GPU never waited (1.2x faster). Next: start with aten::mm");
}

TEST(Verdict, WithoutEvidenceItSaysThatTheLimitIsNotKnown) {
  EXPECT_EQ(verdict_of(unexplained_run("unknown")),
            "Most of the time goes to phase encoder: 522 ms per image, 79.2 % of each request. "
            "What limits it is not known. Next: start with aten::mm");
}

TEST(Verdict, TheNextStepOfACaptureIsThatOfTheRangeThatTakesMostOfIt) {
  RunSummary summary;
  PhaseSummary capture = phase_with_share(1);
  capture.unit = "capture";
  capture.kind = "launch-bound";
  PhaseSummary range = phase_with_share(0.9);
  range.unit = "range";
  range.kind = "launch-bound";
  summary.phases = {capture, range};
  EXPECT_EQ(phase_to_improve(summary), &summary.phases[1]);
  summary.phases[1].kind = "mixed";
  EXPECT_EQ(phase_to_improve(summary), &summary.phases[0]);
  summary.phases[1].kind = "launch-bound";
  summary.phases[1].share = 0.4;
  EXPECT_EQ(phase_to_improve(summary), &summary.phases[0]);
  summary.phases[0].unit = "token";
  summary.phases[1].share = 0.9;
  EXPECT_EQ(phase_to_improve(summary), &summary.phases[0]);
  EXPECT_EQ(phase_to_improve(RunSummary()), nullptr);
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

}  // namespace
}  // namespace profline::summary
