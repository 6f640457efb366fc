#include "comparison/compare.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comparison/row_text.h"
#include "comparison/testing_measurements.h"

namespace profline::comparison {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Runs = std::vector<RunMeasurements>;

Rules rules(double deviation = 0.001) {
  return {
      .threshold = 0.01, .only = {}, .known_spread = [=](const Series&) {
        return KnownSpread{{.deviation = deviation}, "the test says so", KnownSpread::Basis::Given};
      }};
}

Comparison compared(const Runs& a, const Runs& b, const Rules& with = rules()) {
  auto found = compare(a, b, with);
  EXPECT_TRUE(found) << found.error().to_string();
  return found ? std::move(*found) : Comparison{};
}

TEST(Compare, TellsASlowerRun) {
  const Comparison found = compared({measured_run("a", noisy(1, 40, 10, 0.01))},
                                    {measured_run("b", noisy(2, 40, 10.5, 0.01))});
  ASSERT_EQ(found.rows.size(), 1U);
  const Row& row = found.rows.front();
  EXPECT_EQ(row.verdict, Verdict::Slower);
  EXPECT_NEAR(*row.change, 0.05, 0.006);
  EXPECT_LT(*row.low, *row.change);
  EXPECT_GT(*row.high, *row.change);
  EXPECT_LT(*row.smallest_effect, 0.05);
  EXPECT_TRUE(row.paired);
  EXPECT_EQ(row.limit, "requests");
  EXPECT_EQ(row.a->n, 40U);
  EXPECT_THAT(found.regressions, ElementsAre("token_ms"));
  EXPECT_THAT(found.notes, IsEmpty());
}

TEST(Compare, PairsInputsWhateverTheirOrder) {
  // Inputs from 1 to 40 ms, each 5 % slower; the second side ran them backwards.
  std::vector<double> a;
  std::vector<double> b;
  const std::vector<double> factor = noisy(3, 40, 1.05, 0.01);
  for (std::size_t i = 0; i < 40; ++i) {
    a.push_back(static_cast<double>(i + 1));
    b.push_back(static_cast<double>(i + 1) * factor[i]);
  }
  RunMeasurements second = measured_run("b", b);
  std::reverse(second.series.front().units.begin(), second.series.front().units.end());
  std::reverse(second.series.front().keys.begin(), second.series.front().keys.end());
  const Comparison found = compared({measured_run("a", a)}, {second});
  EXPECT_EQ(found.rows.front().verdict, Verdict::Slower);
  EXPECT_TRUE(found.rows.front().paired);
}

TEST(Compare, SaysThatInputsDifferAndPairsThemNot) {
  RunMeasurements other = measured_run("b", noisy(2, 40, 10.5, 0.01));
  Node& image = other.inputs->as_map().find("images")->as_list().front();
  image.as_map().set("sha256", Node::string("another"));
  const Comparison found = compared({measured_run("a", noisy(1, 40, 10, 0.01))}, {other});
  EXPECT_FALSE(found.rows.front().paired);
  EXPECT_EQ(found.differences.same_inputs, false);
  EXPECT_THAT(found.differences.inputs,
              ElementsAre(Difference{"page-1000", "digest of page-1000", "another"}));
  EXPECT_THAT(found.notes,
              ElementsAre("the sides read different inputs (1 changed, 0 only in A, 0 only in B), "
                          "so their times are not for the same work"));
}

TEST(Compare, OfOneRunASideKeepsToTheKnownSpread) {
  const Comparison found = compared({measured_run("a", noisy(1, 200, 10, 0.01))},
                                    {measured_run("b", noisy(2, 200, 10.5, 0.01))}, rules(0.03));
  EXPECT_EQ(found.rows.front().verdict, Verdict::Undecided);
  EXPECT_EQ(found.rows.front().limit, "run-to-run spread: the test says so");
  EXPECT_THAT(found.regressions, IsEmpty());
}

TEST(Compare, TakesItsTimeToCryWolfOverManyKernels) {
  // 300 kernels of which two changed; units noisy enough that chance alone gives small p values.
  RunMeasurements a = measured_run("a", {10, 10.1});
  RunMeasurements b = measured_run("b", {10, 10.1});
  for (std::uint64_t i = 0; i < 300; ++i) {
    const std::string name = "k" + std::to_string(i);
    const double slower = i < 2 ? 1.2 : 1.0;
    add_kernel(a, name, noisy(1000 + i, 20, 5, 0.02));
    add_kernel(b, name, noisy(5000 + i, 20, 5 * slower, 0.02));
  }
  const Comparison found = compared({a}, {b}, rules(0.0001));
  int decided = 0;
  for (const Row& row : found.rows) {
    if (row.family != Family::Kernel) continue;
    EXPECT_GE(*row.adjusted_p, *row.p);
    decided += row.verdict == Verdict::Slower || row.verdict == Verdict::Faster ? 1 : 0;
    if (row.short_name == "k0" || row.short_name == "k1") {
      EXPECT_EQ(row.verdict, Verdict::Slower);
    }
  }
  EXPECT_LE(decided, 3);
  EXPECT_THAT(found.regressions, IsEmpty()) << "what a profiler saw does not fail a comparison";
}

TEST(Compare, KeepsToTheRowsAskedFor) {
  RunMeasurements a = measured_run("a", noisy(1, 20, 10, 0.001));
  RunMeasurements b = measured_run("b", noisy(2, 20, 10, 0.001));
  add_kernel(a, "gemm", noisy(3, 20, 5, 0.001));
  add_kernel(b, "gemm", noisy(4, 20, 6, 0.001));
  add_kernel(b, "copy", noisy(5, 20, 6, 0.001));
  Rules only = rules();
  for (const std::string pattern : {"gemm", "g*m", "ns::gemm"}) {
    only.only = {pattern};
    const Comparison found = compared({a}, {b}, only);
    ASSERT_EQ(found.rows.size(), 1U) << pattern;
    EXPECT_THAT(found.regressions, ElementsAre("gemm")) << "it was asked for";
  }
  only.only = {"metrics", "copy"};
  const Comparison found = compared({a}, {b}, only);
  ASSERT_EQ(found.rows.size(), 2U);
  EXPECT_EQ(found.rows[1].verdict, std::nullopt);
  EXPECT_FALSE(found.rows[1].a);
  only.only = {"gem"};
  const auto wrong = compare(Runs{a}, Runs{b}, only);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().to_string(), "--metric: neither side has 'gem' (did you mean 'gemm'?)");
}

