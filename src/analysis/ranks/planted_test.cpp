// Programs whose clocks, straggler and collectives are known: what of it is found again.

#include <cmath>
#include <cstdlib>
#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/ranks/analysis.h"
#include "analysis/ranks/testing_ranks.h"

namespace profline::ranks {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::PlantedClass;
using testing::PlantedRanks;

RankAnalysis analysis_of(const PlantedRanks& options) {
  std::vector<Capture> captures = captures_of(testing::planted_traces(options));
  number_ranks(captures);
  return analyse(captures);
}

/// How far the clock of a rank is ahead of that of rank 0, by its own clock's rate at 100 s.
std::int64_t planted_ahead_ns(const PlantedRanks& options, std::size_t rank) {
  const auto at = [](const auto& list, std::size_t i) { return i < list.size() ? list[i] : 0; };
  const double at_start_ns = 100e9;
  return at(options.ahead_ns, rank) - at(options.ahead_ns, 0) +
         std::llround((at(options.rate_ppm, rank) - at(options.rate_ppm, 0)) * 1e-6 * at_start_ns);
}

TEST(PlantedRanks, ClocksAreRecoveredWithin50Microseconds) {
  std::mt19937_64 random(7);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    PlantedRanks options{.ranks = 4, .steps = 30, .seed = seed};
    for (int rank = 0; rank < options.ranks; ++rank) {
      // Up to 12 s: a public case was off by as much.
      options.ahead_ns.push_back(static_cast<std::int64_t>(random() % 24'000'000'000U) -
                                 12'000'000'000);
      options.rate_ppm.push_back(seed % 2 == 0 ? static_cast<double>(random() % 100) - 50.0 : 0.0);
    }
    options.outliers = seed % 3 == 0 ? 0.15 : 0;
    const RankAnalysis analysis = analysis_of(options);
    for (std::size_t r = 0; r < 4; ++r) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", rank " + std::to_string(r));
      const RankClock& clock = analysis.ranks[r].clock;
      ASSERT_TRUE(clock.ahead_ns) << clock.why_not;
      EXPECT_LE(std::abs(*clock.ahead_ns - planted_ahead_ns(options, r)), 50'000);
      EXPECT_LE(clock.uncertainty_ns, 50'000);
    }
  }
}

TEST(PlantedRanks, RatesAreRecoveredWhereTheyDiffer) {
  const PlantedRanks options{.ranks = 3, .steps = 200, .seed = 3, .rate_ppm = {0, 40, -25}};
  const RankAnalysis analysis = analysis_of(options);
  EXPECT_NEAR(analysis.ranks[1].clock.rate_ppm, 40, 4);
  EXPECT_NEAR(analysis.ranks[2].clock.rate_ppm, -25, 4);
}

TEST(PlantedRanks, TheStragglerIsFoundInEachOf100Programs) {
  std::mt19937_64 random(11);
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    PlantedRanks options{.ranks = 4, .steps = 20, .seed = seed};
    options.straggler = static_cast<int>(random() % 4);
    for (int rank = 0; rank < 4; ++rank) {
      options.ahead_ns.push_back(static_cast<std::int64_t>(random() % 1'000'000'000U));
    }
    // In half of the programs, another rank takes 50 ms longer twice: more than the straggler in
    // all.
    if (seed % 2 == 0) options.hiccups_of = (*options.straggler + 1) % 4;
    const RankAnalysis analysis = analysis_of(options);
    ASSERT_EQ(analysis.straggler(), options.straggler) << "seed " << seed;
    ASSERT_GE(analysis.stragglers.size(), 2U);
    EXPECT_EQ(analysis.stragglers[1].phase, "backward") << "seed " << seed;
    EXPECT_EQ(analysis.stragglers[1].rank, options.straggler) << "seed " << seed;
    EXPECT_EQ(analysis.stragglers[1].cause, "compute") << "seed " << seed;
  }
}

TEST(PlantedRanks, NoStragglerIsFoundWhereThereIsNone) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    if (analysis_of({.ranks = 4, .steps = 20, .seed = seed}).straggler()) ++found;
  }
  EXPECT_EQ(found, 0);
}

TEST(PlantedRanks, ClassesAreRightInAtLeast95Percent) {
  std::uint64_t all = 0;
  std::uint64_t right = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const PlantedRanks options{.ranks = 4,
                               .steps = 20,
                               .seed = seed,
                               .random_classes = true,
                               .ahead_ns = {0, 5'000'000, -3'000'000, 1'000}};
    const testing::PlantedTraces planted = testing::planted_traces(options);
    std::vector<Capture> captures = captures_of(planted);
    const std::vector<CollectiveClass> found = classes_of(captures);
    ASSERT_EQ(found.size(), planted.collectives.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const PlantedClass kind = planted.collectives[i].kind;
      const CollectiveClass expected = kind == PlantedClass::Transfer ? CollectiveClass::Transfer
                                       : kind == PlantedClass::Skew   ? CollectiveClass::Skew
                                                                      : CollectiveClass::Mixed;
      ++all;
      if (found[i] == expected) ++right;
    }
  }
  EXPECT_GE(100 * right, 95 * all) << right << " of " << all;
}

TEST(PlantedRanks, ARankWithInconsistentEndsIsComparedByDurationsOnly) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const int scattered = static_cast<int>(seed % 4);
    const RankAnalysis analysis = analysis_of({.ranks = 4,
                                               .steps = 20,
                                               .seed = seed,
                                               .straggler = 1,
                                               .late_ns = 400'000,
                                               .scattered = scattered});
    for (const RankRow& row : analysis.ranks) {
      EXPECT_EQ(row.clock.state == ClockState::NotAligned, row.rank == scattered) << row.rank;
    }
    EXPECT_EQ(analysis.straggler(), 1) << "durations still show it";
    EXPECT_EQ(analysis.classes.inconclusive, analysis.classes.all());
    EXPECT_THAT(analysis.findings,
                Contains(AllOf(HasSubstr("The clock of rank " + std::to_string(scattered) +
                                         " could not be aligned, so it is compared by durations "
                                         "only: the ends of its collectives disagree"))));
  }
}

