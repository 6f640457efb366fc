#include "stages/ncu/ncu_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "process/runner.h"
#include "records/ncu_tables.h"
#include "testing/paths.h"
#include "testing/pipeline/recorded_stage_run.h"
#include "testing/processes/fake_processes.h"
#include "testing/temp_dir.h"

namespace profline::stages {
namespace {

using pipeline::Finding;
using pipeline::Severity;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::FakeProcesses;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::RecordedStageRun;

constexpr const char* kNothing = "==WARNING== No kernels were profiled.\n";
constexpr const char* kConnected = "==PROF== Connected to process 937 (/usr/bin/app)\n";

/// A run of a user's program, whose workload needs nothing.
class NcuStageTest : public ::testing::Test {
 protected:
  NcuStageTest() {
    setup_.id = "run";
    setup_.folder = folder_.path();
    setup_.cwd = folder_.path();
    setup_.config = Node::map({});
    setup_.settings.pipeline.workload.command = {"/bin/true"};
    tools_.ncu = ncu::Installation{"/opt/ncu", {2024, 1, 1}};
    tools_.driver = gpu::Driver{};
    own().ncu_cli.target_processes = settings::TargetProcesses::All;
    EXPECT_TRUE(create_folders(folder_ / "ncu"));  // as the executor does
  }

  settings::Ncu& own() { return setup_.settings.pipeline.ncu; }
  void gate_on(std::vector<std::string> ranges) {
    own().ncu_cli.nvtx.include = schema::SemicolonList{std::move(ranges)};
  }
  pipeline::StageContext context() { return {setup_, tools_}; }
  run::Run files() { return run::Run::with_record(setup_.folder, {}); }
  Result<void> run_stage(pipeline::StageRun& run) {
    return stage_.run(context(), stage_.plan(context()), run);
  }
  std::filesystem::path file(const std::string& name) { return folder_ / ("ncu/" + name); }

  void expect_sections() {
    processes_.expect({"/opt/ncu", "--list-sections"}).prints("SpeedOfLight\n");
  }
  testing::Play& expect_capture() { return processes_.expect({"/opt/ncu", "--target-processes"}); }
  void expect_imports() {
    const auto golden = testing::source_dir() / "tests/golden/ncu/2025.3-raw-kernels/input.csv";
    processes_
        .expect({"/opt/ncu", "--import", file("run.ncu-rep").string(), "--page", "raw", "--csv"})
        .prints(read_file(golden).value());
    processes_.expect({"/opt/ncu", "--import", file("run.ncu-rep").string(), "--page", "details"})
        .prints("details\n");
  }

