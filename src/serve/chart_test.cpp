#include "serve/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::serve {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(AxisTicks, AreRoundAndInside) {
  EXPECT_THAT(axis_ticks(1.93, 2.12),
              ElementsAre(DoubleEq(1.95), DoubleEq(2.0), DoubleEq(2.05), DoubleEq(2.1)));
  EXPECT_THAT(axis_ticks(0, 100), ElementsAre(0, 20, 40, 60, 80, 100));
  EXPECT_THAT(axis_ticks(5, 5), ElementsAre(5));
}

TEST(ASparkline, OfOneValueIsNothing) {
  EXPECT_TRUE(sparkline(std::vector<double>{1}, "token_ms").empty());
  EXPECT_TRUE(sparkline({}, "token_ms").empty());
}

TEST(ASparkline, DoesNotMakeAMountainOfNoise) {
  // Half a permille of noise stays in the middle of the line.
  const std::string html = sparkline(std::vector<double>{2.0, 2.001, 1.999}, "token <ms>").html();
  EXPECT_THAT(html, HasSubstr("aria-label=\"token &lt;ms&gt;\""));
  EXPECT_THAT(html, HasSubstr("3.0,10.0 46.0,9.8 89.0,10.2"));
  // A step of ten percent uses the height.
  EXPECT_THAT(sparkline(std::vector<double>{2, 2.2}, "x").html(), HasSubstr("3.0,17.0 89.0,3.0"));
}

TEST(ATrendChart, MarksAChangeWithItsCommit) {
  catalog::MetricHistory history;
  history.name = "token_ms";
  history.unit = "ms";
  for (int i = 0; i < 4; ++i) {
    history.points.push_back({"r" + std::to_string(i),
                              "2026-11-1" + std::to_string(i) + "T00:00:00.000Z", "<commit>",
                              i < 2 ? 2.0 : 2.1, 8});
  }
  history.changes.push_back({.folder = "r2",
                             .started = "",
                             .commit = "0123456789abcdef0123456789abcdef01234567",
                             .commit_before = "",
                             .at = 2,
                             .before = 2.0,
                             .after = 2.1,
                             .change = 0.05,
                             .p = 1e-6,
                             .verdict = catalog::Verdict::Slower});
  const std::string html =
      trend_chart(history, {"/runs/r0/", "/runs/r1/", "/runs/r2/", "/runs/r3/"}).html();
  EXPECT_THAT(html, HasSubstr("+5.0 % · 0123456789ab</text>"));
  EXPECT_THAT(html, HasSubstr("class=\"change slower\""));
  EXPECT_THAT(html, HasSubstr("href=\"/runs/r3/\""));
  EXPECT_THAT(html, HasSubstr("r3: 2.10 ms, commit &lt;commit&gt;"));
  EXPECT_THAT(html, HasSubstr(">2026-11-10</text>"));
  EXPECT_THAT(html, Not(HasSubstr("style=")));
  EXPECT_TRUE(trend_chart({}, {}).empty());
}

}  // namespace
}  // namespace profline::serve
