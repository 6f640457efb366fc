#include "tools/nsys/messages.h"

#include <gtest/gtest.h>

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
  EXPECT_TRUE(read_messages("Session name 'profline-run-382baa64' is already in use. Run `nsys "
                            "sessions list` to list your active sessions.\n")
                  .session_in_use);
  EXPECT_TRUE(read_messages("write failed: No space left on device\n").disk_full);
}

}  // namespace
}  // namespace profline::nsys
