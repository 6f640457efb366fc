#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "recorded_run.h"
#include "testing/paths.h"
#include "tools/recorder/recording.h"

// A C++ program that uses profline/phases.h.
namespace profline::recorder {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr const char* kProgram = "recorder_phases_calls";

void run_well(RecordedRun& run, const std::string& what) {
  const Exit exit = run.run(kProgram, {what});
  EXPECT_TRUE(exit.succeeded()) << exit.describe();
  EXPECT_EQ(exit.tail, "done 0\n");
}

std::vector<std::string> paths(const Request& request) {
  std::vector<std::string> all;
  for (const Phase& phase : request.phases) all.push_back(phase.path);
  return all;
}

TEST(Phases, BecomeRequests) {
  RecordedRun run;
  run.unset("NVTX_INJECTION64_PATH");
  run_well(run, "two_requests");
  const RecordedFolder recorded = run.recorded();
  EXPECT_THAT(recorded.problems, IsEmpty());
  const RecordedRequests found = requests_of(recorded.processes, "request");
  EXPECT_THAT(found.notes, IsEmpty());
  ASSERT_THAT(found.requests, SizeIs(2));
  for (const Request& request : found.requests) {
    EXPECT_THAT(paths(request), ElementsAre("prefill", "prefill/attention", "decode"));
    EXPECT_THAT(request.phases[2].steps_ns, ::testing::Optional(SizeIs(3)));
    EXPECT_EQ(request.prompt_tokens, 7U);
    EXPECT_EQ(request.new_tokens, 4U);
    EXPECT_EQ(request.integer("pages"), 2);
  }
}

TEST(Phases, AreRequestsWhateverNameTheUserLooksFor) {
  RecordedRun run;
  run_well(run, "two_requests");
  EXPECT_THAT(requests_of(run.recorded().processes, "page").requests, SizeIs(2));
}

TEST(Phases, EndWithTheirRequest) {
  RecordedRun run;
  run_well(run, "left_open");
  const RecordedFolder recorded = run.recorded();
  EXPECT_THAT(recorded.problems, IsEmpty());
  const RecordedRequests found = requests_of(recorded.processes, "request");
  ASSERT_THAT(found.requests, SizeIs(3));
  EXPECT_THAT(paths(found.requests[0]), ElementsAre("prefill", "prefill/attention"));
}

TEST(Phases, AndNvtxRangesAreRecordedOnceEach) {
  RecordedRun run;
  run_well(run, "mixed");
  const ProcessRanges process = run.only_process();
  EXPECT_THAT(process.ranges, SizeIs(3));
  const RecordedRequests found = requests_of({&process, 1}, "request");
  ASSERT_THAT(found.requests, SizeIs(1));
  EXPECT_THAT(paths(found.requests[0]), ElementsAre("decode", "decode/attention"));
}

TEST(Phases, OfAnotherThreadBelongToARequestThatSpansThreads) {
  RecordedRun run;
  run_well(run, "across_threads");
  const RecordedRequests found = requests_of(run.recorded().processes, "request");
  ASSERT_THAT(found.requests, SizeIs(1));
  EXPECT_THAT(paths(found.requests[0]), ElementsAre("decode"));
}

TEST(Phases, DoNothingWithoutTheRecorder) {
  RecordedRun run;
  run.unset("NVTX_INJECTION64_PATH");
  run.unset("PROFLINE_RECORDER");
  run_well(run, "two_requests");
  run.set("PROFLINE_RECORDER", "/nonexistent/library.so");
  run_well(run, "two_requests");
  EXPECT_TRUE(std::filesystem::is_empty(run.folder()));
}

TEST(Phases, ArePassedOnToAnotherTool) {
  RecordedRun run;
  run.set("NVTX_INJECTION64_PATH",
          (testing::binary_dir() / "tests/librecorder_other_tool.so").string());
  run.set("OTHER_TOOL_LOG", (run / "calls").string());
  run_well(run, "across_threads");
  const auto calls = read_file(run / "calls");
  ASSERT_TRUE(calls);
  EXPECT_EQ(*calls, "start request\npush decode\npop\nend 4711\n");
  // And they are recorded, if a folder is given.
  EXPECT_THAT(run.only_process().ranges, SizeIs(2));
}

TEST(Phases, ArePassedOnWithoutAFolder) {
  RecordedRun run;
  run.set_folder("");
  run.set("NVTX_INJECTION64_PATH",
          (testing::binary_dir() / "tests/librecorder_other_tool.so").string());
  run.set("OTHER_TOOL_LOG", (run / "calls").string());
  run_well(run, "left_open");
  const auto calls = read_file(run / "calls");
  ASSERT_TRUE(calls);
  EXPECT_THAT(*calls, StartsWith("push request\npush prefill\npush attention\npop\npop\npop\n"
                                 "push request\npush prefill\npush attention\npop\npop\n"
                                 "push decode\nmark step\nmark step\nmark step\npop\npop\n"));
}

}  // namespace
}  // namespace profline::recorder