TEST(Compare, TellsClocksBesideTheTimes) {
  RunMeasurements a = measured_run("a", noisy(1, 20, 10, 0.001));
  RunMeasurements b = measured_run("b", noisy(2, 20, 11, 0.001));
  a.run.sm_clock_mhz = 1980;
  b.run.sm_clock_mhz = 1800;
  const Comparison found = compared({a}, {b});
  const Row& row = found.rows.front();
  EXPECT_EQ(row.verdict, Verdict::Slower) << "the clock excuses nothing";
  EXPECT_NEAR(*row.change_at_equal_clocks, 0, 0.002);
  EXPECT_THAT(found.notes,
              ElementsAre("the SM clock was 1980 MHz and 1800 MHz on average: 'at equal clocks' is "
                          "the change that remains if time scales with the clock, which "
                          "memory-bound work does not"));
}

TEST(Compare, TellsWhatAReaderMustKnow) {
  RunMeasurements a = measured_run("a", noisy(1, 20, 10, 0.001));
  RunMeasurements b = measured_run("b", noisy(2, 20, 10, 0.001));
  a.new_tokens = 100;
  b.new_tokens = 90;
  a.series.front().per_step = requests::PerStep::Each;
  for (const char* name : {"request_ms", "write_ms"}) {
    a.series.push_back(a.series.front());
    a.series.back().name = a.series.back().short_name = name;
    a.series.back().per_step = requests::PerStep::Sum;
  }
  b.run.state = "failed";
  b.disturbance = 0.3;
  b.notes = {"b: torch_profiler/trace.json: line 3: torn"};
  RunMeasurements odd = b;
  odd.run.id = "c";
  odd.run.folder = "runs/c";
  odd.run.state = "ok";
  odd.disturbance = 0;
  odd.notes.clear();
  odd.config = Node::map();
  odd.config->as_map().set("seed", Node::integer(1));
  const Comparison found = compared({a}, {b, odd});
  EXPECT_THAT(
      found.notes,
      ElementsAre("the runs of one side are not alike: runs/c differs from runs/b in config (seed)",
                  "runs/b is failed", "b: torch_profiler/trace.json: line 3: torn",
                  "runs/b was disturbed: steps of more than 5 times the median took 30.0 % of its "
                  "steps' time",
                  "the sides generated 100 and 90 tokens: request_ms and write_ms are not for the "
                  "same work, token_ms is"));
}

TEST(Compare, OfSeveralRunsGoesByTheirOwnSpread) {
  Runs a;
  Runs b;
  for (std::uint64_t i = 0; i < 3; ++i) {
    a.push_back(measured_run("a" + std::to_string(i), noisy(i, 20, 10, 0.002)));
    b.push_back(measured_run("b" + std::to_string(i), noisy(9 + i, 20, 10.5, 0.002)));
  }
  a.front().disturbance = 0.1;
  b.front().disturbance = 0.3;
  const Comparison found = compared(a, b, rules(10));
  EXPECT_EQ(found.rows.front().verdict, Verdict::Slower);
  EXPECT_EQ(found.run_spread, "that of the runs compared");
  EXPECT_EQ(found.rows.front().a->runs, 3U);
  EXPECT_THAT(found.notes,
              ElementsAre("2 of 6 runs were disturbed: steps of more than 5 times the median "
                          "took 10.0 % to 30.0 % of their steps' time"));
}

