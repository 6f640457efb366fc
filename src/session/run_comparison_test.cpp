#include "session/run_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/runs/recorded_run.h"
#include "testing/temp_dir.h"

namespace profline::session {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class RunComparisonTest : public ::testing::Test {
 protected:
  /// The recorded run, begun that minute of an hour.
  fs::path made(const std::string& name, int minute) const {
    testing::TestRun run = testing::h200_run();
    run.run.id = name;
    run.run.started = "2026-11-15T10:" + std::string(minute < 10 ? "0" : "") +
                      std::to_string(minute) + ":00.000Z";
    run.run.ended = run.run.started;
    run.write(root_ / name);
    return root_ / name;
  }

  testing::TempDir root_;
  run::OpenedRuns opened_;
  Interrupt interrupt_;
};

TEST_F(RunComparisonTest, FewerThanThreeRunsSayNothingAboutTheirSpread) {
  const std::vector<fs::path> two = {made("a", 1), made("b", 2)};
  EXPECT_EQ(EarlierRuns(two, opened_).spread("token_ms"), std::nullopt);
}

TEST_F(RunComparisonTest, TheFirstOfAnHourOpensASeries) {
  const std::vector<fs::path> runs = {made("a", 1), made("b", 2)};
  const EarlierRuns earlier(runs, opened_);
  EXPECT_TRUE(earlier.opens_series(runs[0]));
  EXPECT_FALSE(earlier.opens_series(runs[1]));
  EXPECT_FALSE(earlier.opens_series(root_ / "nothing"));
}

TEST_F(RunComparisonTest, AFolderThatIsNoRunIsAnError) {
  const auto compared = compare_runs(root_ / "a", root_ / "b", {}, interrupt_);
  ASSERT_FALSE(compared);
  EXPECT_EQ(compared.error().kind(), ErrorKind::NotFound);
}

TEST_F(RunComparisonTest, EqualRunsHaveNoRegression) {
  const fs::path a = made("a", 1);
  const fs::path b = made("b", 2);
  const auto compared = compare_runs(a, b, {.threshold = 0.02, .run_spread = 0.01}, interrupt_);
  ASSERT_TRUE(compared) << compared.error().to_string();
  EXPECT_TRUE(compared->regressions.empty());
  EXPECT_EQ(compared->threshold, 0.02);
  EXPECT_THAT(compared->run_spread,
              HasSubstr("according to --run-spread, two runs differ by up to 1 %"));
  EXPECT_FALSE(compared->rows.empty());
}

TEST_F(RunComparisonTest, OnlyTheRowsAskedForAreThere) {
  const fs::path a = made("a", 1);
  const fs::path b = made("b", 2);
  const auto compared = compare_runs(a, b, {.metrics = {"token_ms"}}, interrupt_);
  ASSERT_TRUE(compared) << compared.error().to_string();
  for (const comparison::Row& row : compared->rows) EXPECT_EQ(row.name, "token_ms");
}

TEST_F(RunComparisonTest, AnInterruptEndsIt) {
  const fs::path a = made("a", 1);
  const fs::path b = made("b", 2);
  interrupt_.request();
  const auto compared = compare_runs(a, b, {}, interrupt_);
  ASSERT_FALSE(compared);
  EXPECT_EQ(compared.error().kind(), ErrorKind::Cancelled);
}

}  // namespace
}  // namespace profline::session
