// How often a kernel is launched, and which of its launches are profiled.

#include "kernel_lab/launches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/counter_budget/budget.h"
#include "testing/captures/timeline_builder.h"
#include "testing/paths.h"
#include "tools/ncu/csv_reader.h"
#include "tools/nsys/sqlite_reader.h"

namespace profline::kernel_lab {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Numbers = std::vector<std::uint32_t>;

WantedKernel wanted(std::string regex) {
  return {std::string(kUnnamed), std::move(regex), ""};
}

LaunchRequest request(std::optional<std::uint32_t> skip, std::uint32_t count = 1) {
  LaunchRequest made;
  made.skip = skip;
  made.count = count;
  return made;
}
LaunchRequest spread_request(std::uint32_t count) {
  LaunchRequest made = request(std::nullopt, count);
  made.is_spread = true;
  return made;
}
LaunchRequest within(LaunchRequest made, LaunchRequest::Window window) {
  made.window = window;
  return made;
}

/// Launches of one function, with these durations.
KernelLaunches launched(const std::vector<std::int64_t>& durations) {
  KernelLaunches there;
  there.functions = {"gemm"};
  for (const std::int64_t duration : durations) {
    there.launches.push_back({0, static_cast<std::uint32_t>(there.launches.size() + 1), duration});
  }
  return there;
}

Timeline real_capture() {
  auto timeline =
      nsys::read_sqlite(testing::source_dir() / "tests/golden/nsys/2025.3-decode/input.sqlite");
  EXPECT_TRUE(timeline) << timeline.error().to_string();
  return timeline ? *std::move(timeline) : Timeline();
}

TEST(Census, OfARealCaptureCountsEveryLaunchInItsRanges) {
  const Timeline timeline = real_capture();
  const SeenLaunches all = seen_launches(timeline, {});
  const std::vector<std::string> ranges = {"decode"};
  const SeenLaunches inside = seen_launches(timeline, ranges);
  ASSERT_GT(all.launches.size(), 10U);
  ASSERT_EQ(all.launches.size(), inside.launches.size());
  const std::vector<WantedKernel> kernels = {wanted("."), wanted("nvjet|gemm"), wanted("^nothing")};
  const auto census = take_census(all, kernels);
  ASSERT_TRUE(census);
  EXPECT_EQ(census->at(0).launches.size(), all.launches.size());
  EXPECT_EQ(census->at(0).functions.size(), all.names.size());
  EXPECT_GT(census->at(1).launches.size(), 0U);
  EXPECT_THAT(census->at(2).launches, IsEmpty());
  const auto gated = take_census(inside, kernels);
  ASSERT_TRUE(gated);
  EXPECT_EQ(gated->at(0).launches.size() + gated->at(0).outside, all.launches.size());
}

TEST(Census, CountsTimeThatKernelsShareOnce) {
  testing::TimelineBuilder builder;
  const RowIndex thread = builder.thread(1, 1);
  for (const std::int64_t stream : {7, 8}) {
    const auto launch = builder.call({stream, stream + 1, thread});
    const std::string_view name = stream == 7 ? "first" : "second";
    builder.work({100, 200, builder.stream(0, stream), launch, name});
  }
  const std::vector<WantedKernel> kernels = {wanted("first"), wanted("second")};
  const auto census = take_census(seen_launches(builder.build(), {}), kernels);
  ASSERT_TRUE(census);
  EXPECT_EQ(census->at(0).launches.front().duration_ns, 100);
  EXPECT_EQ(census->at(0).total_ns(), 50);
  EXPECT_EQ(census->at(0).total_ns() + census->at(1).total_ns(), 100);
}

TEST(Census, OfNcusRowsLooksAtTheirRanges) {
  const auto report =
      ncu::load_csv(testing::source_dir() / "tests/golden/ncu/2025.3-raw-kernels/input.csv", {});
  ASSERT_TRUE(report) << report.error().to_string();
  const std::vector<std::string> nowhere = {"nowhere"};
  const SeenLaunches seen = seen_launches(*report, {});
  EXPECT_THAT(seen.launches, SizeIs(report->kernels.size()));
  EXPECT_GT(seen.launches.front().duration_ns, 0);
  for (const SeenLaunch& launch : seen_launches(*report, nowhere).launches) {
    EXPECT_FALSE(launch.is_inside);
  }
}

TEST(Census, NumbersLaunchesByFunctionOverTheWholeProgram) {
  SeenLaunches seen;
  seen.names = {"void a::gemm<(int)1>()", "void a::gemm<(int)2>()", "copy"};
  seen.launches = {
      {0, 5, false, 5}, {2, 1, true, 1}, {1, 7, true, 7}, {0, 6, true, 6}, {1, 8, true, 8}};
  const std::vector<WantedKernel> kernels = {wanted(R"(a::gemm<\(int\)\d>)"),
                                             wanted(R"(^void a::gemm<\(int\)1>\(\)$)")};
  const auto census = take_census(seen, kernels);
  ASSERT_TRUE(census);
  Numbers invocations;
  for (const Launch& launch : census->at(0).launches) invocations.push_back(launch.invocation);
  EXPECT_THAT(invocations, ElementsAre(1, 2, 2));
  EXPECT_EQ(census->at(0).outside, 1U);
  EXPECT_EQ(census->at(0).total_ns(), 21);
  EXPECT_THAT(census->at(1).launches, SizeIs(1));
  EXPECT_EQ(census->at(1).launches.front().invocation, 2U);
  EXPECT_THAT(similar_names(seen, {"gem", "x", ""}), ElementsAre("gemm"));
}

TEST(Census, ReportsAnInvalidExpression) {
  const std::vector<WantedKernel> kernels = {{"k", "gemm(", ""}};
  const auto census = take_census({}, kernels);
  ASSERT_FALSE(census);
  EXPECT_THAT(census.error().message(),
              ::testing::StartsWith("kernel 'k': 'gemm(' is not a regular expression: "));
}

TEST(Census, LeavesNcusOwnGrammarToNcu) {
  const std::vector<std::string> ranges = {"decode/", "prefill"};
  const SeenLaunches seen = seen_launches(real_capture(), ranges);
  EXPECT_THAT(seen.ignored_ranges, ElementsAre("decode/"));
  EXPECT_TRUE(seen.launches.front().is_inside);
}

TEST(Choice, KeepsASkipThatFits) {
  const auto choice = choose_launches(request(3, 2), launched({1, 1, 1, 1, 1, 1}));
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->skip, 3U);
  EXPECT_EQ(choice->count, 2U);
  EXPECT_EQ(choice->reason, "launches 4 to 5 of 6");
}

