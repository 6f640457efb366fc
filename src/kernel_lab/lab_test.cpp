// The flow of `profline kernels profile` with fake programs: what is run, kept, reported and
// written.

#include "kernel_lab/lab.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/digests.h"
#include "base/files.h"
#include "formats/yaml.h"
#include "kernel_lab/capture_command.h"
#include "kernel_lab/internal/capture.h"
#include "testing/captures/nsys_export.h"
#include "testing/fake_clock.h"
#include "testing/paths.h"
#include "testing/processes/fake_processes.h"
#include "testing/temp_dir.h"

namespace profline::kernel_lab {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kProfiled =
    "==PROF== Connected to process 7 (/bin/app)\n"
    "==PROF== Profiling \"gemm\" - 0: 0%....50%....100% - 9 passes\n"
    "==PROF== Disconnected from process 7\n";
constexpr const char* kNothing =
    "==PROF== Connected to process 7 (/bin/app)\n==WARNING== No kernels were profiled.\n";

std::string raw_table() {
  return read_file(testing::source_dir() / "tests/golden/ncu/2025.3-raw-kernels/input.csv").value();
}

/// A lab in a temporary folder, with fake programs.
class Lab : public ::testing::Test {
 protected:
  Lab() {
    request.kernels = {{"gemm", "gemm", "the first"}, {"copy", "copy", ""}};
    request.ncu = capture_settings({.roofline = false}, tools.ncu);
    request.ncu.ncu_cli.sections.reset();
    request.ncu.ncu_cli.set = "basic";
    request.count_by = CountBy::Nothing;
    request.folder = folder / "out";
    request.program.argv = {"/bin/app", "it's"};
    request.command.launch_command = request.program.argv;
    request.command.ncu_cli = request.ncu.ncu_cli;
    request.command.kernel_source = "yaml_config";
  }

  std::filesystem::path kernel(std::size_t rank) const {
    return request.folder / kernel_folder(rank, 2, request.kernels[rank - 1].name);
  }

  /// ncu captures the kernel of this rank, and its tables are made.
  void play_capture(testing::FakeProcesses& processes, std::size_t rank) const {
    processes.expect({"ncu", "--target-processes"})
        .writes(kernel(rank) / "ncu.log", kProfiled)
        .writes(kernel(rank) / "ncu.ncu-rep", "report");
    const std::string report = (kernel(rank) / "ncu.ncu-rep").string();
    processes.expect({"ncu", "--import", report, "--csv", "--print-units", "base", "--page", "raw"})
        .prints(raw_table());
    processes.expect({"ncu", "--import", report}).prints("details");
  }

  LabOutcome run(testing::FakeProcesses& processes) {
    auto outcome = run_lab(request, tools, {processes, progress, clock});
    EXPECT_TRUE(outcome) << outcome.error().to_string();
    return outcome ? *std::move(outcome) : LabOutcome();
  }

  testing::TempDir folder;
  testing::FakeClock clock;
  NullProgress progress;
  LabTools tools{.ncu = {"ncu", {2024, 1, 1}}};
  LabRequest request;
};

TEST_F(Lab, CapturesKernelAfterKernelAndKeepsWhatIsFinished) {
  {
    testing::FakeProcesses processes;
    play_capture(processes, 1);
    processes.expect({"ncu", "--target-processes"}).writes(kernel(2) / "ncu.log", kNothing);
    const LabOutcome outcome = run(processes);
    ASSERT_THAT(outcome.kernels, SizeIs(2));
    EXPECT_FALSE(outcome.is_complete());
    EXPECT_EQ(outcome.kernels[0].state, CaptureState::Ok);
    EXPECT_EQ(outcome.kernels[0].profiled, 6U);
    EXPECT_EQ(outcome.kernels[1].state, CaptureState::Failed);
    EXPECT_EQ(outcome.kernels[1].problem, "no kernel matched 'copy'");
    EXPECT_THAT(processes.commands().front().argv, Contains("it's"));
  }
  testing::FakeProcesses again;
  play_capture(again, 2);
  const LabOutcome outcome = run(again);
  EXPECT_TRUE(outcome.is_complete());
  ASSERT_THAT(outcome.kernels, SizeIs(2));
  EXPECT_EQ(outcome.kernels[0].name, "gemm");
  testing::FakeProcesses nothing_left;
  EXPECT_TRUE(run(nothing_left).is_complete());
}

TEST_F(Lab, WritesACommandFileThatReadsBack) {
  testing::FakeProcesses processes;
  play_capture(processes, 1);
  play_capture(processes, 2);
  request.command.kernel_regex = R"(^a::b<\(int\)5>'"$)";
  request.command.ncu_version = "2024.1.1";
  run(processes);
  const std::filesystem::path file = request.folder / "command.yaml";
  const auto text = read_file(file);
  ASSERT_TRUE(text);
  const auto back = parse_command_file(*text, "command.yaml");
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(back->kernel_regex, request.command.kernel_regex);
  EXPECT_THAT(back->launch_command, ElementsAre("/bin/app", "it's"));
  EXPECT_THAT(differences(*back, request.command), IsEmpty());
}

