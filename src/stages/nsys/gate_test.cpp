#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stages/nsys/nsys_stage.h"
#include "stages/program_gate/program_gate.h"
#include "testing/captures/nsys_export.h"
#include "testing/pipeline/program_stage_test.h"
#include "testing/pipeline/recorded_stage_run.h"
#include "testing/processes/fake_processes.h"

namespace profline::stages {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kGated =
    "Capture range started in the application.\nCapture range ended in the application.\n";

class NsysGate : public testing::ProgramStageTest {
 protected:
  NsysGate() : ProgramStageTest("nsys") {
    own().sample = settings::CpuSampling::None;
    tools_.nsys = nsys::Installation{"/opt/nsys", {2023, 4, 4}};
  }

  settings::Nsys& own() { return setup_.settings.pipeline.nsys; }
  Result<void> run_stage() { return stage_.run(context(), stage_.plan(context()), run_); }
  void expect_export(const std::string& base) {
    processes_.expect({"/opt/nsys", "export"}).does([this, base](const Command&) {
      ASSERT_TRUE(testing::write_decode_loop(file(base + ".sqlite"), {.kernels = 120}));
    });
    processes_.expect({"/opt/nsys", "stats"})
        .prints("Time (%),Total Time (ns),Instances,Name\n100.0,10,1,gemm\n");
  }

