#include "stages/nsys/nsys_stage.h"

#include <csignal>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/sqlite.h"
#include "records/kernel_use.h"
#include "records/range_use.h"
#include "testing/captures/nsys_export.h"
#include "testing/pipeline/recorded_stage_run.h"
#include "testing/processes/fake_processes.h"
#include "testing/temp_dir.h"

namespace profline::stages {
namespace {

using pipeline::Finding;
using pipeline::Severity;
using settings::CaptureRange;
using settings::CaptureRangeEnd;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::FakeProcesses;
using ::testing::IsEmpty;
using testing::RecordedStageRun;

constexpr const char* kGated =
    "Capture range started in the application.\nCapture range ended in the application.\n";

/// A run on the CPU of a user's program, whose workload needs nothing.
class NsysStageTest : public ::testing::Test {
 protected:
  NsysStageTest() {
    setup_.id = "run";
    setup_.folder = folder_.path();
    setup_.cwd = folder_.path();
    setup_.config = Node::map({});
    setup_.settings.pipeline.workload.command = {"/bin/true"};
    setup_.settings.device.kind = settings::Device::Kind::Cpu;
    own().sample = settings::CpuSampling::None;
    tools_.nsys = nsys::Installation{"/opt/nsys", {2023, 4, 4}};
  }

  settings::Nsys& own() { return setup_.settings.pipeline.nsys; }
  void gate_on(std::vector<std::string> ranges) {
    own().capture_range = CaptureRange::Nvtx;
    own().nvtx_capture = schema::OneOrMore{std::move(ranges)};
  }
  pipeline::StageContext context() { return {setup_, tools_}; }
  run::Run files() { return run::Run::with_record(setup_.folder, {}); }
  Result<void> run_stage(pipeline::StageRun& run) {
    return stage_.run(context(), stage_.plan(context()), run);
  }
  std::filesystem::path file(const std::string& name) { return folder_ / ("nsys/" + name); }

  /// What `nsys export` does.
  void expect_export(const std::string& base) {
    processes_.expect({"/opt/nsys", "export"}).does([this, base](const Command&) {
      ASSERT_TRUE(testing::write_decode_loop(file(base + ".sqlite"), {.kernels = 120}));
    });
    processes_.expect({"/opt/nsys", "stats"})
        .prints("Time (%),Total Time (ns),Instances,Name\n100.0,10,1,gemm\n");
  }

  std::vector<std::string> codes(const std::vector<Finding>& findings) {
    std::vector<std::string> codes;
    codes.reserve(findings.size());
    for (const Finding& finding : findings) codes.push_back(finding.code);
    return codes;
  }