  static std::vector<std::string> codes(const std::vector<Finding>& findings) {
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
  NcuStage stage_;
};

TEST_F(NcuStageTest, RunsThePlanItWasGiven) {
  expect_sections();
  expect_capture().writes(file("run.ncu-rep"), "report").writes(file("ncu.log"), kConnected);
  expect_imports();
  pipeline::StagePlan plan = stage_.plan(context());
  for (pipeline::PlannedCommand& planned : plan.commands) {
    planned.command.argv.emplace_back("--as-planned");
  }
  ASSERT_TRUE(stage_.run(context(), plan, run_));
  EXPECT_EQ(processes_.commands().size(), 4U);
  for (const Command& command : processes_.commands()) {
    EXPECT_EQ(command.argv.back(), "--as-planned");
  }
}

TEST_F(NcuStageTest, CapturesImportsAndSumsUp) {
  expect_sections();
  expect_capture().writes(file("run.ncu-rep"), "report").writes(file("ncu.log"), kConnected);
  expect_imports();
  ASSERT_TRUE(run_stage(run_));
  EXPECT_THAT(run_.names(), ElementsAre("list_sections", "capture", "raw_csv", "sections_report"));
  EXPECT_THAT(run_.findings(), IsEmpty());
  EXPECT_THAT(stage_.verify(context(), files()), IsEmpty());
  const auto summed = stage_.summarise(context(), files(), run_);
  ASSERT_TRUE(summed) << summed.error().to_string();
  for (const char* name : {"cmd.txt", "sections.txt", "raw.csv", "sections_report.txt",
                           "kernels.json", "kernels.md"}) {
    EXPECT_TRUE(std::filesystem::exists(file(name))) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(file("cmd-rerun.txt")));
  const auto table = from_document<NcuKernels>(*read_file(file("kernels.json")), "kernels.json");
  ASSERT_TRUE(table) << table.error().to_string();
  EXPECT_FALSE(table->gate_dropped);
  EXPECT_FALSE(table->kernels.empty());
}

TEST_F(NcuStageTest, LeavesNoCsvWhenThatIsNotWanted) {
  own().ncu_cli.export_files.csv = false;
  expect_sections();
  expect_capture().writes(file("run.ncu-rep"), "report");
  expect_imports();
  ASSERT_TRUE(run_stage(run_));
  ASSERT_TRUE(stage_.summarise(context(), files(), run_));
  EXPECT_TRUE(std::filesystem::exists(file("kernels.json")));
  EXPECT_FALSE(std::filesystem::exists(file("raw.csv")));
  EXPECT_FALSE(std::filesystem::exists(file(".raw.csv")));
  const pipeline::StagePlan plan = stage_.plan(context());
  EXPECT_THAT(plan.artifacts, Not(Contains("raw.csv")));
  EXPECT_EQ(plan.command("raw_csv").condition, "if there is a report; read, then deleted");
  EXPECT_THAT(run_.names(), ElementsAre("list_sections", "capture", "raw_csv", "sections_report"));
}

TEST_F(NcuStageTest, AnImportThatIsCutOffIsNoFindingAndLeavesNothing) {
  Exit cut;
  cut.why = Exit::Why::Cancelled;
  cut.signal = 2;
  for (const bool keeps_csv : {true, false}) {
    SCOPED_TRACE(keeps_csv);
    own().ncu_cli.export_files.csv = keeps_csv;
    RecordedStageRun run(processes_);
    expect_sections();
    expect_capture().writes(file("run.ncu-rep"), "report");
    processes_.expect({"/opt/ncu", "--import"}).prints("\"ID\",\"Ker").ends(cut);
    const auto done = run_stage(run);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind(), ErrorKind::Cancelled);
    EXPECT_THAT(run.findings(), IsEmpty());
    for (const char* name : {"raw.csv", ".raw.csv", "kernels.json"}) {
      EXPECT_FALSE(std::filesystem::exists(file(name))) << name;
    }
  }
}

TEST_F(NcuStageTest, ATableThatIsNotKeptGoesEvenIfTheCaptureHasAProblem) {
  own().ncu_cli.export_files.csv = false;
  expect_sections();
  expect_capture()
      .writes(file("run.ncu-rep"), "report")
      .writes(file("ncu.log"),
              std::string(kConnected) + "==ERROR== The application returned an error code (5).\n")
      .exits(5);
  expect_imports();
  ASSERT_TRUE(run_stage(run_));
  EXPECT_THAT(codes(run_.findings()), ElementsAre("application_failed"));
  EXPECT_TRUE(std::filesystem::exists(file("run.ncu-rep")));
  EXPECT_FALSE(std::filesystem::exists(file("raw.csv")));
}

TEST_F(NcuStageTest, IsTriedAgainWithoutTheGateThatLetNothingThrough) {
  gate_on({"decode*"});
  expect_sections();
  expect_capture().writes(file("ncu.log"), std::string(kConnected) + kNothing);
  expect_capture().writes(file("run.ncu-rep"), "report").writes(file("ncu-rerun.log"), kConnected);
  expect_imports();
  ASSERT_TRUE(run_stage(run_));
  EXPECT_THAT(run_.names(),
              ElementsAre("list_sections", "capture", "rerun", "raw_csv", "sections_report"));
  ASSERT_THAT(codes(run_.findings()), ElementsAre("nothing_profiled"));
  EXPECT_EQ(run_.findings()[0].severity, Severity::Warning);
  EXPECT_EQ(run_.findings()[0].text,
            "no kernels were profiled: none was launched in the ranges regex:decode.*/: they never "
            "opened, or nothing is launched in them");
  const std::vector<std::string>& again = processes_.commands()[2].argv;
  EXPECT_THAT(again, Not(Contains("--nvtx-include")));
  EXPECT_THAT(again, Contains("200"));
  EXPECT_TRUE(std::filesystem::exists(file("cmd-rerun.txt")));
  EXPECT_EQ(run_.findings()[0].fix,
            "ncu runs once more without the ranges and profiles the first 200 launches from the "
            "program's start, loading and warm-up included (pipeline.ncu.rerun_launch_count)");
  const std::vector<Finding> dropped = stage_.verify(context(), files());
  ASSERT_THAT(codes(dropped), ElementsAre("gate_dropped"));
  EXPECT_EQ(dropped[0].text,
            "nothing was launched inside decode*, so the kernels are the first 200 launches from "
            "the program's start, loading and warm-up included (pipeline.ncu.rerun_launch_count)");
  ASSERT_TRUE(stage_.summarise(context(), files(), run_));
  const auto table = from_document<NcuKernels>(*read_file(file("kernels.json")), "kernels.json");
  ASSERT_TRUE(table);
  EXPECT_TRUE(table->gate_dropped);
  EXPECT_THAT(
      table->notes,
      Contains("the capture covers the first 200 launches from the program's start, loading "
               "and warm-up included (pipeline.ncu.rerun_launch_count)"));
}

TEST_F(NcuStageTest, WithoutAGateExplainsAndStops) {
  own().ncu_cli.kernel_name = "regex:nosuch";
  expect_sections();
  expect_capture().writes(file("ncu.log"), std::string(kConnected) + kNothing);
  ASSERT_TRUE(run_stage(run_));
  EXPECT_THAT(run_.findings(), IsEmpty());
  const std::vector<Finding> findings = stage_.verify(context(), files());
  ASSERT_THAT(codes(findings), ElementsAre("nothing_profiled"));
  EXPECT_EQ(findings[0].text, "no kernels were profiled: no kernel's name matched regex:nosuch");
}

TEST_F(NcuStageTest, ExplainsWhyThereIsNoReport) {
  struct Case {
    std::string_view log, code, text;
  };
  const Case cases[] = {
      {"==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n", "counters_denied",
       "the driver restricts performance counters to administrators (ERR_NVGPUCTRPERM)"},
      {"==ERROR== Nsight Compute failed to connect to the CUDA driver (stub libcuda.so[.1] on "
       "path?).\n==WARNING== No kernels were profiled.\n",
       "libcuda_absent", "ncu could not reach the CUDA driver and ended the workload"},
      {"==WARNING== No ranges were profiled.\n", "nothing_profiled",
       "no ranges were profiled: the workload never used CUDA"},
      {"==ERROR== Unable to write to file run.ncu-rep.\n", "output_unwritable",
       "ncu could not write its report: Unable to write to file run.ncu-rep."},
      {"==ERROR== Option '--section NoSuch' did not match any section.\n", "no_report",
       "ncu left no report: Option '--section NoSuch' did not match any section."},
      {"", "no_report", "ncu left no report"},
  };
  ASSERT_TRUE(create_folders(file("workload")));
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    ASSERT_TRUE(write_file_atomic(file("ncu.log"), c.log));
    const std::vector<Finding> findings = stage_.verify(context(), files());
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].severity, Severity::Problem);
    EXPECT_EQ(findings[0].code, c.code);
    EXPECT_EQ(findings[0].text, c.text);
  }
}

