#include "run_index/run_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::run_index {
namespace {

using Relation = MetricCondition::Relation;

IndexedRun example() {
  IndexedRun run;
  run.experiment = "Fused MLP";
  run.model = "deepseek_ocr";
  run.device = "cuda:0";
  run.device_name = "NVIDIA H200";
  run.started = "2026-11-15T10:20:30.123Z";
  run.metrics = {{"token_ms", "ms", 4.5, 20}};
  return run;
}

TEST(RunFilter, FindsTextsAnywhere) {
  const IndexedRun run = example();
  EXPECT_TRUE(RunFilter{}.holds(run));
  EXPECT_TRUE(RunFilter{.experiment = "fused"}.holds(run));
  EXPECT_FALSE(RunFilter{.experiment = "flash"}.holds(run));
  EXPECT_TRUE(RunFilter{.model = "OCR"}.holds(run));
  EXPECT_TRUE(RunFilter{.device = "cuda:0"}.holds(run));
  EXPECT_TRUE(RunFilter{.device = "h200"}.holds(run));
  EXPECT_FALSE(RunFilter{.device = "cpu"}.holds(run));
}

TEST(RunFilter, CountsAllOfADay) {
  struct Case {
    std::optional<std::string> since, until;
    bool expected;
  };
  const Case cases[] = {
      {"2026-11-15", "2026-11-15", true},        {"2026-11-16", std::nullopt, false},
      {std::nullopt, "2026-11-14", false},       {"2026", "2026-11", true},
      {"2026-11-15T10:21", std::nullopt, false}, {std::nullopt, "2026-11-15T10:20", true},
      {std::nullopt, "2026-11-15T10:19", false},
  };
  for (const Case& c : cases) {
    RunFilter filter;
    filter.since = c.since;
    filter.until = c.until;
    EXPECT_EQ(filter.holds(example()), c.expected)
        << c.since.value_or("-") << " " << c.until.value_or("-");
  }
}

TEST(RunFilter, ComparesFigures) {
  const auto holds = [](std::string_view text) {
    const auto condition = parse_metric_condition(text);
    EXPECT_TRUE(condition) << text;
    return condition && condition->holds(example());
  };
  EXPECT_TRUE(holds("token_ms"));
  EXPECT_FALSE(holds("sam"));
  EXPECT_TRUE(holds("token_ms<5"));
  EXPECT_FALSE(holds("token_ms<4.5"));
  EXPECT_TRUE(holds("token_ms <= 4.5"));
  EXPECT_FALSE(holds("token_ms>4.5"));
  EXPECT_TRUE(holds("token_ms>=4.5"));
  EXPECT_FALSE(holds("sam<5"));
}

TEST(MetricCondition, RefusesWhatIsNone) {
  for (const char* text : {"", "<5", "token_ms<", "token_ms<x", "token_ms=5", "token_ms<5ms",
                           "token_ms<nan", "token_ms<<5"}) {
    const auto condition = parse_metric_condition(text);
    ASSERT_FALSE(condition) << text;
    EXPECT_EQ(condition.error().to_string(),
              "--metric takes NAME, or NAME with <, <=, > or >= and a number, as in 'token_ms<5', "
              "not '" +
                  std::string(text) + "'");
  }
}

TEST(Moment, IsADayOrAPartOfIt) {
  EXPECT_EQ(parse_moment("2026-11-15", "--since").value(), "2026-11-15");
  EXPECT_EQ(parse_moment("2026-11-15 10:20", "--since").value(), "2026-11-15T10:20");
  for (const char* text : {"", "yesterday", "15.11.2026", "2026-11-15T10", "2026-1-15"}) {
    const auto moment = parse_moment(text, "--until");
    ASSERT_FALSE(moment) << text;
    EXPECT_EQ(moment.error().to_string(),
              "--until takes a day in UTC, as in 2026-11-15 or 2026-11-15T10:20, not '" +
                  std::string(text) + "'");
  }
}

using ::testing::ElementsAre;

/// A run of one minute.
IndexedRun run_at(const std::string& clock, const std::string& host = "here") {
  IndexedRun made;
  made.id = made.folder = clock;
  made.state = "ok";
  made.host = host;
  made.fingerprint = "same";
  made.started = "2026-11-15T" + clock + ":00.000Z";
  made.ended = "2026-11-15T" + clock + ":59.000Z";
  return made;
}

TEST(RunSeries, IsOpenedByTheFirstRunAfterAPause) {
  const std::vector<IndexedRun> runs = {run_at("12:00"), run_at("10:05"), run_at("10:00"),
                                        run_at("11:03"), run_at("10:03", "elsewhere")};
  EXPECT_THAT(opens_series(runs), ElementsAre(false, false, true, false, true));
  const std::vector<IndexedRun> apart = {run_at("08:00"), run_at("09:02"), run_at("10:01")};
  EXPECT_THAT(opens_series(apart), ElementsAre(true, true, false)) << "an hour from its end";
  IndexedRun lost = run_at("10:00");
  lost.started = "yesterday";
  EXPECT_THAT(opens_series(std::vector{lost}), ElementsAre(false));
}

TEST(RunSeries, IsOfUsualRuns) {
  std::vector<IndexedRun> runs = {run_at("10:00"), run_at("10:01"), run_at("10:02"),
                                  run_at("10:03"), run_at("10:04"), run_at("10:05"),
                                  run_at("10:06")};
  runs[4].state = "failed";
  runs[5].disturbance = 0.3;
  runs[6].fingerprint = "another";
  const auto usual = usual_runs(runs);
  ASSERT_EQ(usual.size(), 2U);
  EXPECT_THAT(usual.at("same"), ElementsAre(3, 2, 1))
      << "the first, the failed and the disturbed one do not count";
  EXPECT_THAT(usual.at("another"), ElementsAre(6));
}

TEST(RunSeries, IsOfTheNewestRuns) {
  std::vector<IndexedRun> runs = {run_at("09:30")};
  for (int i = 0; i < 60; ++i) {
    runs.push_back(run_at("10:" + std::string(i < 10 ? "0" : "") + std::to_string(i)));
  }
  const auto usual = usual_runs(runs).at("same");
  ASSERT_EQ(usual.size(), 50U);
  EXPECT_EQ(usual.front(), 60U);
  EXPECT_EQ(usual.back(), 11U);
}

}  // namespace
}  // namespace profline::run_index
