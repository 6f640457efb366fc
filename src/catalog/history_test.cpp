#include "catalog/history.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::catalog {
namespace {

using run_index::IndexedRun;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Runs of one experiment, newest first as the index has them.
std::vector<IndexedRun> runs_with(const std::vector<double>& oldest_first) {
  std::vector<IndexedRun> runs;
  for (std::size_t i = 0; i < oldest_first.size(); ++i) {
    IndexedRun run;
    run.id = run.folder = fmt::format("r{:02}", i);
    run.experiment = "nightly";
    run.state = "ok";
    run.model = "tiny";
    run.device = "cuda:0";
    run.device_name = "H200";
    run.commit = fmt::format("commit{:02}", i);
    run.started = fmt::format("2026-11-01T00:{:02}:00.000Z", i);
    run.metrics = {{"token_ms", "ms", oldest_first[i], 8},
                   {"tokens_per_s", "tokens/s", 1000 / oldest_first[i], 8}};
    runs.insert(runs.begin(), run);
  }
  return runs;
}

std::vector<double> levels(double first, std::size_t so_many, double second, std::size_t then) {
  const double noise[] = {0.3, -0.2, 0.1, -0.4, 0.2, 0.0, -0.1};
  std::vector<double> values;
  for (std::size_t i = 0; i < so_many + then; ++i) {
    values.push_back((i < so_many ? first : second) * (1 + noise[i % 7] / 100));
  }
  return values;
}

History history(const std::vector<IndexedRun>& runs, const HistoryRequest& request = {}) {
  auto found = history_of("/runs", runs.front(), runs, request);
  EXPECT_TRUE(found) << found.error().to_string();
  return found ? *found : History();
}

TEST(AHistory, OfARunWithoutMetricsIsAnErrorThatSaysSo) {
  auto runs = runs_with(levels(2, 12, 2, 0));
  runs.front().metrics.clear();
  auto found = history_of("/runs", runs.front(), runs, {});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message(), "r11 measured nothing without a profiler");
  runs.front().state = "failed";
  found = history_of("/runs", runs.front(), runs, {});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message(), "r11 measured nothing without a profiler; it is failed");
}

TEST(AHistory, NamesTheCommitOfEachChange) {
  const History found = history(runs_with(levels(2, 12, 2.1, 8)));
  EXPECT_THAT(found.regressions, ElementsAre("token_ms", "tokens_per_s"));
  const HistoryChange& change = found.metrics[0].changes.at(0);
  EXPECT_EQ(change.at, 12U);
  EXPECT_EQ(change.commit, "commit12");
  EXPECT_EQ(change.commit_before, "commit11");
  EXPECT_EQ(change.verdict, Verdict::Slower);
  EXPECT_NEAR(change.change, 0.05, 0.005);
  EXPECT_TRUE(found.metrics[1].higher_is_better);
  EXPECT_LT(found.metrics[1].changes.at(0).change, 0);
}

TEST(AHistory, ThatRecoveredIsNoRegression) {
  std::vector<double> values = levels(2, 8, 2.4, 8);
  const std::vector<double> back = levels(2, 8, 2, 0);
  values.insert(values.end(), back.begin(), back.end());
  const History found = history(runs_with(values), {.most = 40});
  EXPECT_THAT(found.regressions, IsEmpty());
  EXPECT_EQ(found.metrics[0].changes.size(), 2U);
  EXPECT_EQ(found.metrics[0].verdict, Verdict::Faster);
}

TEST(AHistory, HasAtMostAsManyRunsAsAskedFor) {
  const auto runs = runs_with(levels(2, 40, 2, 0));
  EXPECT_EQ(history(runs, {.most = 10}).metrics[0].points.size(), 11U);
  EXPECT_EQ(history(runs, {.most = 10}).metrics[0].points.back().folder, "r39");
  auto earlier = history_of("/runs", runs[20], runs, {.most = 10});
  ASSERT_TRUE(earlier);
  EXPECT_EQ(earlier->run, "r19");
  EXPECT_EQ(earlier->metrics[0].points.back().folder, "r19");
}

TEST(AHistory, LeavesOutRunsThatShowNothing) {
  auto runs = runs_with(levels(2, 12, 2, 0));
  runs[3].state = "failed";
  runs[4].disturbance = 0.3;
  runs[5].device_name = "CPU";
  runs[6].experiment = "other";
  const History found = history(runs);
  std::vector<std::string> texts;
  for (const LeftOutRun& run : found.left_out) texts.push_back(run.folder + ": " + run.why);
  EXPECT_THAT(texts, ElementsAre("r08: it is failed",
                                 "r07: other load took 30.0 % of the time of its steps"));
  EXPECT_EQ(found.metrics[0].points.size(), 8U);
}