TEST_F(NcuStageTest, ReportsHowTheWorkloadEndedUnderIt) {
  gate_on({"decode"});
  expect_sections();
  expect_capture()
      .writes(file("ncu.log"), std::string("==ERROR== The application returned an error code "
                                           "(5).\n") +
                                   kNothing)
      .exits(5);
  ASSERT_TRUE(run_stage(run_));
  ASSERT_THAT(codes(run_.findings()), ElementsAre("application_failed"))
      << "and nobody runs a program again that failed";
  FakeProcesses killed;
  killed.expect({"/opt/ncu", "--list-sections"});
  killed.expect({"/opt/ncu", "--target-processes"}).dies_of(9);
  RecordedStageRun run(killed);
  std::filesystem::remove_all(folder_ / "ncu");
  ASSERT_TRUE(create_folders(folder_ / "ncu"));
  ASSERT_TRUE(run_stage(run));
  EXPECT_THAT(codes(run.findings()), Contains("tool_killed"));
}

TEST_F(NcuStageTest, KnowsTheEndThatNcuItselfBringsAbout) {
  own().ncu_cli.launch_count = 3;
  own().ncu_cli.kill = true;
  expect_sections();
  expect_capture()
      .writes(file("run.ncu-rep"), "report")
      .writes(file("ncu.log"), "==ERROR== The application returned an error code (9).\n")
      .exits(9);
  expect_imports();
  ASSERT_TRUE(run_stage(run_));
  ASSERT_THAT(codes(run_.findings()), ElementsAre("ended_after_launches"));
  EXPECT_EQ(run_.findings()[0].severity, Severity::Note);
}

