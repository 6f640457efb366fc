// Who is late, and what must not hide or invent it.

#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/ranks/analysis.h"
#include "analysis/ranks/capture.h"

namespace profline::ranks {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kMsNs = 1'000'000;

Phase phase(const char* path, std::int64_t start_ns, std::int64_t ns) {
  Phase phase;
  phase.path = path;
  phase.start_ns = start_ns;
  phase.ns = ns;
  return phase;
}

/// Requests of one rank: it computes, then takes part in an all-reduce.
struct Step {
  std::int64_t compute_ns = 0;
  std::int64_t end_ns = 0;  // since the request's start
};
using StepOf = std::function<Step(int rank, int step)>;

std::vector<Capture> captures_with(int ranks, int steps, const StepOf& step_of) {
  std::vector<Capture> captures;
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<Request> requests;
    for (int i = 0; i < steps; ++i) {
      const Step step = step_of(rank, i);
      Request request;
      request.start_ns = i * 300 * kMsNs;
      request.ns = step.end_ns;
      request.phases = {phase("compute", 0, step.compute_ns),
                        phase("all_reduce", step.compute_ns, step.end_ns - step.compute_ns)};
      requests.push_back(std::move(request));
    }
    captures.push_back(capture_of(requests, "requests.jsonl"));
    captures.back().rank = rank;
  }
  return captures;
}

TEST(Straggler, IsNotHiddenByAHiccupOfAnotherRank) {
  // Rank 2 is late by 30 ms each time, but for the first, in which rank 0 takes 160 ms.
  const auto captures = captures_with(4, 8, [](int rank, int step) {
    const bool is_hiccup = step == 0;
    const std::int64_t late_ns = rank == 2 ? 30 * kMsNs : rank == 0 && is_hiccup ? 160 * kMsNs : 0;
    const std::int64_t latest_ns = is_hiccup ? 160 * kMsNs : 30 * kMsNs;
    return Step{5 * kMsNs + late_ns, 7 * kMsNs + latest_ns};
  });
  const RankAnalysis analysis = analyse(captures);
  EXPECT_EQ(analysis.straggler(), 2) << analysis.findings.front();
  EXPECT_EQ(analysis.stragglers.front().last, 7U);
  EXPECT_EQ(analysis.stragglers.front().caused_ns, 7 * 30 * kMsNs);
}

TEST(Straggler, IsNobodyWhereAnotherRankIsLateByAsMuch) {
  // In a short capture, three of ten are no hiccups.
  const auto captures = captures_with(4, 10, [](int rank, int step) {
    const int late = step < 3 ? 0 : 1;
    const std::int64_t late_ns = (late == 0 ? 30 : 16) * kMsNs;
    return Step{5 * kMsNs + (rank == late ? late_ns : 0), 7 * kMsNs + late_ns};
  });
  const RankAnalysis analysis = analyse(captures);
  EXPECT_EQ(analysis.straggler(), std::nullopt);
  EXPECT_THAT(analysis.stragglers.front().evidence, HasSubstr("but other ranks are late as much"));
}

TEST(Straggler, IsARankThatIsRarelyLateButByALot) {
  // One time in ten, rank 1 takes 20 ms longer; otherwise chance decides by less than a ms.
  std::mt19937_64 random(3);
  std::vector<std::vector<std::int64_t>> late_ns(4, std::vector<std::int64_t>(200));
  for (int rank = 0; rank < 4; ++rank) {
    for (int step = 0; step < 200; ++step) {
      late_ns[static_cast<std::size_t>(rank)][static_cast<std::size_t>(step)] =
          rank == 1 && step % 10 == 0 ? 20 * kMsNs
                                      : static_cast<std::int64_t>(random() % 1'000'000U);
    }
  }
  const auto captures = captures_with(4, 200, [&](int rank, int step) {
    const auto at = static_cast<std::size_t>(step);
    return Step{5 * kMsNs + late_ns[static_cast<std::size_t>(rank)][at],
                step % 10 == 0 ? 27 * kMsNs : 8 * kMsNs};
  });
  EXPECT_EQ(analyse(captures).straggler(), 1);
}

TEST(Straggler, IsJudgedByTheUncertaintyOfTheClocksWhicheverRankIsTheReference) {
  for (const int late : {0, 1}) {
    SCOPED_TRACE(late);
    std::mt19937_64 random(1);
    std::normal_distribution<double> noise(0, 100'000);
    const auto captures = captures_with(4, 40, [&](int rank, int /*step*/) {
      const std::int64_t by_ns =
          rank == late ? 60'000 : static_cast<std::int64_t>(random() % 30'000U) - 15'000;
      const auto end_ns = static_cast<std::int64_t>(rank == 0 ? 0 : noise(random));
      return Step{5 * kMsNs + by_ns, 7 * kMsNs + end_ns};
    });
    const RankAnalysis analysis = analyse(captures);
    EXPECT_EQ(analysis.ranks[0].clock.state, ClockState::Reference);
    EXPECT_EQ(analysis.straggler(), std::nullopt);
    EXPECT_THAT(analysis.stragglers.front().evidence,
                HasSubstr("which is within the uncertainty of the clocks"));
  }
}

