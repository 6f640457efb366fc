#include "run_index/run_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::run_index {
namespace {

using ::testing::ElementsAre;

/// A run of a minute.
IndexedRun run(const std::string& clock, const std::string& host = "here") {
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
  const std::vector<IndexedRun> runs = {run("12:00"), run("10:05"), run("10:00"), run("11:03"),
                                        run("10:03", "elsewhere")};
  EXPECT_THAT(opens_series(runs), ElementsAre(false, false, true, false, true));
  const std::vector<IndexedRun> apart = {run("08:00"), run("09:02"), run("10:01")};
  EXPECT_THAT(opens_series(apart), ElementsAre(true, true, false)) << "an hour from its end";
  IndexedRun lost = run("10:00");
  lost.started = "yesterday";
  EXPECT_THAT(opens_series(std::vector{lost}), ElementsAre(false));
}

TEST(RunSeries, IsOfUsualRuns) {
  std::vector<IndexedRun> runs = {run("10:00"), run("10:01"), run("10:02"), run("10:03"),
                                  run("10:04"), run("10:05"), run("10:06")};
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
  std::vector<IndexedRun> runs = {run("09:30")};
  for (int i = 0; i < 60; ++i) {
    runs.push_back(run("10:" + std::string(i < 10 ? "0" : "") + std::to_string(i)));
  }
  const auto usual = usual_runs(runs).at("same");
  ASSERT_EQ(usual.size(), 50U);
  EXPECT_EQ(usual.front(), 60U);
  EXPECT_EQ(usual.back(), 11U);
}

}  // namespace
}  // namespace profline::run_index