TEST_F(Lab, DoesNotMixTwoCommandsInOneFolder) {
  testing::FakeProcesses processes;
  play_capture(processes, 1);
  play_capture(processes, 2);
  run(processes);
  request.command.launch_command = {"/bin/app", "else"};
  testing::FakeProcesses none;
  const auto refused = run_lab(request, tools, {none, progress, clock});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(),
            request.folder.string() +
                " holds captures of another command (launch_command.1: \"it's\" -> else); name "
                "another --output-dir, or replace them with --force-overwrite");
  request.force_overwrite = true;
  testing::FakeProcesses again;
  play_capture(again, 1);
  play_capture(again, 2);
  EXPECT_TRUE(run(again).is_complete());
}

TEST_F(Lab, ChoosesAmongTheLaunchesOfACapture) {
  const std::filesystem::path sqlite = folder / "run.sqlite";
  ASSERT_TRUE(testing::write_decode_loop(sqlite, {.kernels = 240}));
  request.nsys_report = sqlite;
  request.launches.skip = 1'000'000;
  request.kernels = {{"first", ".", ""}, {"absent", "^no_such_kernel$", ""}};
  testing::FakeProcesses processes;
  play_capture(processes, 1);
  const LabOutcome outcome = run(processes);
  ASSERT_THAT(outcome.kernels, SizeIs(2));
  const CaptureRecord& all = outcome.kernels[0];
  EXPECT_EQ(all.launches, 240U);
  EXPECT_EQ(all.choice, "launch 240 of 240; a skip of 1000000 goes past the end");
  EXPECT_THAT(all.argv, Contains("239"));
  const CaptureRecord& absent = outcome.kernels[1];
  EXPECT_THAT(
      absent.problem,
      HasSubstr("no kernel matched '^no_such_kernel$': nsys 2025.3.2.0 saw 240 launches of "));
  EXPECT_THAT(absent.argv, IsEmpty()) << "ncu need not be asked";
}

TEST_F(Lab, SaysInWhichRangesItLookedAndHowToLookElsewhere) {
  request.ncu.ncu_cli.nvtx.include = schema::SemicolonList{{"no_such_range"}};
  request.kernels.resize(1);
  request.kernels[0].regex = ".";
  {
    testing::FakeProcesses processes;
    processes.expect({"ncu", "--target-processes"}).writes(kernel(1) / "ncu.log", kNothing);
    EXPECT_EQ(run(processes).kernels.at(0).problem,
              "no kernel matched '.' inside no_such_range; --nvtx-include RANGE looks in another "
              "range, --nvtx-include '' everywhere");
  }
  request.nsys_report = folder / "run.sqlite";
  ASSERT_TRUE(testing::write_decode_loop(request.nsys_report, {.kernels = 240}));
  testing::FakeProcesses nothing_runs;
  EXPECT_EQ(run(nothing_runs).kernels.at(0).problem,
            "'.' is launched 240 times, but never inside no_such_range; --nvtx-include RANGE looks "
            "in another range, --nvtx-include '' everywhere");
}