TEST_F(NcuStageTest, BeforeAnythingRunsReportsWhatIsMissing) {
  tools_.driver = Result<gpu::Driver>(
      Error(ErrorKind::NotFound, "no NVIDIA driver: libcuda.so.1").with_reason(gpu::kNoLibrary));
  own().require_gpu = false;
  std::vector<Finding> findings = stage_.preflight(context());
  ASSERT_THAT(codes(findings), ElementsAre("libcuda_absent"));
  EXPECT_EQ(findings[0].kind, ErrorKind::NotFound);

  tools_.driver = Result<gpu::Driver>(Error(ErrorKind::NotFound, "the NVIDIA driver sees no GPU"));
  EXPECT_THAT(stage_.preflight(context()), IsEmpty()) << "require_gpu is off";
  own().require_gpu = true;
  EXPECT_THAT(codes(stage_.preflight(context())), ElementsAre("gpu_absent"));

  tools_.driver = gpu::Driver{};
  ncu::Installation known{"/opt/ncu", {2022, 3, 0}};
  known.metrics = {"gpu__time_duration"};
  known.sections = {"SpeedOfLight"};
  known.sets = {"basic", "roofline"};
  known.options = {"--kill"};
  tools_.ncu = known;
  own().ncu_cli.metrics = schema::CommaList{{"gpu__time_duration.sum", "no__such.sum"}};
  own().ncu_cli.sections = schema::CommaList{{"SpeedOfLight", "WorkloadDistribution"}};
  own().ncu_cli.set = "rooflin";
  own().ncu_cli.graph_profiling = settings::GraphProfiling::Node;
  findings = stage_.preflight(context());
  ASSERT_THAT(codes(findings),
              ElementsAre("metrics_unknown", "sections_unknown", "set_unknown", "option_unknown"));
  EXPECT_EQ(findings[0].severity, Severity::Warning);
  EXPECT_EQ(findings[0].text,
            "ncu 2022.3.0 does not know these metrics, which are left out: no__such.sum");
  EXPECT_EQ(findings[2].text, "ncu 2022.3.0 has no set 'rooflin' (did you mean 'roofline'?)");
  EXPECT_EQ(findings[2].kind, ErrorKind::Config);

  own().ncu_cli.metrics = schema::CommaList{{"no__such.sum"}};
  findings = stage_.preflight(context());
  EXPECT_EQ(findings[0].severity, Severity::Problem) << "none is known";
}

TEST_F(NcuStageTest, PlansTranslationsAndBounds) {
  own().max_launches = 2000;
  own().ncu_cli.metrics = schema::CommaList{{"flop_count_sp"}};
  gate_on({"decode*", "A::A1"});
  own().ncu_cli.replay_mode = settings::ReplayMode::Range;
  const pipeline::StagePlan plan = stage_.plan(context());
  EXPECT_THAT(plan.notes, Contains("nvtx.include decode* is passed as regex:decode.*/"));
  EXPECT_THAT(plan.notes, Contains("nvtx.include A::A1 is passed as A/*/A1"));
  EXPECT_THAT(plan.notes, Contains("smsp__inst_executed.sum is always collected with range replay, "
                                   "to check that nested ranges add up"));
  EXPECT_THAT(plan.artifacts, Contains("regions/report.json"));
  EXPECT_THAT(
      plan.limits,
      ElementsAre("the first 2000 ranges inside decode*, A::A1 (pipeline.ncu.max_launches)"));
  std::vector<std::string> names;
  for (const pipeline::PlannedCommand& command : plan.commands) names.push_back(command.name);
  EXPECT_THAT(names,
              ElementsAre("list_sections", "capture", "rerun", "raw_csv", "sections_report"));
  EXPECT_EQ(plan.commands[2].condition, "if nothing is launched inside decode*, A::A1");
}

