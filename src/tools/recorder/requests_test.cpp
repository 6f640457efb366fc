#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/captures/test_recording.h"
#include "tools/recorder/recording.h"

namespace profline::recorder {
namespace {

using testing::parsed;
using testing::TestRecording;

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

RecordedRequests requests(const TestRecording& recording, std::string_view name = "request") {
  const ProcessRanges process = parsed(recording);
  return requests_of({&process, 1}, name);
}

Phase phase(std::string path, std::int64_t start_ns, std::int64_t ns,
            std::optional<std::vector<std::int64_t>> steps = {}) {
  return {.path = std::move(path), .start_ns = start_ns, .ns = ns, .steps_ns = std::move(steps)};
}

TEST(RequestsOf, TakesRangesInsideARequestAsItsPhases) {
  TestRecording recording;
  recording.push("request", 1000).push("prefill", 1010).range("attention", 1020, 1040).pop(1100);
  recording.push("decode", 1100).leaf("decode_step", 1100, 20).leaf("decode_step", 1125, 25);
  recording.pop(1160).pop(1200);
  const RecordedRequests found = requests(recording);
  EXPECT_THAT(found.notes, IsEmpty());
  ASSERT_THAT(found.requests, SizeIs(1));
  const Request& request = found.requests[0];
  EXPECT_EQ(request.source, RequestSource::Nvtx);
  EXPECT_EQ(request.start_ns, 1000);
  EXPECT_EQ(request.ns, 200);
  EXPECT_EQ(request.integer("pid"), 100);
  EXPECT_EQ(request.integer("thread"), 100);
  EXPECT_THAT(request.phases,
              ElementsAre(phase("prefill", 10, 90), phase("prefill/attention", 20, 20),
                          phase("decode", 100, 60, {{20, 25}})));
}

TEST(RequestsOf, GivesAPhaseItsStepsEvenWhereThereIsOnlyOne) {
  TestRecording recording;
  recording.push("request", 0).push("decode", 0).leaf("token", 1, 2).leaf("token", 4, 3).pop(9);
  recording.pop(10);
  recording.push("request", 20).push("decode", 20).leaf("token", 21, 4).pop(29).pop(30);
  recording.push("request", 40).push("decode", 40).pop(49).pop(50);
  const RecordedRequests found = requests(recording);
  ASSERT_THAT(found.requests, SizeIs(3));
  EXPECT_THAT(found.requests[0].phases, ElementsAre(phase("decode", 0, 9, {{2, 3}})));
  EXPECT_THAT(found.requests[1].phases, ElementsAre(phase("decode", 0, 9, {{4}})));
  EXPECT_EQ(found.requests[2].phases[0].steps_ns, std::vector<std::int64_t>());
  EXPECT_EQ(found.requests[2].id, 2U);
}

TEST(RequestsOf, KeepsThePartsOfAStep) {
  TestRecording recording;
  recording.push("request", 0).push("decode", 0);
  recording.push("token", 1).leaf("attention", 2, 3).pop(9);
  recording.push("token", 11).leaf("attention", 12, 4).pop(19).pop(20).pop(30);
  EXPECT_THAT(requests(recording).requests.at(0).phases,
              ElementsAre(phase("decode", 0, 20, {{8, 8}}), phase("decode/token", 1, 16),
                          phase("decode/token/attention", 2, 7)));
}

TEST(RequestsOf, MeasuresMarkedStepsWhoseBodiesMarkStepsThemselves) {
  TestRecording recording;
  recording.push("request", 0).push("decode", 0);
  for (std::uint64_t token = 0; token < 4; ++token) {
    const std::uint64_t start = 20 * token;
    recording.push("layers", start + 1).step(start + 5).step(start + 9).pop(start + 10);
    recording.step(start + 20);
  }
  recording.pop(80).pop(90);
  EXPECT_THAT(requests(recording).requests.at(0).phases,
              ElementsAre(phase("decode", 0, 80, {{20, 20, 20, 20}}),
                          phase("decode/layers", 1, 36, {{4, 4, 4, 4, 4, 4, 4, 4}})));
}

TEST(RequestsOf, DoesNotChooseStepsAmongSeveralChildrenThatRepeat) {
  TestRecording recording;
  recording.push("request", 0).push("prefill", 0);
  for (std::uint64_t layer = 0; layer < 2; ++layer) {
    recording.leaf("attention", 1 + 10 * layer, 3).leaf("mlp", 5 + 10 * layer, 4);
  }
  recording.pop(30).pop(40);
  EXPECT_THAT(requests(recording).requests.at(0).phases,
              ElementsAre(phase("prefill", 0, 30), phase("prefill/attention", 1, 6),
                          phase("prefill/mlp", 5, 8)));
}

TEST(RequestsOf, TakesAPhaseThatRepeatsInTheRequestAsSteps) {
  TestRecording recording;
  recording.push("request", 0).leaf("prefill", 0, 5).leaf("forward", 10, 2).leaf("forward", 20, 3);
  recording.pop(30);
  EXPECT_THAT(requests(recording).requests.at(0).phases,
              ElementsAre(phase("prefill", 0, 5), phase("forward", 10, 5, {{2, 3}})));
}

TEST(RequestsOf, PrefersStepsThatTheProgramMarked) {
  TestRecording recording;
  recording.request(100).push("decode", 110);
  recording.leaf("kernel", 112, 2).step(120).leaf("kernel", 122, 2).step(135);
  recording.number("new_tokens", 3).number("prompt_tokens", 8).number("batch", 2);
  recording.number("pages", 4).pop(140).pop(150);
  const RecordedRequests found = requests(recording, "another name");
  ASSERT_THAT(found.requests, SizeIs(1));
  EXPECT_THAT(found.requests[0].phases,
              ElementsAre(phase("decode", 10, 30, {{10, 15}}), phase("decode/kernel", 12, 4)));
  EXPECT_EQ(found.requests[0].new_tokens, 3U);
  EXPECT_EQ(found.requests[0].prompt_tokens, 8U);
  EXPECT_EQ(found.requests[0].batch, 2U);
  EXPECT_EQ(found.requests[0].integer("pages"), 4);
}

TEST(RequestsOf, FindsNoRequestWhereNoneIsNamed) {
  TestRecording recording;
  recording.range("forward", 10, 20);
  EXPECT_THAT(requests(recording).requests, IsEmpty());
  EXPECT_THAT(requests(recording, "forward").requests, SizeIs(1));
}

TEST(RequestsOf, FindsRequestsInADomain) {
  TestRecording recording;
  recording.push("page", 10, "server").push("decode", 11, "server").pop(15, "server");
  recording.pop(20, "server");
  for (const std::string_view name : {"page", "server:page"}) {
    const RecordedRequests found = requests(recording, name);
    ASSERT_THAT(found.requests, SizeIs(1)) << name;
    EXPECT_THAT(found.requests[0].phases, ElementsAre(phase("decode", 1, 4)));
  }
  EXPECT_THAT(requests(recording, "client:page").requests, IsEmpty());
}

TEST(RequestsOf, TakesARequestInsideARequestAsAPhase) {
  TestRecording recording;
  recording.push("request", 0).push("request", 5).leaf("decode", 6, 1).pop(10).pop(20);
  EXPECT_THAT(requests(recording).requests.at(0).phases,
              ElementsAre(phase("request", 5, 5), phase("request/decode", 6, 1)));
}

TEST(RequestsOf, LeavesOutARequestThatWasCutOff) {
  TestRecording recording;
  recording.push("request", 0).leaf("decode", 5, 1);
  const RecordedRequests found = requests(recording);
  EXPECT_THAT(found.requests, IsEmpty());
  EXPECT_THAT(found.notes,
              ElementsAre("1 request did not end before the program did, and is left out"));
}

TEST(RequestsOf, AssignsWhatSpansThreadsWhereOnlyOneRequestWasOpen) {
  TestRecording recording;
  recording.start("request", 1, 100).end(1, 200).start("request", 2, 300);
  recording.stage(2).thread(200).range("decode", 110, 150).start("copy", 3, 160).end(3, 170);
  recording.push("loop", 250).range("decode", 310, 330).pop(900).end(2, 400);
  const RecordedRequests found = requests(recording);
  EXPECT_THAT(found.notes, IsEmpty());
  ASSERT_THAT(found.requests, SizeIs(2));
  EXPECT_THAT(found.requests[0].phases,
              ElementsAre(phase("decode", 10, 40), phase("copy", 60, 10)));
  EXPECT_THAT(found.requests[1].phases, ElementsAre(phase("decode", 10, 20)));
}

TEST(RequestsOf, DoesNotGuessAmongRequestsThatOverlap) {
  TestRecording recording;
  recording.start("request", 1, 100).start("request", 2, 110).end(1, 200).end(2, 210);
  recording.stage(2).thread(200).range("decode", 120, 150);
  const RecordedRequests found = requests(recording);
  ASSERT_THAT(found.requests, SizeIs(2));
  EXPECT_THAT(found.requests[0].phases, IsEmpty());
  EXPECT_THAT(found.notes,
              ElementsAre("1 range lies inside more than one request, and is not a phase of any"));
}

TEST(RequestsOf, LeavesTheWorkOfOtherThreadsAlone) {
  TestRecording recording;
  recording.range("request", 100, 200);
  recording.stage(2).thread(200).range("loader", 120, 150);
  EXPECT_THAT(requests(recording).requests.at(0).phases, IsEmpty());
}

TEST(RequestsOf, MakesPartsOfAPathFromAnyName) {
  TestRecording recording;
  recording.push("request", 0).leaf("model/layer", 1, 1).leaf("", 3, 1).step(7).pop(10);
  const RecordedRequests found = requests(recording);
  EXPECT_THAT(found.requests.at(0).phases,
              ElementsAre(phase("model.layer", 1, 1), phase("(unnamed)", 3, 1)));
  EXPECT_THAT(found.notes, ElementsAre("1 step was marked outside the phases of a request, and is "
                                       "left out"));
}

TEST(RequestsOf, BoundsTheDepthOfPhases) {
  TestRecording recording;
  recording.push("request", 0);
  for (std::uint64_t i = 1; i <= 100000; ++i) recording.push("level", i);
  for (std::uint64_t i = 1; i <= 100000; ++i) recording.pop(200000 + i);
  recording.pop(400000);
  EXPECT_THAT(requests(recording).requests.at(0).phases, SizeIs(32));
}

TEST(RequestsOf, NumbersTheRequestsOfAllProcessesByTime) {
  TestRecording first;
  first.range("request", 100, 110).range("request", 300, 310);
  TestRecording second;
  second.range("request", 200, 210);
  const std::vector<ProcessRanges> processes = {parsed(first), parsed(second)};
  const RecordedRequests found = requests_of(processes, "request");
  ASSERT_THAT(found.requests, SizeIs(3));
  EXPECT_EQ(found.requests[1].start_ns, 200);
  EXPECT_EQ(found.requests[2].id, 2U);
}

TEST(PhasesInside, TakesTheRangesOfAThreadInATime) {
  TestRecording recording;
  recording.push("epoch", 0).push("request", 90).range("attention", 110, 120);
  recording.range("late", 190, 230).pop(240).pop(500);
  recording.stage(2).thread(200).range("loader", 120, 150);
  const ProcessRanges process = parsed(recording);
  EXPECT_THAT(phases_inside(process, 100, 100, 200), ElementsAre(phase("attention", 10, 10)));
  EXPECT_THAT(phases_inside(process, 200, 100, 200), ElementsAre(phase("loader", 20, 30)));
  EXPECT_THAT(phases_inside(process, 300, 100, 200), IsEmpty());
}

TEST(PhasesInside, AreNotRangesOfALibrarysDomain) {
  TestRecording recording;
  recording.push("attention", 110).push("InclusiveScan", 112, "CCCL").pop(115, "CCCL").pop(120);
  const ProcessRanges process = parsed(recording);
  const std::vector<Phase> phases = phases_inside(process, 100, 100, 200);
  ASSERT_EQ(phases.size(), 1U);
  EXPECT_EQ(phases[0].path, "attention");
}

}  // namespace
}  // namespace profline::recorder
