#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "summary/verdict.h"

namespace profline::summary {
namespace {

using ::testing::ElementsAre;

PhaseSummary phase(std::string path, double share, bool repeats = false) {
  PhaseSummary made;
  made.path = std::move(path);
  made.name = last_name(made.path);
  made.unit = repeats ? "token" : "image";
  made.repeats = repeats;
  made.share = share;
  return made;
}

/// A model with two parts in its prefill, and host work ahead of it.
RunSummary two_part_model() {
  RunSummary summary;
  summary.phases = {phase("prefill/tower", 0.3), phase("prefill/text", 0.1),
                    phase("decode", 0.2, true)};
  summary.request.emplace();
  summary.request->parts = {{"preprocess", "preprocess", 0.35, {}, true},
                            {"prefill", "prefill", 0.45, 0.05},
                            {"prefill/tower", "tower", 0.3, {}},
                            {"prefill/text", "text", 0.1, {}},
                            {"decode", "decode", 0.2, {}}};
  return summary;
}

TEST(LongestPass, IsTheOutermostPhaseOfTheModelWithoutSteps) {
  SummaryRequest request = *two_part_model().request;
  request.parts.back().repeats = true;
  EXPECT_EQ(longest_pass(request)->name, "prefill");
  request.parts.erase(request.parts.begin() + 1);
  EXPECT_EQ(longest_pass(request), nullptr);  // left: host work, parts of a phase, steps
}

TEST(LeadingPhase, IsTheOneWithStepsElseTheLongest) {
  RunSummary summary = two_part_model();
  EXPECT_EQ(leading_phase(summary)->name, "decode");
  summary.phases.pop_back();
  EXPECT_EQ(leading_phase(summary)->name, "tower");
  summary.phases.push_back(phase("capture run", 1));
  summary.phases.back().unit = "capture";
  EXPECT_EQ(leading_phase(summary)->name, "tower");
  EXPECT_EQ(leading_phase(RunSummary()), nullptr);
}

TEST(PhaseLines, AccountForTheWholeRequest) {
  const RunSummary summary = two_part_model();
  std::vector<std::string> names;
  double all = 0;
  for (const PhaseLine& line : phase_lines(summary)) {
    names.push_back(line.name);
    all += line.share;
    EXPECT_EQ(line.phase != nullptr, line.name != "preprocess" && line.name != "rest of prefill")
        << line.name;
  }
  EXPECT_THAT(names, ElementsAre("preprocess", "tower", "text", "rest of prefill", "decode"));
  EXPECT_DOUBLE_EQ(all, 1);
}

TEST(PhaseLines, CloseEveryPhaseAroundTheLastOne) {
  RunSummary summary;
  summary.request.emplace();
  summary.request->parts = {{"a", "a", 1, 0.1}, {"a/b", "b", 0.9, 0.2}, {"a/b/c", "c", 0.7, {}}};
  std::vector<std::string> names;
  for (const PhaseLine& line : phase_lines(summary)) names.push_back(line.name);
  EXPECT_THAT(names, ElementsAre("c", "rest of b", "rest of a"));
}

TEST(PhaseLines, OfAProgramWithoutRequestsAreItsRanges) {
  RunSummary summary;
  summary.phases = {phase("forward", 0.6)};
  ASSERT_EQ(phase_lines(summary).size(), 1U);
  EXPECT_EQ(phase_lines(summary).front().phase, &summary.phases.front());
}

}  // namespace
}  // namespace profline::summary