/// The verdict of the only row, and why it was withheld.
std::string verdict_and_reason(const Comparison& found) {
  const Row& row = found.rows.front();
  return verdict_text(row) + ": " + row.withheld;
}

TEST(Compare, WithholdsTheVerdictOfADisturbedRun) {
  Runs a = {measured_run("a", noisy(1, 40, 10, 0.01))};
  const Runs b = {measured_run("b", noisy(2, 40, 5, 0.01))};
  EXPECT_EQ(verdict_and_reason(compared(a, b)), "FASTER: ");
  a.front().disturbance = 0.05;
  const Comparison found = compared(a, b);
  EXPECT_EQ(verdict_and_reason(found), "UNDECIDED: runs/a was disturbed");
  EXPECT_EQ(found.rows.front().smallest_effect, std::nullopt) << "it would have found nothing";
  EXPECT_EQ(found.rows.front().at_most, std::nullopt);
  EXPECT_NEAR(*found.rows.front().change, -0.5, 0.01) << "what was measured is shown all the same";
  EXPECT_EQ(verdict_and_reason(compared(b, a)), "UNDECIDED: runs/a was disturbed");
}

TEST(Compare, WithholdsTheVerdictWhereOneSideAloneWasDisturbed) {
  Runs a;
  Runs b;
  for (std::uint64_t i = 0; i < 3; ++i) {
    a.push_back(measured_run("a" + std::to_string(i), noisy(i, 20, 10, 0.002)));
    b.push_back(measured_run("b" + std::to_string(i), noisy(9 + i, 20, 5, 0.002)));
    a.back().disturbance = 0.2;
  }
  EXPECT_EQ(verdict_and_reason(compared(a, b)),
            "UNDECIDED: the runs of A were disturbed and those of B were not");
  EXPECT_EQ(verdict_and_reason(compared(b, a)),
            "UNDECIDED: the runs of B were disturbed and those of A were not");
  for (RunMeasurements& run : b) run.disturbance = 0.2;
  EXPECT_EQ(verdict_and_reason(compared(a, b)), "FASTER: ") << "both bore the same";
}

TEST(Compare, WithholdsTheVerdictWhereTheSpreadIsAssumed) {
  const auto assumed = [](double threshold) {
    return Rules{
        .threshold = threshold, .only = {}, .known_spread = [](const Series&) {
          return KnownSpread{{.deviation = 0.0001}, "assumed", KnownSpread::Basis::Assumed};
        }};
  };
  const Runs a = {measured_run("a", noisy(1, 40, 10, 0.001))};
  const Runs b = {measured_run("b", noisy(2, 40, 8.8, 0.001))};
  const std::string reason = "UNDECIDED: too few runs to know the run-to-run spread";
  EXPECT_EQ(verdict_and_reason(compared(a, b, assumed(0.01))), reason);
  EXPECT_EQ(verdict_and_reason(compared(a, b, assumed(0.5))), reason) << "nor is it the same";
  const Runs two = {a.front(), measured_run("c", noisy(3, 40, 10, 0.001))};
  EXPECT_EQ(verdict_and_reason(compared(two, b, assumed(0.01))), reason);
  const Runs three = {two[0], two[1], measured_run("d", noisy(4, 40, 10, 0.001))};
  EXPECT_EQ(verdict_and_reason(compared(three, b, assumed(0.01))), "FASTER: ");
}

TEST(Compare, TakesTheFirstRunOfASeriesForWhatItIs) {
  Runs a = {measured_run("a", noisy(1, 40, 10, 0.001))};
  const Runs b = {measured_run("b", noisy(2, 40, 8.8, 0.001))};
  a.front().opens_series = true;
  const auto known = [](KnownSpread::Basis basis) {
    return Rules{.threshold = 0.01, .only = {}, .known_spread = [=](const Series&) {
                   return KnownSpread{{.deviation = 0.001}, "known", basis};
                 }};
  };
  EXPECT_EQ(verdict_and_reason(compared(a, b, known(KnownSpread::Basis::Runs))),
            "UNDECIDED: runs/a is the first run after a pause, which is often slower");
  EXPECT_EQ(verdict_and_reason(compared(a, b, known(KnownSpread::Basis::Given))), "FASTER: ")
      << "whoever gives the spread has checked that";
}

