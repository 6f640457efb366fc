#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "stages/torch_profiler/internal/traces.h"
#include "stages/torch_profiler/torch_profiler_stage.h"
#include "testing/kineto/kineto_client.h"
#include "testing/pipeline/program_stage_test.h"
#include "testing/pipeline/recorded_stage_run.h"
#include "testing/processes/fake_processes.h"
#include "testing/temp_dir.h"
#include "tools/kineto/environment.h"

namespace profline::stages {
namespace {

namespace fs = std::filesystem;
using internal::on_demand_window;
using internal::OnDemandWindow;
using pipeline::Finding;
using pipeline::Severity;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kTrace = R"({"traceEvents": [
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":7,"ts":10,"dur":20}
]})";

class TorchProgram : public testing::ProgramStageTest {
 protected:
  TorchProgram() : ProgramStageTest("torch_profiler") {
    for (const char* name : {"KINETO_USE_DAEMON", "KINETO_IPC_SOCKET_DIR",
                             "KINETO_ONDEMAND_TRACE_DIR", "KINETO_CONFIG"}) {
      unsetenv(name);
    }
    setup_.settings.pipeline.workload.command = {"/bin/sh", "infer.sh"};
    setup_.settings.device.kind = settings::Device::Kind::Cpu;
    setup_.settings.pipeline.torch_profiler.enable = settings::Enable::Auto;
    // A program of 10 ms: its processes are traced from the first poll on.
    write("baseline/process.json", R"({"schema": "profline.process/1", "wall_ns": 10000000,
      "processes": [{"pid": 7, "torch": true}]})");
  }

  Result<void> run_stage() { return stage_.run(context(), stage_.plan(context()), run_); }

  testing::FakeProcesses processes_;
  testing::RecordedStageRun run_{processes_};
  TorchProfilerStage stage_;
};

TEST_F(TorchProgram, PlansTheAdapterAndKinetoOnDemand) {
  setup_.settings.pipeline.torch_profiler.record_shapes = true;
  const pipeline::StagePlan plan = stage_.plan(context());
  const auto& env = plan.command("workload").command.env;
  EXPECT_EQ(env.at("PROFLINE_GATE"), "torch");
  EXPECT_EQ(env.at("PROFLINE_GATE_PLAN"), file("steady.json"));
  EXPECT_EQ(env.at("PROFLINE_TRACE_DIR"), folder_ / "torch_profiler");
  EXPECT_EQ(env.at("PROFLINE_TORCH"),
            R"({"activities":["cpu","cuda"],"record_shapes":true,"profile_memory":false,)"
            R"("with_stack":false})");
  EXPECT_EQ(env.at("KINETO_USE_DAEMON"), "1");
  EXPECT_EQ(env.at("KINETO_IPC_SOCKET_DIR"), kineto::socket_folder(setup_.folder));
  EXPECT_EQ(env.at("KINETO_ONDEMAND_TRACE_DIR"), folder_ / "torch_profiler");
  EXPECT_THAT(
      plan.limits,
      ElementsAre("Python: 1 request, the first steady one of the baseline, up to 64 steps "
                  "of it (pipeline.torch_profiler.decode_steps)",
                  "up to 0.5 s of each other process that uses libtorch, by Kineto on demand"));
  EXPECT_THAT(env.at("PROFLINE_KINETO"), HasSubstr(R"("KINETO_USE_DAEMON":"1")"));
}

TEST_F(TorchProgram, LeavesTheUsersOwnKinetoSettingsAlone) {
  setenv("KINETO_USE_DAEMON", "1", 1);
  EXPECT_EQ(stage_.plan(context()).command("workload").command.env.count("KINETO_IPC_SOCKET_DIR"),
            0U);
  EXPECT_THAT(codes(stage_.preflight(context())), ElementsAre("kineto_configured"));
  setup_.settings.pipeline.workload.python = settings::PythonAdapter::Off;
  const auto findings = stage_.preflight(context());
  EXPECT_THAT(codes(findings), ElementsAre("nothing_traces"));
  EXPECT_EQ(findings.back().severity, Severity::Problem);
  unsetenv("KINETO_USE_DAEMON");
}