TEST_F(NcuStageTest, PlansWhichLaunchesTheBoundCovers) {
  own().ncu_cli.set = "roofline";
  EXPECT_THAT(stage_.plan(context()).limits, IsEmpty());
  EXPECT_THAT(stage_.plan(context()).notes,
              ElementsAre("every launch of the program is profiled, because "
                          "pipeline.ncu.max_launches is null"));
  own().max_launches = 2000;
  EXPECT_THAT(stage_.plan(context()).limits,
              ElementsAre("the first 2000 launches from the program's start, loading and warm-up "
                          "included (pipeline.ncu.max_launches)"));
  gate_on({"decode"});
  const pipeline::StagePlan gated = stage_.plan(context());
  EXPECT_THAT(gated.limits,
              ElementsAre("the first 2000 launches inside decode (pipeline.ncu.max_launches)"));
  EXPECT_THAT(gated.notes,
              Contains("if your program launches nothing inside decode, the rerun profiles the "
                       "first 200 launches from the program's start, loading and warm-up included "
                       "(pipeline.ncu.rerun_launch_count); "
                       "pipeline.ncu.ncu_cli.nvtx.include=RANGE names a range of your program"));
  own().ncu_cli.kernel_name = "regex:gemm";
  own().ncu_cli.launch_skip = 10;
  own().ncu_cli.launch_count = 1;
  EXPECT_THAT(stage_.plan(context()).limits,
              ElementsAre("the first launch after 10 skipped of regex:gemm inside decode "
                          "(pipeline.ncu.ncu_cli.launch_count)"));
}

TEST_F(NcuStageTest, WithABudgetTheBoundIsOnTheLaunchesThatAreChosen) {
  own().max_launches = 2000;
  own().budget_s = 120;
  gate_on({"decode"});
  EXPECT_THAT(stage_.plan(context()).limits,
              ElementsAre("at most 2000 launches (pipeline.ncu.max_launches)"));
  own().ncu_cli.launch_skip = 10;
  EXPECT_THAT(stage_.plan(context()).limits,
              ElementsAre("the first 2000 launches after 10 skipped inside decode "
                          "(pipeline.ncu.max_launches)"))
      << "the settings choose";
}

TEST_F(NcuStageTest, SaysWhichLaunchesWereCapturedWhenTheBoundWasReached) {
  own().max_launches = 2;
  expect_sections();
  expect_capture().writes(file("run.ncu-rep"), "report").writes(file("ncu.log"), kConnected);
  expect_imports();
  ASSERT_TRUE(run_stage(run_));
  ASSERT_TRUE(stage_.summarise(context(), files(), run_));
  ASSERT_THAT(codes(run_.findings()), ElementsAre("bound_reached"));
  const Finding& finding = run_.findings()[0];
  EXPECT_EQ(finding.severity, Severity::Warning);
  EXPECT_EQ(finding.text,
            "the capture covers the first 2 launches from the program's start, loading and warm-up "
            "included (pipeline.ncu.max_launches); later ones were not profiled");
  EXPECT_EQ(finding.fix, "pipeline.ncu.ncu_cli.nvtx.include=RANGE profiles the part that matters");
  const auto table = from_document<NcuKernels>(*read_file(file("kernels.json")), "kernels.json");
  ASSERT_TRUE(table) << table.error().to_string();
  EXPECT_THAT(table->notes, Contains(finding.text));
}

TEST_F(NcuStageTest, OfABuiltInWorkloadRunsTheRequestsThatTheSamplingBounds) {
  setup_.settings.pipeline.workload.command.reset();
  own().max_launches = 2000;
  own().ncu_cli.set = "roofline";
  gate_on({"decode"});
  EXPECT_THAT(stage_.plan(context()).limits,
              ElementsAre("the first request, because dataset.sampling.num_samples_per_epoch is "
                          "null (pipeline.ncu.samples=N takes the first N)",
                          "the first 2000 launches inside decode (pipeline.ncu.max_launches)"));
  settings::ImageFolder images;
  images.sampling.num_samples_per_epoch = 3;
  setup_.settings.dataset.images = images;
  const pipeline::StagePlan plan = stage_.plan(context());
  EXPECT_THAT(plan.notes, Contains("all requests of the baseline are profiled, because "
                                   "dataset.sampling.num_samples_per_epoch is 3; "
                                   "pipeline.ncu.samples=N takes the first N"));
  EXPECT_THAT(plan.commands[1].command.argv, Not(Contains("--samples")));
}