TEST(PlantedRanks, TooFewCollectivesAreNotEnoughToAlign) {
  const RankAnalysis analysis =
      analysis_of({.ranks = 2, .steps = 1, .collectives_per_step = 4, .seed = 1});
  EXPECT_EQ(analysis.ranks[1].clock.state, ClockState::NotAligned);
  EXPECT_EQ(analysis.ranks[1].clock.why_not, "only 4 collectives were matched; 5 are needed");
  EXPECT_EQ(analysis.straggler(), std::nullopt);
}

TEST(PlantedRanks, CapturesThatBeginAtDifferentCollectivesAreMatchedAllTheSame) {
  struct Case {
    const char* name;
    bool names_groups;
    bool numbers;
  };
  constexpr Case kCases[] = {
      {"by number", true, true}, {"by order", true, false}, {"without a group", false, false}};
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    PlantedRanks options{.ranks = 3, .steps = 30, .seed = 5, .straggler = 2};
    options.jitter_ns = 60'000;  // otherwise all steps look alike
    options.ahead_ns = {0, 250'000'000, -40'000'000};
    options.missing_at_start = {0, 7, 3};
    options.names_groups = c.names_groups;
    options.numbers = c.numbers;
    const RankAnalysis analysis = analysis_of(options);
    EXPECT_EQ(analysis.straggler(), 2);
    for (std::size_t r = 0; r < 3; ++r) {
      ASSERT_TRUE(analysis.ranks[r].clock.ahead_ns) << analysis.ranks[r].clock.why_not;
      EXPECT_LE(std::abs(*analysis.ranks[r].clock.ahead_ns - planted_ahead_ns(options, r)), 50'000);
    }
  }
}

TEST(PlantedRanks, PartsOfTheTimeSumToTheWholeExactly) {
  const RankAnalysis analysis = analysis_of({.ranks = 3, .steps = 10, .seed = 2, .straggler = 0});
  for (const RankRow& row : analysis.ranks) {
    const RankTime& time = row.time;
    EXPECT_EQ(time.compute_ns + time.copy_ns + time.exposed_ns + time.idle_ns, time.wall_ns);
    EXPECT_GT(time.exposed_ns, 0);
    ASSERT_EQ(row.phases.size(), 2U);
    for (const RankPhase& phase : row.phases) {
      EXPECT_EQ(phase.instances, 10U);
      EXPECT_EQ(
          phase.time.compute_ns + phase.time.copy_ns + phase.time.exposed_ns + phase.time.idle_ns,
          phase.time.wall_ns);
    }
  }
}

TEST(PlantedRanks, BandwidthIsThatOfTheTransferAlone) {
  const RankAnalysis analysis =
      analysis_of({.ranks = 4, .steps = 20, .seed = 2, .end_jitter_ns = 0, .straggler = 3});
  ASSERT_EQ(analysis.collectives.size(), 1U);
  const RankCollective& row = analysis.collectives.front();
  EXPECT_EQ(row.bytes, 8'388'608U);
  EXPECT_EQ(row.instances, 80U);
  EXPECT_NEAR(row.transfer_ns, 600'000, 1);
  EXPECT_NEAR(row.gb_per_s.value_or(0), 8'388'608 / 600'000.0, 0.01);
  EXPECT_NEAR(row.bus_gb_per_s.value_or(0), 1.5 * 8'388'608 / 600'000.0, 0.02);
}

TEST(PlantedRanks, ARankThatWasNotCapturedLeavesTransfersInconclusive) {
  testing::PlantedTraces planted = testing::planted_traces({.ranks = 4, .steps = 20, .seed = 4});
  planted.traces.pop_back();
  std::vector<Capture> captures = captures_of(planted);
  const RankAnalysis analysis = analyse(captures);
  EXPECT_EQ(analysis.classes.transfer, 0U);
  EXPECT_EQ(analysis.collectives.front().captured, 3U);
  EXPECT_EQ(analysis.collectives.front().ranks, 4U);
  EXPECT_THAT(analysis.notes,
              Contains("3 of 4 ranks were captured: a rank that was not may be later than those "
                       "shown"));
}

TEST(PlantedRanks, RanksAreNumberedByTheCapturesElseTheirFilesElseTheirOrder) {
  testing::PlantedTraces planted = testing::planted_traces({.ranks = 3, .steps = 2, .seed = 4});
  std::vector<Capture> captures = captures_of(planted);
  std::swap(captures[0], captures[2]);
  EXPECT_EQ(number_ranks(captures), "the captures themselves");
  EXPECT_EQ(captures[0].rank, 2);
  for (Capture& capture : captures) capture.rank = -1;
  captures[0].source = "/data/2026-11-19/rank12.1763520000.json.gz";
  captures[1].source = "trace_rank_3.json";
  captures[2].source = "rank0_trace.pt.trace.json.gz";
  EXPECT_EQ(number_ranks(captures), "the names of the files");
  EXPECT_EQ(captures[0].rank, 12);
  EXPECT_EQ(captures[1].rank, 3);
  EXPECT_EQ(captures[2].rank, 0);
  for (Capture& capture : captures) capture.rank = -1;
  captures[1].source = "rank12.json";
  EXPECT_EQ(number_ranks(captures), "the order in which they were given") << "two are 12";
  EXPECT_EQ(captures[2].rank, 2);
}

}  // namespace
}  // namespace profline::ranks