TEST_F(TorchProgram, PassesPreflightWhereItsSocketsCanBeReached) {
  EXPECT_THAT(codes(stage_.preflight(context())), IsEmpty());
  EXPECT_FALSE(fs::exists(kineto::socket_folder(setup_.folder)));
  setup_.settings.pipeline.workload.command = {"/bin/sh", "docker"};
  EXPECT_THAT(codes(stage_.preflight(context())), IsEmpty());
}

TEST_F(TorchProgram, TracesAProcessThatAsks) {
  processes_.expect({"/bin/sh"}).does([this](const Command& command) {
    testing::KinetoClient client(command.env.at("KINETO_IPC_SOCKET_DIR"), 77);
    EXPECT_EQ(client.enroll(), 1);
    std::optional<std::string> config = client.poll();
    for (int n = 0; config == "" && n < 500; ++n) config = client.poll();
    EXPECT_THAT(config.value_or(""),
                HasSubstr("ACTIVITIES_LOG_FILE=" + file("kineto.json").string() + "\n"));
    EXPECT_THAT(config.value_or(""), HasSubstr("ACTIVITIES_DURATION_MSECS=250\n"));
    write("torch_profiler/kineto_77.json", kTrace);
  });
  const auto ran = run_stage();
  ASSERT_TRUE(ran) << ran.error().to_string();
  EXPECT_THAT(run_.findings(), IsEmpty());
  EXPECT_THAT(read_file(file("kineto.conf")).value_or(""),
              HasSubstr("ON_DEMAND_CONFIG_UPDATE_INTERVAL_SECS=1"));
  EXPECT_THAT(codes(stage_.verify(context(), files())), IsEmpty());
  const auto summed = stage_.summarise(context(), files(), run_);
  ASSERT_TRUE(summed) << summed.error().to_string();
  for (const char* name : {"trace.json", "traces.json", "operators.json", "operators.md",
                           "kernels.json", "kernels.md"}) {
    EXPECT_TRUE(fs::exists(file(name))) << name;
  }
}

/// Above the largest that the kernel gives; the name is that of this test, which plays the client.
constexpr std::int32_t kNoSuchProcess = 2147483646;

TEST_F(TorchProgram, NamesAProcessThatWasAskedAndLeftNoTrace) {
  Exit own;
  own.code = 0;
  own.pid = ::getpid();
  processes_.expect({"/bin/sh"})
      .does([](const Command& command) {
        testing::KinetoClient client(command.env.at("KINETO_IPC_SOCKET_DIR"), kNoSuchProcess);
        std::optional<std::string> config = client.poll();
        for (int n = 0; config == "" && n < 500; ++n) config = client.poll();
      })
      .ends(own);
  ASSERT_TRUE(run_stage());
  ASSERT_THAT(codes(run_.findings()), ElementsAre("trace_lost"));
  EXPECT_EQ(run_.findings()[0].text,
            "process 2147483646 (stages_torch_pr) ended before its trace of 250 ms was complete");
  const auto found = stage_.verify(context(), files());
  ASSERT_THAT(codes(found), ElementsAre("nothing_traced"));
  EXPECT_EQ(found[0].severity, Severity::Warning) << "enable is auto";
  setup_.settings.pipeline.torch_profiler.enable = settings::Enable::Yes;
  EXPECT_EQ(stage_.verify(context(), files())[0].severity, Severity::Problem);
  EXPECT_TRUE(stage_.summarise(context(), files(), run_));
}

TEST_F(TorchProgram, AsksTheAdapterForOneSteadyRequest) {
  baseline("python");
  processes_.expect({"/bin/sh"}).does([this](const Command&) {
    write("torch_profiler/trace-9.json", kTrace);
  });
  ASSERT_TRUE(run_stage());
  const std::string plan = read_file(file("steady.json")).value_or("");
  EXPECT_THAT(plan, HasSubstr("\"first\": 2"));
  EXPECT_THAT(plan, HasSubstr("\"count\": 1"));
  EXPECT_THAT(plan, HasSubstr("\"steps\": 64"));
  EXPECT_THAT(codes(stage_.verify(context(), files())), IsEmpty());
}

