#include "run_index/run_series.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::run_index {
namespace {

using ::testing::ElementsAre;

/// A run of a minute.
IndexedRun run(const std::string& clock, double token_ms = 2, const std::string& host = "here") {
  IndexedRun made;
  made.id = made.folder = clock;
  made.state = "ok";
  made.host = host;
  made.fingerprint = "same";
  made.started = "2026-11-15T" + clock + ":00.000Z";
  made.ended = "2026-11-15T" + clock + ":59.000Z";
  made.metrics = {{"token_ms", "ms", token_ms, 3}};
  return made;
}

TEST(RunSeries, IsOpenedByTheFirstRunAfterAPause) {
  const std::vector<IndexedRun> runs = {run("12:00"), run("10:05"), run("10:00"), run("11:03"),
                                        run("10:03", 2, "elsewhere")};
  EXPECT_THAT(opens_series(runs), ElementsAre(false, false, true, false, true));
  const std::vector<IndexedRun> apart = {run("08:00"), run("09:02"), run("10:01")};
  EXPECT_THAT(opens_series(apart), ElementsAre(true, true, false)) << "an hour from its end";
  IndexedRun lost = run("10:00");
  lost.started = "yesterday";
  EXPECT_THAT(opens_series(std::vector{lost}), ElementsAre(false));
}

TEST(RunSeries, KnowsTheSpreadOfTheSameThing) {
  std::vector<IndexedRun> runs = {run("10:00", 7),   run("10:01", 2.0), run("10:02", 2.1),
                                  run("10:03", 2.2), run("10:04", 50),  run("10:05", 60),
                                  run("10:06", 90)};
  runs[4].state = "failed";
  runs[5].disturbance = 0.3;
  runs[6].fingerprint = "another";
  const auto spread = spread_of(runs, {"same"}, "token_ms");
  ASSERT_TRUE(spread);
  EXPECT_EQ(spread->degrees, 2) << "the first, the failed and the disturbed one do not count";
  // The deviation of log 2, log 2.1 and log 2.2.
  EXPECT_NEAR(spread->deviation, 0.0476596, 1e-6);
  ASSERT_EQ(spread->differences.size(), 3U);
  EXPECT_NEAR(spread->differences.back(), std::log(1.1), 1e-12);
  EXPECT_FALSE(spread_of(runs, {"same"}, "sam"));
  EXPECT_FALSE(spread_of(std::span(runs).first(3), {"same"}, "token_ms")) << "two are too few";
}

TEST(RunSeries, GoesByTheNewestRuns) {
  std::vector<IndexedRun> runs = {run("09:00")};
  for (int i = 0; i < 60; ++i) {
    runs.push_back(run("10:" + std::string(i < 10 ? "0" : "") + std::to_string(i), i < 10 ? 9 : 2));
  }
  EXPECT_NEAR(spread_of(runs, {"same"}, "token_ms")->deviation, 0, 1e-9);
}

}  // namespace
}  // namespace profline::run_index
