#include "tools/nsys/probe.h"

#include <exception>
#include <fstream>

#include <gtest/gtest.h>

#include "testing/processes/fake_processes.h"
#include "testing/temp_dir.h"

namespace profline::nsys {
namespace {

using Paths = std::vector<std::filesystem::path>;

TEST(NsysMessages, OfAGatedCapture) {
  const Messages messages = read_messages(
      "profiled        started\n"
      "Capture range started in the application.\n"
      "Capture range ended in the application.\n"
      "Generating '/tmp/nsys-report-2137.qdstrm'\n"
      "\r[1/1] [0%                          ] run.nsys-rep\r[1/1] [===100%] run.nsys-rep\n"
      "profiled        ok        1.7 s\n"
      "Generated:\n"
      "    /runs/1/nsys/run.1.nsys-rep\n"
      "    /runs/1/nsys/run.2.nsys-rep\n");
  EXPECT_EQ(messages.ranges_started, 1U);
  EXPECT_EQ(messages.ranges_ended, 1U);
  EXPECT_TRUE(messages.finished);
  EXPECT_EQ(messages.generated,
            (Paths{"/runs/1/nsys/run.1.nsys-rep", "/runs/1/nsys/run.2.nsys-rep"}));
  EXPECT_EQ(messages.importer_problem, "");
  EXPECT_FALSE(messages.agent_lost);
}

TEST(NsysMessages, OfARangeThatNeverOpenedAreNone) {
  const Messages messages = read_messages("profiled  ok  0.1 s\nGenerated:\n");
  EXPECT_EQ(messages.ranges_started, 0U);
  EXPECT_TRUE(messages.finished);
  EXPECT_EQ(messages.generated, Paths());
}

TEST(NsysMessages, OfAFailedImportHoldWhatTheImporterSaid) {
  // nsys 2023.4.4 where /sys is not mounted; shortened.
  const Messages messages = read_messages(R"(Importer error status: Importation failed.
Import Failed with unexpected exception: main.cpp(34): Throw in function {anonymous}::Importer
std::exception::what: RuntimeException
[QuadDCommon::tag_message*] = Status: AnalysisFailed
Error {
  Type: RuntimeError
  SubError {
    Props {
      Items {
        Type: OriginalLine
        Value: "438"
      }
      Items {
        Type: ErrorText
        Value: "Failed to get number of the device CPUs."
      }
    }
  }
}
Generated:
    /runs/a.qdstrm
)");
  EXPECT_EQ(messages.importer_problem, "Importer error status: Importation failed.");
  EXPECT_EQ(messages.importer_reason, "Failed to get number of the device CPUs.");
  EXPECT_FALSE(importer_was_not_found(messages));
  EXPECT_TRUE(importer_was_not_found(read_messages(
      "Importer error status: The importer binary and its dependencies were not found.\n")));
}

TEST(NsysMessages, OfFailuresAreKeptInItsOwnWords) {
  struct Case {
    std::string_view log;
    std::string Messages::*kept;
    std::string_view line;
  };
  constexpr Case kCases[] = {
      {"Importer error status: The importer binary and its dependencies were not found.\n"
       "Generated:\n    /runs/a.qdstrm\n",
       &Messages::importer_problem,
       "Importer error status: The importer binary and its dependencies were not found."},
      {"Failed to create '/runs/a.nsys-rep': File exists.\nUse --force-overwrite true to overwrite "
       "existing files.\nGenerated:\n    /tmp/nsys-report-35ab.nsys-rep\n",
       &Messages::create_problem, "Failed to create '/runs/a.nsys-rep': File exists."},
      {"option '--trace' cannot be specified more than once\n\nusage: nsys profile [<args>] "
       "[application] [<application args>]\nTry 'nsys profile --help' for more information.\n",
       &Messages::usage_problem, "option '--trace' cannot be specified more than once"},
      {"Executable not found in current directory or standard search paths\n",
       &Messages::program_problem,
       "Executable not found in current directory or standard search paths"},
      {"No such file or directory: ./x\n", &Messages::program_problem,
       "No such file or directory: ./x"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.line);
    EXPECT_EQ(read_messages(c.log).*c.kept, c.line);
  }
  EXPECT_EQ(read_messages("ERROR: invalid session name.\n").errors,
            std::vector<std::string>{"ERROR: invalid session name."});
  EXPECT_TRUE(read_messages("Connection to Agent lost.\n").agent_lost);
  EXPECT_TRUE(read_messages("ClientProxy.cpp(389): Throw in function GetLocalEndpoint() const\n"
                            "std::exception::what: RuntimeException\n"
                            "[tag_message*] = Local Endpoint is not available.\n")
                  .agent_lost);
  EXPECT_TRUE(read_messages("Session name 'profline-run-382baa64' is already in use. Run `nsys "
                            "sessions list` to list your active sessions.\n")
                  .session_in_use);
  EXPECT_TRUE(read_messages("write failed: No space left on device\n").disk_full);
}

using testing::FakeProcesses;
using testing::TempDir;

void touch(const std::filesystem::path& file) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream stream(file);
}

TEST(NsysProbe, ReadsTheVersion) {
  FakeProcesses processes;
  processes.expect({"/usr/bin/nsys", "--version"})
      .prints("NVIDIA Nsight Systems version 2023.4.4.54-234433681190v0\n");
  const auto installation = probe(processes, "/usr/bin/nsys");
  ASSERT_TRUE(installation) << installation.error().to_string();
  EXPECT_EQ(installation->version, (ToolVersion{2023, 4, 4}));
}

TEST(NsysProbe, AProgramThatNamesNoVersionIsNotNsys) {
  FakeProcesses processes;
  processes.expect({"/bin/echo", "--version"}).prints("echo (GNU coreutils)\n");
  const auto installation = probe(processes, "/bin/echo");
  ASSERT_FALSE(installation);
  EXPECT_EQ(installation.error().kind(), ErrorKind::Tool);
  EXPECT_EQ(installation.error().to_string(),
            "/bin/echo --version prints no version: echo (GNU coreutils)");
}

TEST(NsysTrial, AReportIsWhatCounts) {
  const TempDir folder;
  FakeProcesses processes;
  processes.expect({"/usr/bin/nsys", "profile"}).writes(folder / "trial.nsys-rep", "report");
  const auto trial = try_capture(processes, {"/usr/bin/nsys", {2023, 4, 4}}, folder.path());
  ASSERT_TRUE(trial) << trial.error().to_string();
  EXPECT_TRUE(trial->report_written);
}

TEST(NsysTrial, ExitCodeZeroWithoutAReportIsNoSuccess) {
  const TempDir folder;
  const auto program = folder / "target-linux-x64/nsys";
  const auto importer = folder / "host-linux-x64/QdstrmImporter";
  touch(program);
  touch(importer);
  const auto output = folder / "capture";
  std::filesystem::create_directory(output);
  FakeProcesses processes;
  processes.expect({program.string(), "profile"})
      .writes(output / "trial.qdstrm", "raw")
      .prints("Importer error status: An unknown error occurred.\n");
  processes.expect({"ldd", importer.string()})
      .prints(
          "\tlibssh.so.4 => not found\n\tlibc.so.6 => /lib/libc.so.6 (0x1)\n\tlibssh.so.4 => not "
          "found\n");
  const auto trial = try_capture(processes, {program, {2022, 4, 2}}, output);
  ASSERT_TRUE(trial) << trial.error().to_string();
  EXPECT_FALSE(trial->report_written);
  EXPECT_TRUE(trial->left_unimported);
  EXPECT_EQ(trial->importer, importer);
  EXPECT_EQ(trial->importer_lacks, std::vector<std::string>{"libssh.so.4"});
  EXPECT_EQ(trial->output, "Importer error status: An unknown error occurred.");
}

TEST(NsysTrial, IsRepeatedOnceWhenItLeavesNothing) {
  const TempDir folder;
  FakeProcesses processes;
  processes.expect({"/usr/bin/nsys", "profile"}).prints("Connection to Agent lost.\n").exits(1);
  processes.expect({"/usr/bin/nsys", "profile"}).writes(folder / "trial.nsys-rep", "report");
  const auto trial = try_capture(processes, {"/usr/bin/nsys", {2023, 4, 4}}, folder.path());
  ASSERT_TRUE(trial) << trial.error().to_string();
  EXPECT_TRUE(trial->report_written);
  EXPECT_EQ(trial->attempts, 2);
  EXPECT_NE(processes.commands()[0].argv, processes.commands()[1].argv)
      << "the first one's session may still have its name";
}

TEST(NsysTrial, OfReadingTellsWhatIsMissing) {
  const TempDir folder;
  const Installation nsys{"/usr/bin/nsys", {2023, 4, 4}};
  FakeProcesses processes;
  processes.expect({"/usr/bin/nsys", "export"}).writes(folder / "trial.sqlite", "tables");
  processes.expect({"/usr/bin/nsys", "stats"})
      .prints("SKIPPED: trial.sqlite does not contain CUDA kernel data.\n");
  EXPECT_EQ(try_reading(processes, nsys, folder.path()).value(), "");
  processes.expect({"/usr/bin/nsys", "export"}).writes(folder / "trial.sqlite", "tables");
  processes.expect({"/usr/bin/nsys", "stats"})
      .prints("internal error: Module threw exception No module named 'nsysstats'\n");
  EXPECT_EQ(try_reading(processes, nsys, folder.path()).value(),
            "internal error: Module threw exception No module named 'nsysstats'");
}

TEST(NsysSurvey, AsksWhatThisReleaseCanDo) {
  const TempDir folder;
  const auto program = folder / "target-linux-x64/nsys";
  const auto importer = folder / "host-linux-x64/QdstrmImporter";
  touch(program);
  touch(importer);
  FakeProcesses processes;
  processes.expect({program.string(), "--version"})
      .prints("NVIDIA Nsight Systems version 2022.4.2.1-df9881f\n");
  processes.expect({program.string(), "stats", "--help-reports"})
      .prints(
          "\nThe following built-in reports are available:\n\n"
          "  cudaapisum -- CUDA API Summary\n"
          "  gpukernsum[:base|:mangled] -- CUDA GPU Kernel Summary\n\n");
  processes.expect({program.string(), "profile", "--help"})
      .prints(
          "usage: nsys profile [<args>]\n\n\t-c, --capture-range=\n\n\t   Possible values\n"
          "\t--cuda-graph-trace=\n");
  processes.expect({"ldd", importer.string()}).prints("\tlibdw.so.1 => not found\n");
  const auto nsys = survey(processes, program);
  ASSERT_TRUE(nsys) << nsys.error().to_string();
  EXPECT_EQ(nsys->reports, (std::vector<std::string>{"cudaapisum", "gpukernsum"}));
  EXPECT_EQ(nsys->options, (std::vector<std::string>{"--capture-range", "--cuda-graph-trace"}));
  EXPECT_EQ(nsys->importer, importer);
  EXPECT_EQ(nsys->importer_lacks, std::vector<std::string>{"libdw.so.1"});
}

TEST(NsysSurvey, LeavesOpenWhatIsNotAnswered) {
  FakeProcesses processes;
  processes.expect({"/none/nsys", "--version"}).prints("version 2025.3.1\n");
  processes.expect({"/none/nsys", "stats"}).exits(1);
  processes.expect({"/none/nsys", "profile"}).exits(1);
  const auto nsys = survey(processes, "/none/nsys");
  ASSERT_TRUE(nsys) << nsys.error().to_string();
  EXPECT_TRUE(nsys->reports.empty());
  EXPECT_TRUE(nsys->takes("--anything"));
}

void make_program(const std::filesystem::path& file) {
  touch(file);
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
}

TEST(FindNsys, LooksOnPathAndThenInTheNsightComputeThatIsThere) {
  const TempDir folder;
  FakeProcesses processes;
  const std::string path = (folder / "bin").string();
  const auto none = find_nsys(processes, path);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind(), ErrorKind::NotFound);

