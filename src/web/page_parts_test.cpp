#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "web/internal/sections.h"
#include "web/write_page.h"

namespace profline::web {
namespace {

using ::testing::ElementsAre;

TEST(Histogram, CountsEveryValueOnce) {
  const Histogram made = histogram({1, 1, 2, 3, 5}, 4);
  EXPECT_THAT(made.edges, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(made.counts, ElementsAre(2, 1, 1, 1));
  EXPECT_EQ(made.above, 0U);
}

TEST(Histogram, OneFarValueDoesNotSqueezeTheRest) {
  std::vector<double> values;
  values.reserve(1001);
  for (int i = 0; i < 1000; ++i) values.push_back(100 + i % 10);
  values.push_back(100'000);
  const Histogram made = histogram(values, 10);
  EXPECT_LT(made.edges.back(), 200);
  EXPECT_EQ(made.above, 1U);
  double counted = 0;
  for (const double count : made.counts) counted += count;
  EXPECT_EQ(counted, 1000);
}

TEST(Histogram, EqualValuesAreOneBin) {
  const Histogram made = histogram({7, 7, 7}, 40);
  EXPECT_THAT(made.counts, ElementsAre(3));
  EXPECT_TRUE(histogram({}, 40).counts.empty());
}

TEST(Bands, TakeNeighboursTogetherWhenThereAreMany) {
  const std::vector<std::vector<double>> series = {{1, 2, 3, 4, 5}, {3, 4}};
  const auto each = bands(series, 10);
  ASSERT_EQ(each.size(), 5U);
  EXPECT_EQ(each[0].median, 2);
  EXPECT_EQ(each[0].n, 2U);
  EXPECT_EQ(each[4].n, 1U);
  const auto two = bands(series, 2);
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].first, 0);
  EXPECT_EQ(two[0].last, 2);
  EXPECT_EQ(two[0].n, 5U);
  EXPECT_EQ(two[1].last, 4);
  EXPECT_TRUE(bands({}, 2).empty());
}

TEST(RanksSection, ShowsRanksLateOnesAndCollectives) {
  RunSummary summary;
  RankAnalysis& ranks = summary.ranks.emplace();
  ranks.captured_by = "nsys";
  ranks.ranks_from = "the folders of the ranks";
  ranks.findings = {"Rank 1 <is> late."};
  RankRow row;
  row.rank = 1;
  row.node = "n1";
  row.time.wall_ns = 1'000'000;
  row.time.compute_ns = 600'000;
  row.clock.why_not = "only 4 collectives were matched; 5 are needed";
  ranks.ranks = {row};
  RankStraggler late;
  late.phase = "backward";
  late.rank = 1;
  late.evidence = "the last in 40 of 40 collectives";
  ranks.stragglers = {RankStraggler(), late};
  RankCollective collective;
  collective.name = "allreduce";
  collective.kind = CollectiveClass::Mixed;
  ranks.collectives = {collective};
  const run::Run run{RunRecord()};
  const Section section = ranks_section({run, summary});
  EXPECT_EQ(section.title, "Ranks");
  const std::string html = section.body.html();
  for (const char* part :
       {"Rank 1 &lt;is&gt; late.", "ranks-table", ">60.0 %<", ">not aligned<", "late-ranks-table",
        "the last in 40 of 40 collectives", "rank-collectives-table", ">mixed<"}) {
    EXPECT_THAT(html, ::testing::HasSubstr(part));
  }
}

TEST(ContentPolicy, LetsOurScriptsRunAndNothingElse) {
  // printf "alert('Hello, world.');" | openssl sha256 -binary | openssl base64, the example of
  // CSP 3.
  const std::vector<std::string> scripts = {"alert('Hello, world.');"};
  EXPECT_EQ(
      content_policy(scripts),
      "default-src 'none'; style-src 'unsafe-inline'; script-src "
      "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='; base-uri 'none'; form-action 'none'");
}

}  // namespace
}  // namespace profline::web