  testing::TempDir folder_;
  pipeline::RunSetup setup_;
  pipeline::Toolbox tools_;
  FakeProcesses processes_;
  RecordedStageRun run_{processes_};
  NsysStage stage_;
};

TEST_F(NsysStageTest, CapturesExportsAndSumsUp) {
  processes_.expect({"/opt/nsys", "profile"})
      .writes(file("run.nsys-rep"), "report")
      .prints("Generated:\n    " + file("run.nsys-rep").string() + "\n");
  expect_export("run");
  ASSERT_TRUE(run_stage(run_));
  EXPECT_THAT(run_.names(), ElementsAre("capture", "export", "kernel_summary"));
  EXPECT_THAT(run_.findings(), IsEmpty());
  ASSERT_EQ(run_.sessions().size(), 1U);
  EXPECT_THAT(processes_.commands().front().argv, Contains("--session-new=" + run_.sessions()[0]));
  EXPECT_THAT(codes(stage_.verify(context(), files())), IsEmpty());
  const auto summed = stage_.summarise(context(), files(), run_);
  ASSERT_TRUE(summed) << summed.error().to_string();
  EXPECT_THAT(run_.captures(), ElementsAre("run.sqlite"));
  for (const char* name : {"cmd.txt", "run.sqlite", "summary_cuda_gpu_kern_sum.csv", "kernels.json",
                           "kernels.md", "ranges.json"}) {
    EXPECT_TRUE(std::filesystem::exists(file(name))) << name;
  }
}

TEST_F(NsysStageTest, ClassesKernelsByTheRulesOfTheUserFirst) {
  setup_.kernel_classes.rules = {{"mine", {"gemm"}, {}}};
  processes_.expect({"/opt/nsys", "profile"}).writes(file("run.nsys-rep"), "report");
  expect_export("run");
  ASSERT_TRUE(run_stage(run_));
  ASSERT_TRUE(stage_.summarise(context(), files(), run_));
  const auto text = read_file(file("kernels.json"));
  ASSERT_TRUE(text) << text.error().to_string();
  const auto table = from_document<NsysKernels>(*text, "kernels.json");
  ASSERT_TRUE(table) << table.error().to_string();
  std::set<std::string> classes;
  for (const KernelUse& kernel : table->kernels) {
    const bool is_gemm = kernel.name.find("gemm") != std::string::npos;
    EXPECT_EQ(kernel.kernel_class == "mine", is_gemm) << kernel.name;
    classes.insert(kernel.kernel_class);
  }
  EXPECT_THAT(classes, Contains("mine"));
}

TEST_F(NsysStageTest, CapturesEachRangeInAFolderOfItsOwn) {
  gate_on({"prefill", "A::A1", "A  A1"});
  const pipeline::StagePlan plan = stage_.plan(context());
  std::vector<std::string> names;
  for (const pipeline::PlannedCommand& command : plan.commands) names.push_back(command.name);
  EXPECT_THAT(names, ElementsAre("capture prefill", "export prefill", "kernel_summary prefill",
                                 "capture A__A1", "export A__A1", "kernel_summary A__A1",
                                 "capture A_A1", "export A_A1", "kernel_summary A_A1"));
  EXPECT_THAT(plan.artifacts, Contains("A__A1/run.nsys-rep"));
  EXPECT_THAT(plan.artifacts, Contains("A__A1/workload/log"));
  EXPECT_THAT(plan.limits, IsEmpty()) << "nobody limits a user's program";
  EXPECT_THAT(plan.notes, Contains("the workload runs 3 times, once for each range"));
}

TEST_F(NsysStageTest, OfABuiltInWorkloadRunsTheRequestsThatTheSamplingBounds) {
  setup_.settings.pipeline.workload.command.reset();
  const auto samples_passed = [&] {
    const std::vector<std::string> argv = stage_.plan(context()).commands[0].command.argv;
    const auto found = std::find(argv.begin(), argv.end(), "--samples");
    return found == argv.end() ? std::string("all") : *(found + 1);
  };
  EXPECT_EQ(samples_passed(), "1");
  EXPECT_THAT(stage_.plan(context()).limits,
              ElementsAre("the first request, because dataset.sampling.num_samples_per_epoch is "
                          "null (pipeline.nsys.samples=N takes the first N)"));
  settings::ImageFolder images;
  images.sampling.num_samples_per_epoch = 3;
  setup_.settings.dataset.images = images;
  EXPECT_EQ(samples_passed(), "all");
  EXPECT_THAT(stage_.plan(context()).limits, IsEmpty());
  EXPECT_THAT(stage_.plan(context()).notes,
              ElementsAre("all requests of the baseline are profiled, because "
                          "dataset.sampling.num_samples_per_epoch is 3; pipeline.nsys.samples=N "
                          "takes the first N"));
  own().samples = 2;
  EXPECT_EQ(samples_passed(), "2");
  EXPECT_THAT(stage_.plan(context()).limits,
              ElementsAre("the first 2 requests (pipeline.nsys.samples)"));
}

TEST_F(NsysStageTest, WarnsOfTheSamplingThatNsysDoesByItself) {
  tools_.nsys = nsys::Installation{"/opt/nsys", {2022, 4, 2}};
  own().sample.reset();
  const std::vector<Finding> findings = stage_.preflight(context());
  ASSERT_THAT(codes(findings), ElementsAre("sampling_hangs"));
  EXPECT_EQ(findings[0].text,
            "nsys 2022.4.2 can hang forever while it samples the CPU (its default when "
            "pipeline.nsys.sample is not set) on newer kernels");
  EXPECT_EQ(findings[0].fix, "set pipeline.nsys.sample=none, or set pipeline.nsys.timeout");
}

TEST_F(NsysStageTest, SumsUpEveryCaptureOfARangeThatRepeats) {
  gate_on({"decode"});
  own().capture_range_end = CaptureRangeEnd{CaptureRangeEnd::Action::Repeat, 2};
  processes_.expect({"/opt/nsys", "profile"})
      .writes(file("run.1.nsys-rep"), "report")
      .writes(file("run.2.nsys-rep"), "report")
      .prints(kGated);
  expect_export("run.1");
  expect_export("run.2");
  ASSERT_TRUE(run_stage(run_));
  EXPECT_THAT(run_.names(), ElementsAre("capture", "export run.1", "kernel_summary run.1",
                                        "export run.2", "kernel_summary run.2"));
  EXPECT_THAT(codes(stage_.verify(context(), files())), IsEmpty());
  ASSERT_TRUE(stage_.summarise(context(), files(), run_));
  const auto ranges = from_document<NsysRanges>(*read_file(file("ranges.json")), "ranges.json");
  ASSERT_TRUE(ranges) << ranges.error().to_string();
  ASSERT_EQ(ranges->captures.size(), 2U);
  EXPECT_EQ(ranges->captures[0].name, "run.1");
  EXPECT_EQ(ranges->captures[1].name, "run.2");
}

TEST_F(NsysStageTest, ReportsFewerCapturesThanWereAskedFor) {
  gate_on({"decode"});
  own().capture_range_end = CaptureRangeEnd{CaptureRangeEnd::Action::Repeat, 2};
  // nsys numbers reports only when there are several.
  processes_.expect({"/opt/nsys", "profile"}).writes(file("run.nsys-rep"), "r").prints(kGated);
  expect_export("run");
  ASSERT_TRUE(run_stage(run_));
  const std::vector<Finding> findings = stage_.verify(context(), files());
  ASSERT_THAT(codes(findings), ElementsAre("fewer_captures"));
  EXPECT_EQ(findings[0].text,
            "capture_range_end=repeat:2 asks for 2 captures, and 1 could be made: the range "
            "'decode' opened no more often");
}

TEST_F(NsysStageTest, IsTriedAgainUnderAnotherNameWhenNsysLeavesNothing) {
  struct Case {
    const char* says;
    const char* text;
  };
  constexpr Case kCases[] = {
      {"Connection to Agent lost.\n",
       "nsys lost the connection to its agent and left no report; trying again"},
      {"[tag_message*] = Local Endpoint is not available.\n",
       "nsys lost the connection to its agent and left no report; trying again"},
      {"Session name 'profline-run' is already in use.\n",
       "nsys has another session of that name, perhaps one that is just ending; trying again"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.says);
    RecordedStageRun run(processes_);
    processes_.expect({"/opt/nsys", "profile"}).prints(c.says).exits(1);
    processes_.expect({"/opt/nsys", "profile"}).writes(file("run.nsys-rep"), "report");
    expect_export("run");
    ASSERT_TRUE(run_stage(run));
    ASSERT_THAT(codes(run.findings()), ElementsAre("nsys_retry"));
    EXPECT_EQ(run.findings()[0].text, c.text);
    EXPECT_THAT(run.names(), ElementsAre("capture", "capture again", "export", "kernel_summary"));
    ASSERT_EQ(run.sessions().size(), 2U) << "both may have to be ended one day";
    EXPECT_EQ(run.sessions()[1], run.sessions()[0] + "-2");
    const std::size_t second = processes_.commands().size() - 3;  // export and stats follow
    EXPECT_THAT(processes_.commands()[second].argv, Contains("--session-new=" + run.sessions()[1]));
    std::filesystem::remove_all(folder_ / "nsys");
  }
}

TEST_F(NsysStageTest, RunsThePlanItWasGiven) {
  gate_on({"decode"});
  own().capture_range_end = CaptureRangeEnd{CaptureRangeEnd::Action::Repeat, 2};
  pipeline::StagePlan plan = stage_.plan(context());
  for (pipeline::PlannedCommand& planned : plan.commands) {
    planned.command.argv.emplace_back("--as-planned");
  }
  processes_.expect({"/opt/nsys", "profile"}).prints("Connection to Agent lost.\n").exits(1);
  processes_.expect({"/opt/nsys", "profile"})
      .writes(file("run.1.nsys-rep"), "report")
      .writes(file("run.2.nsys-rep"), "report");
  expect_export("run.1");
  expect_export("run.2");
  ASSERT_TRUE(stage_.run(context(), plan, run_));
  EXPECT_THAT(run_.names(),
              ElementsAre("capture", "capture again", "export run.1", "kernel_summary run.1",
                          "export run.2", "kernel_summary run.2"));
  for (const Command& command : processes_.commands()) {
    EXPECT_EQ(command.argv.back(), "--as-planned");
  }
  EXPECT_THAT(processes_.commands()[4].argv,
              ::testing::AllOf(Contains("--output=" + file("run.2.sqlite").string()),
                               Contains(file("run.2.nsys-rep").string())));
  EXPECT_THAT(processes_.commands()[5].argv, Contains(file("run.2.sqlite").string()));
  EXPECT_TRUE(std::filesystem::exists(file("summary.2_cuda_gpu_kern_sum.csv")));
}

TEST_F(NsysStageTest, ASummaryThatIsCutOffIsNoFindingAndLeavesNothing) {
  Exit cut;
  cut.why = Exit::Why::Cancelled;
  cut.signal = 2;
  processes_.expect({"/opt/nsys", "profile"}).writes(file("run.nsys-rep"), "report");
  processes_.expect({"/opt/nsys", "export"}).does([this](const Command&) {
    ASSERT_TRUE(testing::write_decode_loop(file("run.sqlite"), {.kernels = 120}));
  });
  processes_.expect({"/opt/nsys", "stats"}).prints("Time (%),Total Ti").ends(cut);
  const auto done = run_stage(run_);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind(), ErrorKind::Cancelled);
  EXPECT_THAT(run_.findings(), IsEmpty());
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "nsys")) {
    EXPECT_NE(entry.path().extension(), ".csv") << entry.path();
  }
}