constexpr const char* kMakesRequests =
    R"({"kind":"process","schema":"profline.python/1","pid":9,"python":"3.12","started":"infer.py"}
{"kind":"request","source":"python","start_ns":5,"ns":6,"phases":[],"pid":9,"thread":9}
)";

TEST_F(TorchProgram, TracesOtherProcessesWhileTheAdapterTracesRequests) {
  baseline("python");
  write("baseline/recorded/python-9-1.jsonl", kMakesRequests);
  processes_.expect({"/bin/sh"}).does([this](const Command& command) {
    EXPECT_EQ(command.env.at("KINETO_USE_DAEMON"), "1");
    write("torch_profiler/trace-9.json", kTrace);
    testing::KinetoClient client(command.env.at("KINETO_IPC_SOCKET_DIR"), 77);
    std::optional<std::string> config = client.poll();
    for (int n = 0; config == "" && n < 500; ++n) config = client.poll();
    write("torch_profiler/kineto_77.json", kTrace);
  });
  ASSERT_TRUE(run_stage());
  EXPECT_THAT(run_.findings(), IsEmpty());
  EXPECT_THAT(read_file(file("steady.json")).value_or(""), HasSubstr("\"infer.py\""));
  ASSERT_TRUE(stage_.summarise(context(), files(), run_));
  ASSERT_THAT(codes(run_.findings()), ElementsAre("other_traces"));
  EXPECT_EQ(run_.findings()[0].text,
            "operators and kernels are those of process 9; 1 other trace is next to its own: "
            "kineto_77.json (1 operator call, 0 kernels)");
  const std::string traces = read_file(file("traces.json")).value_or("");
  EXPECT_THAT(traces, HasSubstr("\"source\": \"adapter\""));
  EXPECT_THAT(traces, HasSubstr("\"source\": \"kineto\""));
}

TEST_F(TorchProgram, IsTracedByTheAdapterAloneIfItIsNotKnownWhoMadeTheRequests) {
  baseline("python");
  processes_.expect({"/bin/sh"}).does([this](const Command& command) {
    EXPECT_EQ(command.env.count("KINETO_USE_DAEMON"), 0U);
    EXPECT_EQ(command.env.count("PROFLINE_KINETO"), 0U);
    write("torch_profiler/trace-9.json", kTrace);
  });
  ASSERT_TRUE(run_stage());
}

TEST_F(TorchProgram, IsSkippedIfTheBaselineSawNoLibtorch) {
  write(
      "baseline/process.json",
      R"({"schema": "profline.process/1", "wall_ns": 5, "processes": [{"pid": 7, "torch": false}]})");
  ASSERT_TRUE(run_stage());
  EXPECT_THAT(run_.names(), IsEmpty()) << "the program need not run again";
  ASSERT_THAT(codes(run_.skipped()), ElementsAre("no_libtorch"));

  setup_.settings.pipeline.torch_profiler.enable = settings::Enable::Yes;
  processes_.expect({"/bin/sh"});
  ASSERT_TRUE(run_stage());
}

TEST_F(TorchProgram, ReportsAProgramThatFails) {
  processes_.expect({"/bin/sh"}).complains("boom\n").exits(3);
  ASSERT_TRUE(run_stage());
  ASSERT_FALSE(run_.findings().empty());
  EXPECT_EQ(run_.findings()[0].severity, Severity::Problem);
}

TEST(OnDemandWindows, AreInTheMiddleOfTheProgram) {
  EXPECT_EQ(on_demand_window(seconds(20)), (OnDemandWindow{seconds(10), milliseconds(500)}));
  EXPECT_EQ(on_demand_window(seconds(2)), (OnDemandWindow{seconds(1), milliseconds(500)}));
  EXPECT_EQ(on_demand_window(milliseconds(100)),
            (OnDemandWindow{milliseconds(50), milliseconds(250)}));
  EXPECT_EQ(on_demand_window(std::nullopt), (OnDemandWindow{seconds(5), milliseconds(500)}));
}

