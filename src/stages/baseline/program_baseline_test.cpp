#include "stages/baseline/internal/program_baseline.h"

#include <gmock/gmock.h>

namespace profline::stages::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

std::vector<std::string> texts(const program::Recording& recording,
                               const settings::Workload& workload = {},
                               const ProgramEnd& end = {}) {
  std::vector<std::string> out;
  for (const Finding& finding : recording_findings(recording, workload, end)) {
    std::string text = finding.code + ": " + finding.text;
    if (!finding.fix.empty()) text += "; " + finding.fix;
    out.push_back(std::move(text));
  }
  return out;
}

TEST(RecordingFindings, SayWhoRecordedTheRequests) {
  program::Recording recording;
  recording.requests.resize(3);
  recording.requests.front().source = RequestSource::Python;
  EXPECT_THAT(texts(recording),
              ElementsAre("requests_recorded: 3 requests recorded by the Python adapter"));
  recording.requests.front().source = RequestSource::Nvtx;
  settings::Workload workload;
  workload.request_range = "generate";
  EXPECT_THAT(
      texts(recording, workload),
      ElementsAre("requests_recorded: 3 requests recorded, from the ranges named 'generate'"));
}

TEST(RecordingFindings, ShowHowToMarkRequests) {
  EXPECT_THAT(texts({}),
              ElementsAre("no_requests: phases are unknown: the program marks no requests; add two "
                          "lines around one unit of work; in Python 'import profline' and 'with "
                          "profline.request():', in C and C++ 'nvtxRangePushA(\"request\");' and "
                          "'nvtxRangePop();'"));
  program::Recording recording;
  for (const char* name : {"step", "load", "a", "b", "c", "d", "e"}) {
    NamedRanges range;
    range.name = name;
    recording.ranges.push_back(range);
  }
  EXPECT_THAT(texts(recording),
              ElementsAre("no_requests: phases are unknown: the program opens no range named "
                          "'request'; its ranges are reported by name: step, load, a, b, c and 2 "
                          "more; name the range that is one request: "
                          "pipeline.workload.request_range=step"));
}

TEST(RecordingFindings, SayWhyThereAreNoRequests) {
  const ProgramEnd isolated{.not_adapted = program::NotAdapted{"Python was isolated", "do not"}};
  EXPECT_THAT(texts({}, {}, isolated),
              ElementsAre("adapter_not_started: requests of Python are not recorded: Python was "
                          "isolated; do not"));
  program::Recording ranges;
  ranges.ranges.resize(1);
  EXPECT_THAT(texts(ranges, {}, isolated),
              ElementsAre(StartsWith("no_requests: "), StartsWith("adapter_not_started: ")));
  EXPECT_THAT(texts({}, {}, {.has_failed = true}),
              ElementsAre("no_requests: phases are unknown: the program failed and recorded no "
                          "request"));
}

TEST(RecordingFindings, ReportWhatWasLost) {
  program::Recording recording;
  recording.requests.resize(1);
  recording.problems.assign(7, "torch could not be patched");
  const std::vector<std::string> found = texts(recording);
  ASSERT_EQ(found.size(), 7U);
  EXPECT_EQ(found[1], "recording_problem: torch could not be patched");
  EXPECT_EQ(found[6], "recording_problem: 2 more problems with what the program recorded");
}

}  // namespace
}  // namespace profline::stages::internal