  // Nsight Compute's own folder, reached through a link.
  make_program(folder / "nsight-compute/2025.3.1/ncu");
  make_program(folder / "nsight-compute/2025.3.1/host/target-linux-x64/nsys");
  std::filesystem::create_directory(folder / "bin");
  std::filesystem::create_symlink(folder / "nsight-compute/2025.3.1/ncu", folder / "bin/ncu");
  EXPECT_EQ(find_nsys(processes, path).value(),
            folder / "nsight-compute/2025.3.1/host/target-linux-x64/nsys");

  // A CUDA toolkit: bin/ncu is a script, Nsight Compute is next to bin.
  make_program(folder / "cuda/bin/ncu");
  make_program(folder / "cuda/nsight-compute-2025.1.0/host/target-linux-x64/nsys");
  make_program(folder / "cuda/nsight-compute-2025.3.1/host/target-linux-x64/nsys");
  EXPECT_EQ(find_nsys(processes, (folder / "cuda/bin").string()).value(),
            folder / "cuda/nsight-compute-2025.3.1/host/target-linux-x64/nsys");

  make_program(folder / "bin/nsys");
  EXPECT_EQ(find_nsys(processes, path).value(), folder / "bin/nsys");
}

// A toolkit from packages: bin/ncu is a script, and Nsight Compute is in a separate tree.
TEST(FindNsys, AsksAnNcuThatIsAScriptWhereItReallyRuns) {
  const TempDir folder;
  const std::string ncu = (folder / "cuda/bin/ncu").string();
  make_program(ncu);
  const auto bundle = folder / "opt/nsight-compute/2025.3.1";
  make_program(bundle / "host/target-linux-x64/nsys");
  FakeProcesses processes;
  processes.expect({ncu, "--target-processes"})
      .prints("==PROF== Connected to process 4711 (/usr/bin/dash)\n" +
              (bundle / "target/linux-desktop-glibc_2_11_3-x64/ncu").string() +
              "\n==PROF== Disconnected from process 4711\n");
  EXPECT_EQ(find_nsys(processes, (folder / "cuda/bin").string()).value(),
            bundle / "host/target-linux-x64/nsys");

  processes.expect({ncu, "--target-processes"}).prints("==ERROR== no driver\n").exits(1);
  EXPECT_FALSE(find_nsys(processes, (folder / "cuda/bin").string()));
}

TEST(NsysImporter, IsFoundWhereEachPackagingKeepsIt) {
  const TempDir folder;
  touch(folder / "own/target-linux-x64/nsys");
  EXPECT_EQ(find_importer(folder / "own/target-linux-x64/nsys"), std::filesystem::path());
  touch(folder / "own/host-linux-x64/QdstrmImporter");
  EXPECT_EQ(find_importer(folder / "own/target-linux-x64/nsys"),
            folder / "own/host-linux-x64/QdstrmImporter");
  touch(folder / "bundled/target-linux-x64/nsys");
  touch(folder / "bundled/linux-desktop-glibc_2_11_3-x64/QdstrmImporter");
  EXPECT_EQ(find_importer(folder / "bundled/target-linux-x64/nsys"),
            folder / "bundled/linux-desktop-glibc_2_11_3-x64/QdstrmImporter");
  EXPECT_EQ(find_importer(folder / "nowhere/nsys"), std::filesystem::path());
}

}  // namespace
}  // namespace profline::nsys