TEST_F(NsysStageTest, ASummaryThatCrashesCostsOnlyItself) {
  processes_.expect({"/opt/nsys", "profile"}).writes(file("run.nsys-rep"), "report");
  processes_.expect({"/opt/nsys", "export"}).does([this](const Command&) {
    ASSERT_TRUE(testing::write_decode_loop(file("run.sqlite"), {.kernels = 120}));
  });
  processes_.expect({"/opt/nsys", "stats"}).prints("Time (%),Total Ti").dies_of(SIGSEGV);
  const auto done = run_stage(run_);
  ASSERT_TRUE(done) << done.error().to_string();
  ASSERT_THAT(codes(run_.findings()), ElementsAre("kernel_summary"));
  EXPECT_EQ(run_.findings()[0].severity, Severity::Warning);
  EXPECT_EQ(run_.findings()[0].text, "nsys stats gave no summary of kernels: killed by SIGSEGV");
}

TEST_F(NsysStageTest, IsTriedThreeTimesAndNoMore) {
  for (int i = 0; i < 3; ++i) {
    processes_.expect({"/opt/nsys", "profile"}).prints("Connection to Agent lost.\n").exits(1);
  }
  ASSERT_TRUE(run_stage(run_));
  EXPECT_THAT(codes(stage_.verify(context(), files())), Contains("agent_lost"));
}

