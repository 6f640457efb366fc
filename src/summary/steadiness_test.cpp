#include "summary/steadiness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::summary {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

RunSummary summary_of(std::uint64_t requests, std::string state) {
  RunSummary summary;
  summary.request.emplace();
  summary.request->requests = requests;
  summary.request->steady.state = std::move(state);
  return summary;
}

TEST(Doubt, IsAboutFewRequestsAndDrift) {
  EXPECT_EQ(doubt_words(summary_of(4, "too-short")),
            "too short to tell: 4 requests do not show whether these times are steady");
  EXPECT_EQ(doubt_words(summary_of(1, "too-short")),
            "too short to tell: 1 request does not show whether these times are steady");
  EXPECT_EQ(
      doubt_words(summary_of(90, "drifting")),
      "the times still change from request to request, so a longer run may give different ones");
  EXPECT_EQ(doubt_words(summary_of(90, "steady")), "");
  EXPECT_EQ(doubt_words(RunSummary()), "");
}

TEST(Doubt, IsThatOfTheJudgedPhase) {
  const RunSummary summary = summary_of(2, "too-short");
  PhaseSummary decode;
  EXPECT_EQ(doubt_words(summary, decode), "") << "it has no unprofiled time";
  decode.steady = SummarySteady{"steady", 500, 5e6};
  EXPECT_EQ(doubt_words(summary, decode), "") << "its steps are enough";
  decode.steady->state = "too-short";
  EXPECT_THAT(doubt_words(summary, decode), ::testing::StartsWith("too short to tell: 2 requests"));
}

TEST(LeftOut, NamesTheLargestCost) {
  RunSummary summary;
  EXPECT_EQ(left_out_words(summary), "");
  summary.one_time = {{"prefill", "request", "first-use", 3, 297e6, 48e6, ""}};
  EXPECT_EQ(left_out_words(summary),
            "left out as one-time costs: first use of a shape in prefill (99.0 ms instead of 16.0 "
            "ms, three times)");
  summary.one_time.push_back({"", "request", "warm-up", 7, 70e6, 7e6, ""});
  EXPECT_THAT(left_out_words(summary), ::testing::EndsWith("; and 1 more"));
  EXPECT_EQ(one_time_words(summary.one_time.back()),
            "warm-up (10.0 ms instead of 1.00 ms, 7 times)");
}

std::vector<Request> requests_of(const std::vector<double>& ms) {
  std::vector<Request> all;
  for (const double one : ms) {
    Request& request = all.emplace_back();
    request.ns = static_cast<std::int64_t>(one * 1e6);
    request.phases = {{"forward", 0, request.ns, {}}};
  }
  return all;
}

std::vector<std::string> notes_of(const std::vector<double>& ms) {
  const std::vector<Request> all = requests_of(ms);
  const requests::PhaseTree tree(all);
  std::vector<std::string> notes;
  note_patterns(tree, requests::SteadyPart(all, tree), notes);
  return notes;
}

TEST(Patterns, OfTheSteadyPartAreNoted) {
  EXPECT_THAT(notes_of({10, 10, 10, 10}), IsEmpty());
  std::vector<double> collected(40, 10);
  std::vector<double> alternating(40, 10);
  for (std::size_t i = 0; i < collected.size(); ++i) {
    collected[i] += i % 8 == 7 ? 30 : 0.01 * static_cast<double>(i % 3);
    alternating[i] += ((i / 5) % 2 == 0 ? 2 : 0) + 0.01 * static_cast<double>(i % 3);
  }
  EXPECT_THAT(notes_of(collected),
              ElementsAre("forward: 5 of 40 requests take about 40.0 ms, one in 8; they recur, as "
                          "with garbage collection, and are part of the means"));
  EXPECT_THAT(notes_of(alternating),
              ElementsAre("forward: the times alternate between about 10.0 ms and 12.0 ms per "
                          "request, as with two clock rates; both are part of the means"));
}

TEST(OneTimeCostRows, AreSortedByWhatTheyCost) {
  std::vector<Request> all = requests_of({10, 10, 50, 10, 10});
  for (Request& request : all) request.phases.push_back({"after", 0, 20'000'000, {}});
  all.front().phases.back().ns = 200'000'000;
  const requests::PhaseTree tree(all);
  const auto rows = one_time_costs(tree, requests::SteadyPart(all, tree), "requests.jsonl");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].phase, "after");
  EXPECT_EQ(rows[0].reason, "warm-up");
  EXPECT_EQ(rows[1].phase, "forward");
  EXPECT_EQ(rows[1].reason, "event");
  EXPECT_EQ(rows[1].count, 1U);
  EXPECT_EQ(rows[1].source, "requests.jsonl");
}

}  // namespace
}  // namespace profline::summary
