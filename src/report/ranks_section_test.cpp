#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/write_reports.h"

namespace profline::report {
namespace {

using ::testing::HasSubstr;

RankRow row_of(std::int64_t rank, ClockState state) {
  RankRow row;
  row.rank = rank;
  row.node = "n" + std::to_string(rank);
  row.time = {.wall_ns = 1'000'000'000,
              .compute_ns = 600'000'000,
              .copy_ns = 0,
              .exposed_ns = 250'000'000,
              .idle_ns = 150'000'000,
              .overlapped_ns = 50'000'000};
  row.clock.state = state;
  row.clock.uncertainty_ns = 12'000;
  row.matched = 80;
  row.last = rank == 1 ? 71 : 9;
  row.caused_ns = rank == 1 ? 96'000'000 : 1'000'000;
  return row;
}

TEST(RanksSection, ShowsEachRankAndWhoIsLate) {
  RunSummary summary;
  EXPECT_EQ(ranks_section(summary), "");
  RankAnalysis& ranks = summary.ranks.emplace();
  ranks.captured_by = "nsys";
  ranks.ranks_from = "the folders of the ranks";
  ranks.findings = {"Rank 1 is late: the last in 71 of 80 collectives."};
  ranks.ranks = {row_of(0, ClockState::Reference), row_of(1, ClockState::Aligned),
                 row_of(2, ClockState::NotAligned)};
  RankStraggler late;
  late.phase = "backward | pass";
  late.rank = 1;
  late.caused_ns = 90'000'000;
  late.share = 0.09;
  late.evidence = "the last in 40 of 40 collectives";
  ranks.stragglers = {RankStraggler(), late};
  RankCollective collective;
  collective.name = "allreduce";
  collective.ranks = 3;
  collective.bytes = 1 << 20;
  collective.instances = 80;
  collective.mean_ns = 1'200'000;
  collective.transfer_ns = 200'000;
  collective.skew_median_ns = 1'000'000;
  collective.kind = CollectiveClass::Skew;
  ranks.collectives = {collective};
  ranks.notes = {"rank 3 on node n3: exit code 7"};
  const std::string text = ranks_section(summary);
  EXPECT_THAT(text, HasSubstr("## Ranks\n\n- Rank 1 is late: the last in 71 of 80 collectives.\n"));
  EXPECT_THAT(text, HasSubstr("| 1 | n1 | 1.0 s | 60.0 % | 25.0 % | 5.0 % | 0.0 % | 15.0 % | 71 of "
                              "80 | 96.0 ms | ±12.0 us |"));
  EXPECT_THAT(text, HasSubstr("not aligned |"));
  EXPECT_THAT(text, HasSubstr("### Late ranks by phase"));
  EXPECT_THAT(text, HasSubstr("90.0 ms | 9.0 % | the last in 40 of 40 collectives |"));
  EXPECT_THAT(text, HasSubstr("| 3 | 1.0 MiB | 80 | 1.20 ms | 200 us | 1.00 ms | – | "
                              "skew-dominated |"));
  EXPECT_THAT(text, HasSubstr("- rank 3 on node n3: exit code 7"));
}

}  // namespace
}  // namespace profline::report