TEST_F(NsysStageTest, ExplainsWhyThereIsNoReport) {
  struct Case {
    std::string_view log, code, text;
  };
  const Case cases[] = {
      {"Generated:\n", "range_never_opened",
       "the range 'decod' of pipeline.nsys.nvtx_capture never opened while the workload ran, so "
       "nothing was captured"},
      {"Importer error status: An unknown error occurred.\nGenerated:\n    /x/run.qdstrm\n",
       "importer_failed",
       "nsys captured, but its importer failed: Importer error status: An unknown error occurred."},
      {"Importer error status: Importation failed.\n  Type: ErrorText\n  Value: \"Failed to get "
       "number of the device CPUs.\"\nGenerated:\n    /x/run.qdstrm\n",
       "importer_failed",
       "nsys captured, but its importer failed: Failed to get number of the device CPUs."},
      {"Importer error status: The importer binary and its dependencies were not found.\n",
       "importer_missing",
       "nsys captured, but could not write its report: Importer error status: The importer binary "
       "and its dependencies were not found."},
      {"Failed to create '/r/run.nsys-rep': File exists.\nGenerated:\n    "
       "/tmp/nsys-report-1.nsys-rep\n",
       "output_exists",
       "nsys could not write its report: Failed to create '/r/run.nsys-rep': File exists. It left "
       "it at /tmp/nsys-report-1.nsys-rep"},
      {"unrecognised option '--x'\n\nusage: nsys profile [<args>]\n", "nsys_refused",
       "nsys rejected its options: unrecognised option '--x'"},
      {"Executable not found in current directory or standard search paths\n", "program_absent",
       "nsys did not find the program: Executable not found in current directory or standard "
       "search paths"},
      {"Connection to Agent lost.\n", "agent_lost",
       "nsys lost the connection to its agent and left no report"},
      {"", "no_report", "nsys left no report"},
  };
  gate_on({"decod"});
  ASSERT_TRUE(create_folders(file("workload")));
  for (const Case& c : cases) {
    SCOPED_TRACE(c.code);
    ASSERT_TRUE(write_file_atomic(file("workload/log"), c.log));
    const std::vector<Finding> findings = stage_.verify(context(), files());
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].severity, Severity::Problem);
    EXPECT_EQ(findings[0].code, c.code);
    EXPECT_EQ(findings[0].text, c.text);
  }
}