  testing::FakeProcesses processes_;
  testing::RecordedStageRun run_{processes_};
  NsysStage stage_;
};

TEST_F(NsysGate, IsPlannedInEveryForm) {
  const pipeline::StagePlan plan = stage_.plan(context());
  std::vector<std::string> names;
  for (const pipeline::PlannedCommand& command : plan.commands) names.push_back(command.name);
  EXPECT_THAT(names, ElementsAre("capture requests", "capture ranges", "capture", "export run.1",
                                 "kernel_summary run.1", "export", "kernel_summary"));
  const auto& requests = plan.command("capture requests");
  EXPECT_EQ(requests.condition, "if the baseline records requests of a Python program on a GPU");
  EXPECT_THAT(requests.command.argv,
              IsSupersetOf({"--capture-range=cudaProfilerApi", "--capture-range-end=stop"}));
  EXPECT_EQ(requests.command.env.at("PROFLINE_GATE"), "cuda");
  EXPECT_EQ(requests.command.env.at("PROFLINE_GATE_PLAN"), folder_ / "baseline/steady.json");
  const auto& ranges = plan.command("capture ranges");
  EXPECT_EQ(ranges.condition, "if it records NVTX ranges 'request' instead");
  EXPECT_THAT(ranges.command.argv,
              IsSupersetOf({"--capture-range=nvtx", "--capture-range-end=repeat:3",
                            "--nvtx-capture=request@*"}));
  const auto& everything = plan.command("capture");
  EXPECT_EQ(everything.condition, "otherwise, or if nothing opened the capture");
  EXPECT_THAT(everything.command.argv, Not(Contains(StartsWith("--capture-range"))));
  EXPECT_EQ(everything.command.env.at("PROFLINE_GATE"), "none");
  EXPECT_THAT(plan.artifacts, Contains("gate.json"));
}

TEST_F(NsysGate, IsTheUsersIfTheSettingsNameOne) {
  own().capture_range = settings::CaptureRange::CudaProfilerApi;
  EXPECT_EQ(stage_.plan(context()).commands.size(), 3U);
  own().capture_range = settings::CaptureRange::None;
  own().gating_nvtx = false;
  EXPECT_EQ(stage_.plan(context()).commands.size(), 3U);
  own().gating_nvtx = true;
  setup_.baseline_is_on = false;
  EXPECT_EQ(stage_.plan(context()).commands.size(), 3U);
}

TEST_F(NsysGate, CapturesTheSteadyRequestsOfAPythonProgram) {
  baseline("python");
  processes_.expect({"/opt/nsys", "profile"})
      .writes(file("run.nsys-rep"), "report")
      .prints(std::string(kGated) + "Generated:\n    " + file("run.nsys-rep").string() + "\n");
  expect_export("run");
  const auto ran = run_stage();
  ASSERT_TRUE(ran) << ran.error().to_string();
  EXPECT_THAT(run_.names(), ElementsAre("capture requests", "export", "kernel_summary"));
  EXPECT_THAT(run_.findings(), IsEmpty());
  EXPECT_EQ(read_gate(folder_ / "nsys").gate, CaptureGate::Requests);
  EXPECT_THAT(codes(stage_.verify(context(), files())), IsEmpty());
  EXPECT_TRUE(stage_.summarise(context(), files(), run_));
}

TEST_F(NsysGate, CapturesEverythingIfTheGateStaysClosed) {
  baseline("python");
  processes_.expect({"/opt/nsys", "profile"})
      .does([this](const Command&) {
        write("nsys/workload/recorded/python-7-1.jsonl",
              R"({"kind":"problem","text":"the program made 1 request"})"
              "\n");
      })
      .prints("Generated:\n");
  processes_.expect({"/opt/nsys", "profile"})
      .writes(file("run.nsys-rep"), "report")
      .prints("Generated:\n    " + file("run.nsys-rep").string() + "\n");
  expect_export("run");
  const auto ran = run_stage();
  ASSERT_TRUE(ran) << ran.error().to_string();
  EXPECT_THAT(run_.names(), ElementsAre("capture requests", "capture", "export", "kernel_summary"));
  ASSERT_THAT(codes(run_.findings()), ElementsAre("gate_stayed_closed"));
  EXPECT_EQ(run_.findings()[0].text,
            "nothing opened the capture of requests 3 to 5 of 6, bracketed by the Python adapter: "
            "the program made 1 request");
  EXPECT_EQ(read_gate(folder_ / "nsys").gate, CaptureGate::Everything);
  EXPECT_FALSE(std::filesystem::exists(file("workload/recorded")))
      << "of the first attempt; the fake program of the second records nothing";
  EXPECT_THAT(codes(stage_.verify(context(), files())), IsEmpty());
}

TEST_F(NsysGate, KeepsOnlyTheWarmRangesOfAProgram) {
  baseline("nvtx");
  std::string generated = "Generated:\n";
  auto& capture = processes_.expect({"/opt/nsys", "profile"});
  for (const char* name : {"run.1.nsys-rep", "run.2.nsys-rep", "run.3.nsys-rep"}) {
    capture.writes(file(name), "report");
    generated += "    " + file(name).string() + "\n";
  }
  capture.prints(std::string(kGated) + generated);
  expect_export("run.3");
  const auto ran = run_stage();
  ASSERT_TRUE(ran) << ran.error().to_string();
  EXPECT_THAT(run_.names(), ElementsAre("capture ranges", "export run.3", "kernel_summary run.3"));
  EXPECT_FALSE(std::filesystem::exists(file("run.1.nsys-rep"))) << "cold";
  EXPECT_FALSE(std::filesystem::exists(file("run.2.nsys-rep"))) << "cold";
  EXPECT_THAT(codes(stage_.verify(context(), files())), Not(Contains("fewer_captures")));
  const auto summed = stage_.summarise(context(), files(), run_);
  ASSERT_TRUE(summed) << summed.error().to_string();
  EXPECT_THAT(read_file(file("ranges.json")).value_or(""), HasSubstr("request@*"));
}

TEST_F(NsysGate, SaysThatTheRequestsItCapturedMayBeCold) {
  baseline("nvtx", 12,
           R"({"schema": "profline.steady/1", "first": 7, "count": 3, "requests": 12,)"
           R"( "reason": "the first seven are cold"})");
  processes_.expect({"/opt/nsys", "profile"})
      .writes(file("run.1.nsys-rep"), "report")
      .writes(file("run.2.nsys-rep"), "report")
      .prints(std::string(kGated) + "Generated:\n    " + file("run.1.nsys-rep").string() +
              "\n    " + file("run.2.nsys-rep").string() + "\n");
  expect_export("run.2");
  const auto ran = run_stage();
  ASSERT_TRUE(ran) << ran.error().to_string();
  EXPECT_THAT(run_.findings(),
              Contains(AllOf(Field(&pipeline::Finding::code, "cold_requests"),
                             Field(&pipeline::Finding::text,
                                   "nsys captured request 2, which may have one-time costs: it "
                                   "captures only the first ranges, and steady requests begin "
                                   "with number 8"))));
}

TEST_F(NsysGate, MayCaptureNothingOfAProgramOnTheCpu) {
  const auto run_with_empty_export = [this] {
    processes_.expect({"/opt/nsys", "profile"})
        .writes(file("run.nsys-rep"), "report")
        .prints("Generated:\n    " + file("run.nsys-rep").string() + "\n");
    processes_.expect({"/opt/nsys", "export"}).does([this](const Command&) {
      std::filesystem::remove(file("run.sqlite"));
      auto database = sqlite::Database::open_read_write(file("run.sqlite"), sqlite::Create::Yes);
      ASSERT_TRUE(database);
      ASSERT_TRUE(testing::create_nsys_tables(*database, testing::NsysRelease::Y2023));
    });
    ASSERT_TRUE(run_stage());
  };
  run_with_empty_export();
  EXPECT_THAT(codes(run_.findings()), ElementsAre("capture_empty")) << "a GPU was promised";
  setup_.settings.device.kind = settings::Device::Kind::Cpu;
  run_with_empty_export();
  ASSERT_THAT(codes(run_.findings()), ElementsAre("capture_empty", "nothing_to_record"));
  EXPECT_EQ(run_.findings()[1].severity, pipeline::Severity::Note);
}

TEST_F(NsysGate, IsOpenForAProgramWithoutRequests) {
  processes_.expect({"/opt/nsys", "profile"})
      .writes(file("run.nsys-rep"), "report")
      .prints("Generated:\n    " + file("run.nsys-rep").string() + "\n");
  expect_export("run");
  ASSERT_TRUE(run_stage());
  EXPECT_THAT(run_.names(), ElementsAre("capture", "export", "kernel_summary"));
  EXPECT_EQ(read_gate(folder_ / "nsys").why, "the baseline recorded no requests");
}

}  // namespace
}  // namespace profline::stages