TEST_F(Lab, CountsWithNcuWhereThereIsNoNsys) {
  request.count_by = CountBy::Auto;
  request.kernels.resize(1);
  request.kernels[0].regex = "nvjet";
  testing::FakeProcesses processes;
  processes
      .expect({"ncu", "--target-processes", "all", "--replay-mode", "kernel", "--metrics",
               "gpu__time_duration.sum"})
      .writes(request.folder / "count/launches.csv", raw_table());
  play_capture(processes, 1);
  const LabOutcome outcome = run(processes);
  ASSERT_THAT(outcome.kernels, SizeIs(1));
  EXPECT_TRUE(outcome.is_complete()) << outcome.kernels[0].problem;
  EXPECT_GT(outcome.kernels[0].launches.value_or(0), 0U);
}

/// Everything takes 8 s.
class SlowClock final : public Clock {
 public:
  Steady now() const override { return now_ += std::chrono::seconds(8); }
  Wall wall_now() const override { return {}; }

 private:
  mutable Steady now_{};
};

TEST_F(Lab, StopsWhenTheBudgetIsUsedUp) {
  request.command.budget_s = 30;
  testing::FakeProcesses processes;
  play_capture(processes, 1);
  const SlowClock slow;
  const auto result = run_lab(request, tools, {processes, progress, slow});
  ASSERT_TRUE(result) << result.error().to_string();
  const LabOutcome& outcome = *result;
  ASSERT_THAT(outcome.kernels, SizeIs(2));
  EXPECT_EQ(outcome.kernels[0].state, CaptureState::Ok);
  EXPECT_EQ(outcome.kernels[1].state, CaptureState::LeftOut);
  EXPECT_EQ(outcome.kernels[1].problem, "no time left in the budget of 30 s");
  EXPECT_THAT(outcome.budget, HasSubstr("1 of 2 kernels captured in "));
  EXPECT_TRUE(outcome.is_complete());
}

TEST_F(Lab, RefusesABudgetThatOneRunExceeds) {
  request.nsys_report = folder / "run.sqlite";
  ASSERT_TRUE(testing::write_decode_loop(request.nsys_report, {.kernels = 240}));
  request.kernels = {{"first", ".", ""}};
  request.command.budget_s = 1;
  testing::FakeProcesses nothing_runs;
  const auto outcome = run_lab(request, tools, {nothing_runs, progress, clock});
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message(), HasSubstr("--budget-s 1 is too short: the program took "));
}

/// Two kernels of an nsys capture, in one run of ncu whose report has these tables for them.
class MergedLab : public Lab {
 protected:
  MergedLab() {
    request.nsys_report = folder / "run.sqlite";
    EXPECT_TRUE(testing::write_decode_loop(request.nsys_report, {.kernels = 240}));
    request.command.merge = true;
    request.kernels = {{"one", "kernel|gemm|a", ""}, {"two", ".", ""}};
  }

  void play_merged(testing::FakeProcesses& processes,
                   const std::vector<std::string>& tables) const {
    const std::string report = (request.folder / "merged/ncu.ncu-rep").string();
    processes.expect({"ncu", "--target-processes"})
        .writes(request.folder / "merged/ncu.log", kProfiled);
    for (const std::string& table : tables) {
      processes
          .expect({"ncu", "--import", report, "--csv", "--print-units", "base", "--page", "raw"})
          .prints(table);
      processes.expect({"ncu", "--import", report}).prints("details");
    }
  }
};

TEST_F(MergedLab, TakesOneRun) {
  testing::FakeProcesses processes;
  play_merged(processes, {raw_table(), raw_table()});
  const LabOutcome outcome = run(processes);
  EXPECT_TRUE(outcome.is_complete());
  EXPECT_EQ(outcome.kernels[1].merged_with, "merged/ncu.ncu-rep");
  EXPECT_THAT(processes.commands().front().argv, Contains("--launch-skip"));
}

// As on an H200: nsys and ncu disagree on how many launches came before.
TEST_F(MergedLab, ProfilesAloneWhatThatRunDidNotHave) {
  testing::FakeProcesses processes;
  play_merged(processes, {raw_table(), "==WARNING== nothing\n"});
  play_capture(processes, 2);
  const LabOutcome outcome = run(processes);
  ASSERT_THAT(outcome.kernels, SizeIs(2));
  EXPECT_TRUE(outcome.is_complete()) << outcome.kernels[1].problem;
  EXPECT_EQ(outcome.kernels[0].merged_with, "merged/ncu.ncu-rep");
  EXPECT_EQ(outcome.kernels[1].merged_with, std::nullopt);
  EXPECT_THAT(outcome.kernels[1].choice, HasSubstr("of median duration"));
}