TEST(Compare, LeavesTheFirstRunOfASeriesOutWhereThereAreOthers) {
  Runs a;
  Runs b;
  for (std::uint64_t i = 0; i < 4; ++i) {
    const double first = i == 0 ? 2 : 1;
    a.push_back(measured_run("a" + std::to_string(i), noisy(i, 20, 10 * first, 0.002)));
    b.push_back(measured_run("b" + std::to_string(i), noisy(9 + i, 20, 10, 0.002)));
  }
  EXPECT_EQ(compared(a, b).rows.front().verdict, Verdict::Undecided);
  a.front().opens_series = true;
  const Comparison found = compared(a, b);
  EXPECT_EQ(found.rows.front().verdict, Verdict::Same);
  EXPECT_EQ(found.rows.front().a->runs, 3U);
  EXPECT_EQ(found.a.size(), 4U);
  EXPECT_TRUE(found.a.front().left_out);
  EXPECT_THAT(found.notes, ElementsAre("runs/a0 is left out: it is the first run after a pause"));
  a.pop_back();
  EXPECT_EQ(compared(a, b).rows.front().a->runs, 3U) << "two others would be too few";
}

TEST(Compare, SaysWhichRequestsCount) {
  RunMeasurements a = measured_run("a", {1, 2, 3});
  RunMeasurements b = measured_run("b", {1, 2, 3});
  a.requests = 20;
  a.steady_requests = 18;
  a.steadiness = statistics::Steadiness::Steady;
  b.requests = 3;
  b.steady_requests = 2;
  EXPECT_THAT(compared({a}, {b}).notes,
              ElementsAre("one-time costs and warm-up are not compared: 2 requests of A and 0 "
                          "requests of B have such",
                          "1 of 2 runs have fewer than 8 requests, too few to tell which of them "
                          "are steady: all of their requests are compared"));
  b.steadiness = statistics::Steadiness::Drifting;
  a.steady_requests = 20;
  b.steady_requests = 3;
  EXPECT_THAT(compared({a}, {b}).notes,
              ElementsAre("the times of 1 of 2 runs still change from request to request, so "
                          "longer runs may give different ones"));
}

TEST(Compare, SaysThatARunIsOnBothSides) {
  const RunMeasurements run = measured_run("a", noisy(1, 20, 10, 0.001));
  EXPECT_THAT(compared({run}, {run}).notes, ElementsAre("runs/a is on both sides"));
}

TEST(Compare, AssumesMoreWhereTheMachineWasBusy) {
  const Runs a = {measured_run("a", {10})};
  Runs b = {measured_run("b", {10})};
  EXPECT_EQ(stated_spread(a, b).source,
            "not known; 2 % between two runs is assumed, as is usual on a GPU");
  EXPECT_NEAR(stated_spread(a, b).spread.difference_of_two(), 0.02, 1e-9);
  b.front().disturbance = 0.4;
  EXPECT_EQ(stated_spread(a, b).source,
            "not known; 312.0 % between two runs is assumed, because something else took much of a "
            "run's time");
  Runs cpu = {measured_run("a", {10})};
  cpu.front().run.device = "cpu";
  EXPECT_EQ(stated_spread(cpu, cpu).source,
            "not known; 20 % between two runs is assumed, as is usual on a CPU");
  EXPECT_NEAR(stated_spread(cpu, cpu).spread.difference_of_two(), 0.20, 1e-9);
}

TEST(Compare, MindsSmallerChangesOnAGpu) {
  const Runs gpu = {measured_run("a", {10})};
  Runs cpu = {measured_run("b", {10})};
  cpu.front().run.device = "cpu";
  EXPECT_EQ(usual_threshold(gpu, gpu), 0.01);
  EXPECT_EQ(usual_threshold(gpu, cpu), 0.05);
  EXPECT_EQ(usual_threshold(cpu, gpu), 0.05);
}

TEST(Compare, ReadsCapturesOnlyWhereTheyMayMatter) {
  EXPECT_TRUE(wants_captures({}));
  EXPECT_FALSE(wants_captures(std::vector<std::string>{"token_ms", "phases"}));
  EXPECT_TRUE(wants_captures(std::vector<std::string>{"token_ms", "gemm*"}));
}

TEST(Compare, WritesADocumentThatReadsBack) {
  const Comparison found = compared({measured_run("a", noisy(1, 40, 10, 0.01))},
                                    {measured_run("b", noisy(2, 40, 10.5, 0.01))});
  const auto text = to_document(found);
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, testing::StartsWith("{\n  \"schema\": \"profline.comparison/2\""));
  const auto again = from_document<Comparison>(*text, "it");
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(*again, found);
}

}  // namespace
}  // namespace profline::comparison