/// Captures whose collectives say nothing about their communicator.
std::vector<Capture> partial(std::vector<std::int64_t> ranks, std::int64_t world_size) {
  auto captures = captures_with(static_cast<int>(ranks.size()), 20, [](int /*rank*/, int /*step*/) {
    return Step{5 * kMsNs, 13 * kMsNs};
  });
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    captures[i].rank = ranks[i];
    captures[i].world_size = world_size;
  }
  return captures;
}

TEST(PartialCapture, LeavesTransfersInconclusiveWhereTheCommunicatorsSizeIsUnknown) {
  const RankAnalysis two_of_four = analyse(partial({0, 2}, 4));
  EXPECT_EQ(two_of_four.classes.inconclusive, 20U);
  EXPECT_THAT(two_of_four.collectives.front().evidence,
              HasSubstr("2 of its 4 ranks were captured"));
  EXPECT_THAT(two_of_four.notes,
              Contains("2 of 4 ranks were captured: a rank that was not may be later than those "
                       "shown"));
  EXPECT_EQ(analyse(partial({0, 1}, 2)).classes.transfer, 20U) << "both were captured";
  EXPECT_EQ(analyse(partial({0, 1}, 0)).classes.transfer, 20U) << "the job's size is unknown";
}

/// A request whose phases run several times, as the recorder writes it: the first start, the sum of
/// the times.
std::vector<Capture> repeated(bool says_steps) {
  std::vector<Capture> captures;
  for (int rank = 0; rank < 4; ++rank) {
    std::vector<Request> requests;
    for (int i = 0; i < 6; ++i) {
      constexpr int kTimes = 10;
      const std::int64_t compute_ns = rank == 2 ? 15 * kMsNs : 10 * kMsNs;
      const std::int64_t reduce_ns = rank == 2 ? 2 * kMsNs : 7 * kMsNs;
      Request request;
      request.start_ns = i * 200 * kMsNs;
      request.ns = kTimes * 17 * kMsNs;
      request.phases = {phase("compute", 0, kTimes * compute_ns),
                        phase("all_reduce", compute_ns, kTimes * reduce_ns)};
      if (says_steps) {
        request.phases[0].steps_ns = std::vector<std::int64_t>(kTimes, compute_ns);
        request.phases[1].steps_ns = std::vector<std::int64_t>(kTimes, reduce_ns);
      }
      requests.push_back(std::move(request));
    }
    captures.push_back(capture_of(requests, "requests.jsonl"));
    captures.back().rank = rank;
  }
  return captures;
}

TEST(RepeatedPhases, AreComparedByTheirTimesAlone) {
  for (const bool says_steps : {true, false}) {
    SCOPED_TRACE(says_steps);
    const RankAnalysis analysis = analyse(repeated(says_steps));
    EXPECT_EQ(analysis.skew.collectives, 0U);
    EXPECT_EQ(analysis.straggler(), 2);
    EXPECT_THAT(analysis.stragglers.front().evidence,
                HasSubstr("it computes for 900 ms, the others for 600 ms"));
    EXPECT_EQ(analysis.ranks[2].clock.state, ClockState::NotAligned);
    EXPECT_EQ(analysis.ranks[2].time.compute_ns, 900 * kMsNs);
    EXPECT_EQ(analysis.ranks[2].time.exposed_ns, 120 * kMsNs);
    EXPECT_EQ(analysis.ranks[2].time.overlapped_ns, 0);
    EXPECT_THAT(analysis.ranks[2].losses,
                ElementsAre("phases that run several times in a request are recorded with their "
                            "total time: when each collective began is not known"));
  }
}

TEST(RepeatedPhases, AreFoundBelowARangeThatRepeats) {
  // Only the collective repeats, so nothing overlaps; the range around it has the steps.
  Request request;
  request.start_ns = 0;
  request.ns = 100 * kMsNs;
  request.phases = {phase("train", 0, 100 * kMsNs),
                    phase("train/all_reduce", 5 * kMsNs, 50 * kMsNs)};
  request.phases[0].steps_ns = std::vector<std::int64_t>(10, 5 * kMsNs);
  const Capture capture = capture_of(std::vector<Request>{request}, "requests.jsonl");
  EXPECT_TRUE(capture.visits.empty());
  EXPECT_EQ(capture.losses.size(), 1U);
}

}  // namespace
}  // namespace profline::ranks