TEST(KernelList, IsWhatKernelsTopWrites) {
  const auto read = [](const char* yaml, std::optional<std::size_t> at_most) {
    return read_kernel_list(parse_yaml(yaml, "k.yaml").value(), at_most);
  };
  const auto kernels = read(
      "kernels:\n- {name: a, regex: '^a\\.b$', description: d}\n"
      "- {name: b, regex: b}\n",
      1);
  ASSERT_TRUE(kernels) << kernels.error().to_string();
  EXPECT_THAT(*kernels, ElementsAre(WantedKernel{"a", R"(^a\.b$)", "d"}));
  struct Case {
    const char* yaml;
    std::string_view message;
  };
  constexpr Case kCases[] = {
      {"kernels: []\n", "k.yaml:1:1: 'kernels' is empty: there is nothing to profile"},
      {"kernels:\n- {name: a}\n", "k.yaml:2:3: kernels.0: missing key 'regex' (a string)"},
      {"kernels:\n- {name: a, regex: ''}\n",
       "k.yaml:2:3: kernels.0: an empty regex would match every kernel"},
  };
  for (const Case& c : kCases) {
    const auto wrong = read(c.yaml, {});
    ASSERT_FALSE(wrong) << c.yaml;
    EXPECT_EQ(wrong.error().to_string(), c.message);
  }
}

TEST(KernelList, NamesFoldersAsThePredecessorDid) {
  EXPECT_EQ(kernel_folder(3, 20, "abc"), "kernel_0003_900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(kernel_folder(3, 12345, ""), "kernel_00003_d41d8cd98f00b204e9800998ecf8427e");
}

TEST(Explanation, FollowsFromWhatNcuSaid) {
  Exit ok;
  ok.code = 0;
  Exit failed;
  failed.code = 1;
  const auto why = [](const char* log, const Exit& exit) {
    return why_failed(ncu::read_messages(log), exit, "gemm", "");
  };
  EXPECT_EQ(why(kProfiled, ok), "");
  EXPECT_EQ(why(kNothing, ok), "no kernel matched 'gemm'");
  EXPECT_EQ(why("==WARNING== No kernels were profiled.\n", ok), "the program made no use of CUDA");
  EXPECT_EQ(why("==ERROR== The application returned an error code (3).\n"
                "==WARNING== No kernels were profiled.\n",
                failed),
            "the program failed with code 3 before a kernel matched 'gemm'");
  EXPECT_EQ(why("==ERROR== ERR_NVGPUCTRPERM - no\n", failed),
            "the driver restricts GPU performance counters to administrators (ERR_NVGPUCTRPERM); "
            "see 'profline doctor' for how to enable them");
  EXPECT_EQ(why("==ERROR== Something new\n", failed), "ncu exited with code 1: Something new");
}

TEST(FreshFolder, DoesNotExistYet) {
  const testing::TempDir folder;
  const testing::FakeClock clock;
  const std::filesystem::path first = fresh_folder(clock, folder.path());
  EXPECT_EQ(first.parent_path(), folder / "tmp/ncu-profile");
  EXPECT_EQ(first.filename().string().size(), std::string("20261115-102030").size());
  ASSERT_TRUE(create_folders(first));
  EXPECT_EQ(fresh_folder(clock, folder.path()), std::filesystem::path(first.string() + "-2"));
}

TEST(FindNcu, NeedsTheProgramAndAGpu) {
  testing::FakeProcesses processes;
  const Result<gpu::Driver> no_gpu = Error(ErrorKind::NotFound, "there is no driver");
  const auto missing = find_ncu(processes, "/no/such/ncu", no_gpu);
  ASSERT_FALSE(missing);
  EXPECT_EQ(
      missing.error().to_string(),
      "'kernels profile' needs ncu, and cannot run '/no/such/ncu': no such file; install Nsight "
      "Compute, or name it with --ncu PROGRAM");
  EXPECT_EQ(find_ncu(processes, "/bin/sh", no_gpu).error().to_string(),
            "ncu needs a GPU: there is no driver");
}

}  // namespace
}  // namespace profline::kernel_lab