TEST_F(NsysStageTest, ReportsHowTheWorkloadEndedUnderIt) {
  struct Case {
    Exit exit;
    std::string code, text;
  };
  Exit killed;
  killed.signal = 9;
  Exit segv;
  segv.code = 139;
  Exit failed;
  failed.code = 7;
  const Case cases[] = {
      {killed, "tool_killed", "capture (nsys) killed by SIGKILL"},
      {segv, "application_killed",
       "the workload was killed by SIGSEGV under nsys (exit code 139); the end of the capture may "
       "be missing"},
      {failed, "application_failed", "the workload exited with code 7 under nsys"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.code);
    FakeProcesses processes;
    processes.expect({"/opt/nsys", "profile"}).ends(c.exit);
    RecordedStageRun run(processes);
    ASSERT_TRUE(run_stage(run));
    ASSERT_EQ(run.findings().size(), 1U);
    EXPECT_EQ(run.findings()[0].code, c.code);
    EXPECT_EQ(run.findings()[0].text, c.text);
    EXPECT_EQ(run.findings()[0].severity, Severity::Problem);
  }
}

TEST_F(NsysStageTest, KnowsTheEndThatNsysItselfBringsAbout) {
  gate_on({"prefill"});
  own().capture_range_end.reset();
  processes_.expect({"/opt/nsys", "profile"}).prints(kGated).exits(143);
  ASSERT_TRUE(run_stage(run_));
  ASSERT_THAT(codes(run_.findings()), ElementsAre("ended_after_range"));
  EXPECT_EQ(run_.findings()[0].severity, Severity::Note);
}

TEST_F(NsysStageTest, CapturesWithoutTheMetricsThatNsysRefuses) {
  struct Case {
    const char* says;
    const char* text;
    const char* fix;
  };
  constexpr Case kCases[] = {
      {"ERR_NVGPUCTRPERM: the user does not have permission to access GPU performance counters\n",
       "capture run has no samples of the GPU's metrics: the driver restricts counters to "
       "administrators",
       "run as root, or see profline doctor for the driver's setting"},
      {"Illegal --gpu-metrics-devices argument.\nNone of the installed GPUs are supported.\n",
       "capture run has no samples of the GPU's metrics: nsys gave none",
       "another profiler that reads counters (ncu, DCGM) must not run at the same time; its "
       "output: "},
  };
  own().gpu_metrics = true;
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.says);
    FakeProcesses processes;
    RecordedStageRun run(processes);
    processes.expect({"/opt/nsys", "profile"}).complains(c.says).exits(1);
    processes.expect({"/opt/nsys", "profile"}).writes(file("run.nsys-rep"), "report");
    processes.expect({"/opt/nsys", "export"}).does([this](const Command&) {
      ASSERT_TRUE(testing::write_decode_loop(file("run.sqlite"), {.kernels = 120}));
    });
    processes.expect({"/opt/nsys", "stats"})
        .prints("Time (%),Total Time (ns),Instances,Name\n100.0,10,1,gemm\n");
    ASSERT_TRUE(run_stage(run));
    EXPECT_THAT(run.names(), ElementsAre("capture", "capture again", "export", "kernel_summary"));
    const auto samples_metrics = Contains(::testing::StartsWith("--gpu-metrics-"));
    EXPECT_THAT(processes.commands()[0].argv, samples_metrics);
    EXPECT_THAT(processes.commands()[1].argv, ::testing::Not(samples_metrics));
    ASSERT_THAT(codes(run.findings()), ElementsAre("nsys_retry", "metrics_missing"));
    EXPECT_EQ(run.findings()[0].text,
              "nsys cannot sample the GPU's metrics here, and did not start; trying again");
    EXPECT_EQ(run.findings()[1].severity, Severity::Warning);
    EXPECT_EQ(run.findings()[1].text, c.text);
    EXPECT_THAT(run.findings()[1].fix, ::testing::StartsWith(c.fix));
    EXPECT_THAT(codes(stage_.verify(context(), files())), IsEmpty());
    std::filesystem::remove_all(folder_ / "nsys");
  }
}