TEST(TakeOutAdapted, KeepsOthersAndReportsTheOneWithoutRequests) {
  using kineto::Outcome;
  const testing::TempDir folder;
  ASSERT_TRUE(write_file_atomic(folder / "python-9-1.jsonl", kMakesRequests));
  for (const auto& [pid, started] : {std::pair("8", "infer.py"), std::pair("7", "other.py")}) {
    const std::string line = std::string(R"({"kind":"process","pid":)") + pid +
                             R"(,"python":"3.12","started":")" + started + "\"}\n";
    ASSERT_TRUE(write_file_atomic(folder / (std::string("python-") + pid + "-1.jsonl"), line));
  }
  std::vector<kineto::ProcessTrace> traces = {{9, "python3", Outcome::NeverPolled, {}},
                                              {8, "python3", Outcome::NeverPolled, {}},
                                              {7, "python3", Outcome::NeverPolled, {}},
                                              {6, "worker", Outcome::Traced, "kineto_6.json"}};
  const auto findings = internal::take_out_adapted(folder.path(), {"infer.py"}, traces);
  ASSERT_EQ(traces.size(), 2U);
  EXPECT_EQ(traces[0].pid, 7);
  EXPECT_EQ(traces[1].pid, 6);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].text,
            "process 8 made no requests and was not traced: it was started like those that made "
            "requests in the baseline (infer.py)");
}

TEST(TakeOutSelfTraced, KeepsThoseWithoutACompleteTraceOfTheirOwn) {
  using kineto::Outcome;
  const testing::TempDir folder;
  constexpr const char* kWhole = "{\"traceEvents\":[\n]}\n";
  ASSERT_TRUE(write_file_atomic(folder / "trace-9.json", kWhole));
  ASSERT_TRUE(write_file_atomic(folder / "trace-8-2.json", kWhole));
  ASSERT_TRUE(write_file_atomic(folder / "trace-7.json", "{\"traceEvents\":[\n"));
  ASSERT_TRUE(write_file_atomic(folder / "trace-5.json", kWhole));
  ASSERT_TRUE(write_file_atomic(folder / "kineto_4.json", kWhole));
  std::vector<kineto::ProcessTrace> traces = {
      {9, "a", Outcome::NeverPolled, {}},         {8, "b", Outcome::EndedEarly, {}},
      {7, "c", Outcome::NeverPolled, {}},         {6, "d", Outcome::NeverPolled, {}},
      {5, "e", Outcome::Traced, "kineto_5.json"}, {4, "f", Outcome::NotWritten, {}}};
  internal::take_out_self_traced(folder.path(), traces);
  std::vector<std::int32_t> left;
  for (const kineto::ProcessTrace& trace : traces) left.push_back(trace.pid);
  EXPECT_THAT(left, ElementsAre(7, 6, 5, 4));
}

TEST(OnDemandFindings, NameTheProcessAndTheCause) {
  using kineto::Outcome;
  const std::vector<kineto::ProcessTrace> traces = {
      {1, "main", Outcome::Traced, "kineto_1.json"},
      {2, "a", Outcome::Truncated, "kineto_2.json"},
      {3, "b", Outcome::EndedEarly, {}},
      {4, "c", Outcome::NotWritten, {}},
      {5, "d", Outcome::NotAsked, {}},
      {6, "e", Outcome::NeverPolled, {}},
      {7, "f", Outcome::Forked, {}},
  };
  kineto::Traffic traffic;
  traffic.garbage = 1;
  traffic.elsewhere = {"/mnt/x/dynoconfigclient1"};
  const auto findings = internal::on_demand_findings(traces, traffic, {});
  std::vector<std::string> codes;
  for (const Finding& finding : findings) codes.push_back(finding.code);
  EXPECT_THAT(codes,
              ElementsAre("trace_truncated", "trace_lost", "trace_not_written", "trace_not_due",
                          "kineto_absent", "process_forked", "kineto_elsewhere", "kineto_garbage"));
  EXPECT_THAT(findings[4].text, HasSubstr("process 6 (e) uses libtorch but never asked"));
}

}  // namespace
}  // namespace profline::stages
