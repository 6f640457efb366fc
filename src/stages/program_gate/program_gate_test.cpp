#include "stages/program_gate/program_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "testing/pipeline/program_stage_test.h"

namespace profline::stages {
namespace {

using ::testing::HasSubstr;

class ProgramGateTest : public testing::ProgramStageTest {};

TEST_F(ProgramGateTest, IsTheAdaptersForSteadyPythonRequestsOnAGpu) {
  baseline("python", 6, kSteady);
  EXPECT_EQ(choose_gate(context()),
            (ProgramGate{CaptureGate::Requests,
                         "requests 3 to 5 of 6, bracketed by the Python adapter", 2, 3}));
}

TEST_F(ProgramGateTest, IsTheSameOnAllRanks) {
  setup_.settings.pipeline.workload.ranks = {
      .launcher = settings::RankLauncher::Mpirun,
      .n = 3,
      .profile = {settings::RankChoice::Kind::Listed, {1, 2}}};
  const auto baseline_of = [&](int rank, const char* steady) {
    const std::string folder = "baseline/ranks/" + std::to_string(rank);
    write(folder + "/requests.jsonl", R"({"id": 0, "source": "python", "ns": 5, "phases": []})"
                                      "\n");
    write(folder + "/steady.json", steady);
  };
  baseline_of(1, kSteady);
  baseline_of(2, R"({"schema": "profline.steady/1", "first": 4, "count": 1, "requests": 6,)"
                 R"( "reason": "slow to warm up"})");
  setup_.rank = 2;
  EXPECT_EQ(choose_gate(context()).first, 2U);
  EXPECT_EQ(choose_gate(context()).count, 3U);
  EXPECT_EQ(gated_run(setup_, program::GateKind::Cuda).gate_plan,
            (folder_ / "baseline/ranks/1/steady.json").string());
}

TEST_F(ProgramGateTest, IsTheRangeOfOtherRequests) {
  baseline("nvtx", 4, "");
  setup_.settings.pipeline.workload.request_range = "page";
  EXPECT_EQ(choose_gate(context()),
            (ProgramGate{CaptureGate::Ranges, "request 2 of 4, ranges named page", 1, 1}));
}

TEST_F(ProgramGateTest, IsNoneWithoutRequestsOrWhereNothingCanBracketThem) {
  EXPECT_EQ(choose_gate(context()),
            (ProgramGate{CaptureGate::Everything, "the baseline recorded no requests", 0, 0}));
  baseline("python", 6, kSteady);
  setup_.settings.device.kind = settings::Device::Kind::Cpu;
  EXPECT_EQ(choose_gate(context()).gate, CaptureGate::Everything);
  setup_.settings.device.kind = settings::Device::Kind::Cuda;
  setup_.settings.pipeline.workload.python = settings::PythonAdapter::Off;
  EXPECT_EQ(choose_gate(context()).gate, CaptureGate::Everything);
  setup_.settings.pipeline.workload.python = settings::PythonAdapter::Auto;
  tools_.companions.python.reset();
  EXPECT_EQ(choose_gate(context()).gate, CaptureGate::Everything);
}

TEST_F(ProgramGateTest, TakesTheOnlyRequestOfAProgramThatMakesOne) {
  baseline("python", 1, "");
  EXPECT_EQ(choose_gate(context()).first, 0U);
  EXPECT_EQ(choose_gate(context()).gate, CaptureGate::Requests);
}

TEST_F(ProgramGateTest, CountsTheRequestsOfOneProcess) {
  baseline("python", 8,
           R"({"schema": "profline.steady/1", "first": 1, "count": 1, "requests": 8,)"
           R"( "in_process": 2, "reason": "too short to tell"})");
  EXPECT_EQ(choose_gate(context()),
            (ProgramGate{CaptureGate::Requests,
                         "request 2 of 2 in each process, as chosen in the one with the most "
                         "requests (8 in all), bracketed by the Python adapter",
                         1, 1}));
}

TEST_F(ProgramGateTest, KeepsTheRequestsOfTheProcessThatWasTraced) {
  const auto process = [](const std::string& pid, const std::string& gate) {
    return R"({"kind":"process","schema":"profline.python/1","pid":)" + pid +
           R"(,"python":"3.12","start_ns":0})" + "\n" +
           R"({"kind":"request","source":"python","start_ns":100,"ns":90,"phases":[],"pid":)" +
           pid + R"(,"thread":7})" + "\n" + gate;
  };
  const std::string opened =
      R"({"kind":"gate","gate":"torch","requests":[0],"opened_ns":95,"closed_ns":291,"trace":"t"})"
      "\n";
  write("torch_profiler/recorded/python-7-1.jsonl", process("7", opened));
  write("torch_profiler/recorded/python-8-1.jsonl", process("8", ""));
  const auto out = folder_ / "torch_profiler";
  ASSERT_TRUE(write_profiled_requests(setup_, out, out));
  const auto requests = parse_requests(read_file(out / "requests.jsonl").value_or(""), "r");
  ASSERT_TRUE(requests) << requests.error().to_string();
  ASSERT_EQ(requests->size(), 1U);
  EXPECT_EQ(requests->front().integer("pid"), 7);
}

TEST_F(ProgramGateTest, IsReadBackAsWritten) {
  const ProgramGate gate{CaptureGate::Ranges, "why", 1, 2};
  ASSERT_TRUE(write_gate(folder_.path(), gate));
  EXPECT_EQ(read_gate(folder_.path()), gate);
  EXPECT_EQ(read_gate(folder_ / "absent").gate, CaptureGate::Everything);
}

/// Three requests, of which the gate was open around the second.
constexpr const char* kRecord =
    R"({"kind":"process","schema":"profline.python/1","pid":7,"parent":1,"python":"3.12","argv":["infer.py"],"torch":null,"transformers":null,"clock":"monotonic","start_ns":0}
{"kind":"request","source":"python","start_ns":100,"ns":90,"phases":[{"path":"decode","start_ns":0,"ns":90,"steps_ns":[30,30,30]}],"pid":7,"thread":7}
{"kind":"request","source":"python","start_ns":200,"ns":90,"phases":[{"path":"decode","start_ns":0,"ns":90,"steps_ns":[30,30,30]}],"pid":7,"thread":7}
{"kind":"gate","gate":"cuda","requests":[1],"opened_ns":195,"closed_ns":291,"trace":null}
{"kind":"request","source":"python","start_ns":300,"ns":90,"phases":[{"path":"decode","start_ns":0,"ns":90,"steps_ns":[30,30,30]}],"pid":7,"thread":7}
)";

TEST_F(ProgramGateTest, KeepsTheRequestsThatWereCapturedUnderTheirNumbers) {
  write("nsys/workload/recorded/python-7-1.jsonl", kRecord);
  const auto out = folder_ / "nsys/workload";
  ASSERT_TRUE(write_profiled_requests(setup_, out, out));
  const auto requests = parse_requests(read_file(out / "requests.jsonl").value_or(""), "r");
  ASSERT_TRUE(requests) << requests.error().to_string();
  ASSERT_EQ(requests->size(), 1U);
  EXPECT_EQ(requests->front().id, 1U);
  EXPECT_EQ(requests->front().phases[0].steps_ns->size(), 3U);

  ASSERT_TRUE(write_profiled_requests(setup_, out, out, {.steps = 2}));
  const auto cut = parse_requests(read_file(out / "requests.jsonl").value_or(""), "r");
  ASSERT_TRUE(cut) << cut.error().to_string();
  EXPECT_EQ(cut->front().phases[0].steps_ns, (std::vector<std::int64_t>{30, 30}));
  EXPECT_EQ(cut->front().phases[0].ns, 60);
}

TEST_F(ProgramGateTest, KeepsTheRequestsThatNsysCaptured) {
  std::string lines = kRecord;
  const std::size_t gate = lines.find(R"({"kind":"gate")");
  lines.erase(gate, lines.find('\n', gate) - gate + 1);
  write("nsys/workload/recorded/python-7-1.jsonl", lines);
  const auto out = folder_ / "nsys/workload";
  ASSERT_TRUE(write_profiled_requests(setup_, out, out,
                                      {.captured = CapturedRequests{.first = 2, .count = 1}}));
  const auto requests = parse_requests(read_file(out / "requests.jsonl").value_or(""), "r");
  ASSERT_TRUE(requests) << requests.error().to_string();
  ASSERT_EQ(requests->size(), 1U);
  EXPECT_EQ(requests->front().id, 2U) << "it is compared with the third of the baseline";
}

TEST_F(ProgramGateTest, WritesNoRequestsOfAProgramThatHasNone) {
  ASSERT_TRUE(write_profiled_requests(setup_, folder_ / "nsys", folder_ / "nsys"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "nsys/requests.jsonl"));
}

TEST_F(ProgramGateTest, SaysWhatTheAdapterSaid) {
  EXPECT_EQ(adapter_problem(setup_, folder_ / "nsys"), "no Python process loaded the adapter");
  write("nsys/recorded/python-7-1.jsonl",
        std::string(kRecord) + R"({"kind":"problem","text":"the program made 1 request"})" + "\n");
  EXPECT_EQ(adapter_problem(setup_, folder_ / "nsys"), "the program made 1 request");
}

}  // namespace
}  // namespace profline::stages