TEST_F(NsysStageTest, ReportsThatNsysSampledNothing) {
  own().gpu_metrics = true;
  processes_.expect({"/opt/nsys", "profile"})
      .complains("Insufficient privilege, see https://developer.nvidia.com/ERR_NVGPUCTRPERM\n")
      .writes(file("run.nsys-rep"), "report");
  expect_export("run");
  ASSERT_TRUE(run_stage(run_));
  EXPECT_THAT(run_.names(), ElementsAre("capture", "export", "kernel_summary"));
  ASSERT_THAT(codes(run_.findings()), ElementsAre("metrics_missing"));
  EXPECT_EQ(run_.findings()[0].text,
            "capture run has no samples of the GPU's metrics: the driver restricts counters to "
            "administrators");
}

TEST_F(NsysStageTest, OnAGpuACaptureWithoutKernelsIsAProblem) {
  setup_.settings.device.kind = settings::Device::Kind::Cuda;
  setup_.settings.device.index = 0;
  processes_.expect({"/opt/nsys", "profile"}).writes(file("run.nsys-rep"), "report");
  processes_.expect({"/opt/nsys", "export"}).does([this](const Command&) {
    auto database = sqlite::Database::open_read_write(file("run.sqlite"), sqlite::Create::Yes);
    ASSERT_TRUE(database) << database.error().to_string();
    ASSERT_TRUE(
        database->execute("CREATE TABLE StringIds (id INTEGER, value TEXT);"
                          "CREATE TABLE OSRT_API (start); INSERT INTO OSRT_API VALUES (1)"));
  });
  ASSERT_TRUE(run_stage(run_));
  ASSERT_THAT(codes(run_.findings()), ElementsAre("no_kernels"));
  EXPECT_EQ(run_.findings()[0].severity, Severity::Problem);
  EXPECT_THAT(stage_.verify(context(), files()), IsEmpty());
}

TEST_F(NsysStageTest, BeforeAnythingRunsReportsWhatIsMissing) {
  setup_.settings.pipeline.workload.command.reset();
  tools_.workload = std::filesystem::path("/bin/true");
  setup_.settings.pipeline.workload.kind = settings::WorkloadKind::DummyShallowResnet;
  setup_.settings.subject = settings::dummy_shallow_resnet::Subject{};
  gate_on({"steem"});
  std::vector<Finding> findings = stage_.preflight(context());
  ASSERT_THAT(codes(findings), ElementsAre("range_unknown"));
  EXPECT_EQ(findings[0].text,
            "the built-in workload opens no range 'steem' (did you mean 'stem'?); it opens warmup, "
            "stem, residual, block.conv1, block.conv2, head");
  gate_on({"stem"});
  EXPECT_THAT(stage_.preflight(context()), IsEmpty());

  nsys::Installation old{"/opt/nsys", {2022, 4, 2}};
  old.importer = "/opt/QdstrmImporter";
  old.importer_lacks = {"libdw.so.1"};
  old.options = {"--capture-range", "--nvtx-capture"};
  tools_.nsys = old;
  own().capture_range_end = CaptureRangeEnd{};
  own().sample = settings::CpuSampling::ProcessTree;
  findings = stage_.preflight(context());
  EXPECT_THAT(codes(findings),
              ElementsAre("importer_lacks_libraries", "option_unknown", "sampling_hangs"));
  EXPECT_EQ(findings[0].text,
            "nsys 2022.4.2 captures, but its importer /opt/QdstrmImporter lacks libdw.so.1, so no "
            "report would be written");
  EXPECT_EQ(findings[1].text, "nsys 2022.4.2 does not have --capture-range-end");

  tools_.nsys = Result<nsys::Installation>(Error(ErrorKind::NotFound, "no program 'nsys' on PATH"));
  findings = stage_.preflight(context());
  ASSERT_THAT(codes(findings), ElementsAre("nsys_absent"));
  EXPECT_EQ(findings[0].kind, ErrorKind::NotFound);
  const pipeline::StagePlan plan = stage_.plan(context());
  EXPECT_THAT(plan.commands.front().command.argv.front(), "nsys");
  EXPECT_THAT(plan.commands.back().command.argv,
              ElementsAre("nsys", "stats", "--quiet", "--report", "cuda_gpu_kern_sum", "--format",
                          "csv", file("run.sqlite").string()));
}

}  // namespace
}  // namespace profline::stages