TEST_F(NcuStageTest, ReplaysRangesInsideOfOthersInARunOfTheirOwn) {
  gate_on({"stem", "A", "A::A1"});
  own().ncu_cli.replay_mode = settings::ReplayMode::Range;
  expect_sections();
  expect_capture().writes(file("run.ncu-rep"), "report").writes(file("ncu.log"), kConnected);
  expect_capture()
      .writes(file("run-nested1.ncu-rep"), "report")
      .writes(file("ncu-nested1.log"), kConnected);
  expect_imports();
  const std::string nested = file("run-nested1.ncu-rep").string();
  processes_.expect({"/opt/ncu", "--import", nested, "--page", "raw", "--csv"}).prints("\n");
  processes_.expect({"/opt/ncu", "--import", nested, "--page", "details"}).prints("\n");
  ASSERT_TRUE(run_stage(run_));
  EXPECT_THAT(run_.names(),
              ElementsAre("list_sections", "capture", "capture-nested1", "raw_csv",
                          "sections_report", "raw_csv-nested1", "sections_report-nested1"));
  const std::vector<std::string>& outer = processes_.commands()[1].argv;
  const std::vector<std::string>& inner = processes_.commands()[2].argv;
  EXPECT_THAT(outer, ::testing::IsSupersetOf({"stem/", "A/"}));
  EXPECT_THAT(outer, Not(Contains("A/*/A1")));
  EXPECT_THAT(inner, Contains("A/*/A1"));
  EXPECT_THAT(inner, Not(Contains("A/")));
  for (const char* name : {"cmd-nested1.txt", "raw-nested1.csv", "sections_report-nested1.txt"}) {
    EXPECT_TRUE(std::filesystem::exists(file(name))) << name;
  }
}

/// Runs everything except the capture, whose report already exists.
class WithAReport final : public ProcessRunner {
 public:
  explicit WithAReport(std::filesystem::path report) : report_(std::move(report)) {}

 private:
  Result<Exit> run_checked(const Command& command, RunObserver* /*observer*/) override {
    const std::vector<std::string>& argv = command.argv;
    const auto output = std::find(argv.begin(), argv.end(), "-o");
    if (output == argv.end()) return runner_.run(command);
    std::filesystem::copy_file(report_, *(output + 1) + ".ncu-rep");
    Exit exit;
    exit.code = 0;
    return exit;
  }

  std::filesystem::path report_;
  Interrupt interrupt_;
  PosixRunner runner_{interrupt_};
};

TEST_F(NcuStageTest, ImportsARealReportWithARealNcu) {
  const auto tools = testing::source_dir() / "build/tools/nsight-trixie";
  const auto report =
      tools / "usr/share/doc/nsight-compute/examples/instructionMix/sobelFloat.ncu-rep";
  if (!std::filesystem::exists(report)) {
    GTEST_SKIP() << report << " is not here (scripts/fetch_nsight pair gets it)";
  }
  tools_.ncu = ncu::Installation{tools / "bin/ncu", {2024, 1, 1}};
  WithAReport processes(report);
  RecordedStageRun run(processes);
  const auto ran = run_stage(run);
  ASSERT_TRUE(ran) << ran.error().to_string();
  EXPECT_THAT(run.findings(), IsEmpty());
  EXPECT_THAT(stage_.verify(context(), files()), IsEmpty());
  const auto summed = stage_.summarise(context(), files(), run);
  ASSERT_TRUE(summed) << summed.error().to_string();
  const auto table = from_document<NcuKernels>(*read_file(file("kernels.json")), "kernels.json");
  ASSERT_TRUE(table) << table.error().to_string();
  ASSERT_EQ(table->kernels.size(), 1U);
  EXPECT_EQ(table->kernels[0].printed_name, "void Sobel<float>(uchar4 *, uchar4 *, int, int)");
  EXPECT_EQ(table->kernels[0].duration_ns, 31872.0);
  EXPECT_THAT(table->kernels[0].grid, ElementsAre(64, 64, 1));
  EXPECT_THAT(table->kernels[0].block, ElementsAre(16, 16, 1));
  EXPECT_THAT(*read_file(file("sections_report.txt")), ::testing::HasSubstr("Sobel"));
}

}  // namespace
}  // namespace profline::stages