TEST(AHistory, OnACpuHasALargerThreshold) {
  auto runs = runs_with(levels(2, 12, 2.06, 8));
  for (IndexedRun& run : runs) run.device = "cpu";
  EXPECT_THAT(history(runs).regressions, IsEmpty());
  EXPECT_THAT(history(runs, {.threshold = 0.01}).regressions,
              ElementsAre("token_ms", "tokens_per_s"));
}

TEST(AHistory, IsOfOneConfiguration) {
  auto runs = runs_with(levels(2, 8, 4, 8));
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].configuration = i < 8 ? "128" : "64";
  const History found = history(runs);
  EXPECT_THAT(found.regressions, IsEmpty());
  EXPECT_EQ(found.metrics[0].points.size(), 8U);
  EXPECT_THAT(found.notes,
              ElementsAre("8 earlier runs are left out because their configurations differ"));
}

TEST(AHistory, OfACommitThatDidNotChangeDoesNotNameIt) {
  auto runs = runs_with(levels(2, 12, 2.1, 8));
  for (IndexedRun& run : runs) run.commit = "same";
  EXPECT_THAT(change_words(history(runs).metrics[0]),
              HasSubstr("since r12 (2026-11-01T00:12:00.000Z): "));
}

TEST(AHistory, JudgesOnlyWhatCanBeBetter) {
  auto runs = runs_with(levels(2, 8, 2, 8));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].metrics.push_back({"late_rank", "", i < 8 ? 3.0 : 1.0, 8});
  }
  const History found = history(runs);
  EXPECT_EQ(found.metrics.size(), 2U);
  EXPECT_THAT(found.regressions, IsEmpty());
  const auto none = history_of("/runs", runs.front(), runs, {.metrics = {"late_rank"}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().to_string(),
            "no metric of r15 is called late_rank; it has token_ms, tokens_per_s");
}

TEST(AHistory, EndsWithTheNewestRunAlsoIfThatHasZero) {
  auto runs = runs_with(levels(2, 12, 2, 0));
  runs.front().metrics[1].value = 0;
  const History found = history(runs);
  EXPECT_THAT(found.regressions, ElementsAre("tokens_per_s"));
  const MetricHistory& rate = found.metrics[1];
  EXPECT_EQ(rate.points.back().folder, "r11");
  ASSERT_TRUE(rate.newest);
  EXPECT_EQ(rate.newest->value, 0);
  EXPECT_EQ(rate.newest->change, -1);
  EXPECT_NEAR(rate.newest->before, 500, 5);
  runs[5].metrics[1].value = 0;
  const History again = history(runs);
  EXPECT_THAT(again.regressions, IsEmpty());
  EXPECT_EQ(again.metrics[1].points.back().folder, "r11");
  EXPECT_THAT(again.notes, ElementsAre("tokens_per_s: 1 earlier run has 0 and is not compared"));
}

TEST(AHistory, IsSelectedByMetric) {
  const auto runs = runs_with(levels(2, 12, 2, 0));
  EXPECT_EQ(history(runs, {.metrics = {"token*ms"}}).metrics.size(), 1U);
  const auto none = history_of("/runs", runs.front(), runs, {.metrics = {"goodput"}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().to_string(),
            "no metric of r11 is called goodput; it has token_ms, tokens_per_s");
}

TEST(AHistory, ReadsBackAsItWasWritten) {
  const History found = history(runs_with(levels(2, 12, 2.1, 8)));
  const auto text = to_document(found);
  ASSERT_TRUE(text);
  const auto back = from_document<History>(*text, "history");
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(*back, found);
}

TEST(AHistory, IsShownToPeople) {
  const History found = history(runs_with(levels(2, 12, 2.1, 8)), {.metrics = {"token_ms"}});
  EXPECT_EQ(change_words(found.metrics[0]),
            "SLOWER since r12 (2026-11-01T00:12:00.000Z, commit commit12 after commit11): 2.10 ms, "
            "+4.9 % from 2.00 ms");
  EXPECT_EQ(sparkline(found.metrics[0].points).size(), 3 * 20U);
  EXPECT_THAT(markdown_page(found), HasSubstr("**Slower: token\\_ms** in up to 21 runs of "));
  const auto checks = checks_of(found);
  ASSERT_EQ(checks.size(), 1U);
  EXPECT_EQ(checks[0].outcome, comparison::Check::Outcome::Failed);
}

}  // namespace
}  // namespace profline::catalog