TEST(Choice, DoesNotSkipPastTheEnd) {
  const std::vector<std::int64_t> twelve(12, 1);
  const auto one = choose_launches(request(200), launched(twelve));
  ASSERT_TRUE(one);
  EXPECT_EQ(one->skip, 11U);
  EXPECT_EQ(one->count, 1U);
  EXPECT_EQ(one->reason, "launch 12 of 12; a skip of 200 goes past the end");
  const auto many = choose_launches(request(200, 20), launched(twelve));
  ASSERT_TRUE(many);
  EXPECT_EQ(many->skip, 0U);
  EXPECT_EQ(many->count, 12U);
  EXPECT_EQ(many->reason,
            "launches 1 to 12 of 12; a skip of 200 goes past the end; 20 were requested");
}

TEST(Choice, IsOfMedianDurationWhenLeftOpen) {
  const auto one = choose_launches(request({}), launched({90'000, 10, 50, 40, 60}));
  ASSERT_TRUE(one);
  EXPECT_EQ(one->skip, 2U);
  EXPECT_EQ(one->reason, "launch 3 of 5, of median duration (50 ns)");
  const auto three = choose_launches(request({}, 3), launched({5, 10, 20, 30, 40}));
  ASSERT_TRUE(three);
  EXPECT_EQ(three->skip, 1U);
  const auto at_the_edge = choose_launches(request({}, 3), launched({1, 2, 9, 9, 2}));
  ASSERT_TRUE(at_the_edge);
  EXPECT_EQ(at_the_edge->skip, 2U) << "the last launch of that duration has nothing after it";
}

TEST(Choice, SpreadsOverAllThereAre) {
  const auto choice =
      choose_launches(spread_request(3), launched(std::vector<std::int64_t>(12, 1)));
  ASSERT_TRUE(choice);
  EXPECT_THAT(choice->invocations, ElementsAre(3, 7, 11));
  EXPECT_EQ(choice->expected, 3U);
  EXPECT_EQ(choice->reason, "launches 3, 7, 11 of 12");
  const auto all = choose_launches(spread_request(9), launched({1, 1}));
  ASSERT_TRUE(all);
  EXPECT_THAT(all->invocations, ElementsAre(1, 2));
}

TEST(Choice, StaysInItsWindow) {
  const LaunchRequest::Window window{.first = 4, .last = 6};
  const auto skipping =
      choose_launches(within(request(9), window), launched({1, 2, 3, 4, 5, 6, 7}));
  ASSERT_TRUE(skipping);
  EXPECT_EQ(skipping->skip, 5U);
  const auto spread =
      choose_launches(within(spread_request(3), window), launched({1, 2, 3, 4, 5, 6, 7}));
  ASSERT_TRUE(spread);
  EXPECT_THAT(spread->invocations, ElementsAre(4, 5, 6));
  const auto outside = choose_launches(within(request({}), window), launched({1, 2}));
  ASSERT_FALSE(outside);
  EXPECT_EQ(outside.error().message(), "launches 4 to 6 were requested, but there are only 2");
}

TEST(Choice, WithoutACensusIsTheRequest) {
  EXPECT_EQ(choose_uncounted(request(200, 2)).skip, 200U);
  EXPECT_EQ(choose_uncounted(request({})).reason, "1 after 0, not counted before");
}

using Places = std::vector<std::size_t>;

ChosenKernel chosen(std::size_t rank, std::string regex, Places places, std::uint32_t count = 1) {
  ChosenKernel kernel;
  kernel.rank = rank;
  kernel.kernel = wanted(std::move(regex));
  kernel.folder = "kernel_000" + std::to_string(rank);
  kernel.choice.count = count;
  kernel.choice.expected = count;
  kernel.places = std::move(places);
  kernel.is_free = true;
  return kernel;
}

std::vector<ChosenKernel> three_kernels() {
  return {chosen(1, "a::b", {2, 11, 20}), chosen(2, "[[:alpha:]]", {}),
          chosen(3, "c", {5, 6, 12, 14, 30}, 2)};
}

TEST(Passes, AreOneAKernel) {
  const Passes plan = plan_passes(three_kernels(), false);
  ASSERT_THAT(plan.passes, SizeIs(3));
  EXPECT_EQ(plan.passes[1].regex, "[[:alpha:]]");
  EXPECT_EQ(plan.passes[2].folder, "kernel_0003");
}

TEST(Passes, AreMergedOverAStretchOfLaunchesThatHasThemAll) {
  const Passes plan = plan_passes(three_kernels(), true);
  ASSERT_THAT(plan.passes, SizeIs(2));
  EXPECT_TRUE(plan.passes[0].is_merged());
  EXPECT_THAT(plan.passes[0].kernels, ElementsAre(0, 2));
  EXPECT_EQ(plan.passes[0].regex, "(?:a::b)|(?:c)");
  // Of both in their order, a c c a c c a c: 1 to 3, 2 to 4, 4 to 6 and 5 to 7 are the shortest.
  EXPECT_EQ(plan.passes[0].choice.skip, 3U);
  EXPECT_EQ(plan.passes[0].choice.count, 3U);
  EXPECT_THAT(plan.passes[0].choice.invocations, ::testing::IsEmpty());
  EXPECT_EQ(plan.passes[0].choice.reason, "among launches 4 to 6 of the 8 of these 2 kernels");
  EXPECT_THAT(plan.not_merged,
              ElementsAre("kernel_0002 has a pass of its own: its launches were not counted"));
}

TEST(Passes, OfCertainLaunchesHoldThem) {
  std::vector<ChosenKernel> kernels = {chosen(1, "a", {1, 3, 5}), chosen(2, "b", {2, 4, 6})};
  for (ChosenKernel& kernel : kernels) kernel.is_free = false;
  kernels[0].choice.skip = 1;
  kernels[1].choice.skip = 2;
  const Passes plan = plan_passes(kernels, true);
  ASSERT_THAT(plan.passes, SizeIs(1));
  EXPECT_EQ(plan.passes[0].choice.skip, 2U) << "3, 4, 5, 6 of 1 to 6";
  EXPECT_EQ(plan.passes[0].choice.count, 4U);
}

TEST(Passes, OfKernelsFarApartAreNotMerged) {
  Places many;
  for (std::size_t place = 1; place < 100; ++place) many.push_back(place);
  const Passes plan = plan_passes(std::vector{chosen(1, "a", {0}), chosen(2, "b", many, 30)}, true);
  EXPECT_TRUE(plan.passes[0].is_merged())
      << "31 are fewer than 20 and four times what was requested";
  const Passes apart = plan_passes(
      std::vector{chosen(1, "a", {0}), chosen(2, "b", {200}), chosen(3, "c", many)}, true);
  EXPECT_THAT(apart.passes, SizeIs(3));
  EXPECT_THAT(apart.not_merged,
              ElementsAre("each kernel has a pass of its own: they are launched too far apart, 101 "
                          "launches would be profiled to have them all"));
}

TEST(Passes, OfALaunchThatTwoExpressionsMatchCountItOnce) {
  const Passes plan = plan_passes(std::vector{chosen(1, "a", {4}), chosen(2, "a|b", {4, 5})}, true);
  ASSERT_THAT(plan.passes, SizeIs(1));
  EXPECT_EQ(plan.passes[0].choice.skip, 0U);
  EXPECT_EQ(plan.passes[0].choice.count, 1U);
}

constexpr Collected kCollected{.replays = 18, .tables = 7};

TEST(Passes, TakeTheProgramOnceEach) {
  using std::chrono::seconds;
  const auto kernels = three_kernels();
  const auto apart = estimate(plan_passes(kernels, false).passes, kCollected, {seconds(10), 1000});
  const auto merged = estimate(plan_passes(kernels, true).passes, kCollected, {seconds(10), 1000});
  EXPECT_GT(apart, seconds(30));
  EXPECT_GT(apart - merged, seconds(10));
}

TEST(Passes, CostWhatTheCounterBudgetExpects) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  const std::vector<ChosenKernel> one = {chosen(1, "a", {0, 1})};
  const auto passes = plan_passes(one, false).passes;
  const std::uint64_t launches = passes.front().choice.expected.value_or(1);
  const auto time = [&](std::uint32_t replays) {
    return estimate(passes, {.replays = replays, .tables = 0}, {seconds(10), 1000});
  };
  EXPECT_EQ(time(18), counter_budget::capture_time({seconds(10), 1000}, 18, launches));
  EXPECT_GE(time(36) - time(18), milliseconds(600) * launches) << "a preset with twice the replays";
}

/// Three kernels that took 1, 7 and 2 ms in all.
std::vector<ChosenKernel> timed_kernels() {
  std::vector<ChosenKernel> kernels = three_kernels();
  kernels[0].total_ns = 1'000'000;
  kernels[1].total_ns = 7'000'000;
  kernels[2].total_ns = 2'000'000;
  return kernels;
}

TEST(Budget, KeepsTheKernelsThatTakeMostTime) {
  using std::chrono::seconds;
  const CountedProgram program{seconds(10), 1000};
  const auto kernels = timed_kernels();
  const auto two =
      estimate(plan_passes(std::vector{kernels[1], kernels[2]}, false).passes, kCollected, program);
  const BudgetedKernels fitting = fit_budget(kernels, false, kCollected, program, two);
  EXPECT_THAT(fitting.is_kept, ElementsAre(false, true, true));
  EXPECT_EQ(fitting.time, two);
  EXPECT_DOUBLE_EQ(fitting.coverage(), 0.9);
  const BudgetedKernels less = fit_budget(kernels, false, kCollected, program, two - seconds(1));
  EXPECT_THAT(less.is_kept, ElementsAre(false, true, false));
}

TEST(Budget, HasRoomForMoreInMergedRuns) {
  using std::chrono::seconds;
  const CountedProgram program{seconds(10), 1000};
  std::vector<ChosenKernel> kernels = timed_kernels();
  const auto merged = estimate(plan_passes(kernels, true).passes, kCollected, program);
  EXPECT_THAT(fit_budget(kernels, true, kCollected, program, merged).is_kept,
              ElementsAre(true, true, true));
  EXPECT_THAT(fit_budget(kernels, false, kCollected, program, merged).is_kept,
              ElementsAre(false, true, true));
}

TEST(Budget, ThatIsShorterThanOneRunKeepsNothing) {
  using std::chrono::seconds;
  const BudgetedKernels fitting =
      fit_budget(timed_kernels(), false, kCollected, {seconds(10), 1000}, seconds(10));
  EXPECT_THAT(fitting.is_kept, ElementsAre(false, false, false));
  EXPECT_EQ(fitting.coverage(), 0);
}

}  // namespace
}  // namespace profline::kernel_lab
