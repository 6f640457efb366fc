#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "process/background.h"
#include "run/names/artifact_names.h"
#include "stages/server/internal/gates.h"
#include "testing/pipeline/recorded_stage_run.h"
#include "testing/processes/fake_processes.h"
#include "testing/temp_dir.h"
#include "tools/nsys/commands.h"

namespace profline::stages::internal {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;

constexpr seconds kEnding{45};

class NsysGates : public ::testing::Test {
 protected:
  NsysGates() {
    setup_.folder = folder_.path();
    tools_.nsys = nsys::Installation{"/opt/nsys", {2025, 3, 1}};
    plan_.commands.push_back({kStop, {.argv = {"/opt/nsys", "stop"}}});
  }

  std::filesystem::path report() const {
    return setup_.stage_folder(run::stages::kNsys) / run::files::kNsysReport;
  }

  testing::TempDir folder_;
  pipeline::RunSetup setup_;
  pipeline::Toolbox tools_;
  pipeline::StageContext context_{setup_, tools_};
  pipeline::StagePlan plan_;
  testing::FakeProcesses processes_;
  testing::RecordedStageRun run_{processes_};
};

TEST_F(NsysGates, ALostAgentIsAskedThreeTimesToStart) {
  plan_.commands.push_back({kStart, {.argv = {"/opt/nsys", "start"}}});
  const auto gate = nsys_gate(context_, plan_, run_);
  const std::string row = "1 00:02 Launched 1 " + nsys_session_id(setup_) + "\n";
  for (int i = 0; i < 3; ++i) {
    processes_.expect({"/opt/nsys", "sessions", "list"}).prints(row);
    processes_.expect({"/opt/nsys", "start"}).prints("Connection to Agent lost.\n").exits(1);
  }
  const auto opened = gate->open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().reason(), "nsys_start_failed");
  EXPECT_THAT(run_.names(), ElementsAre("start", "start again", "start again again"));
  EXPECT_EQ(run_.findings().size(), 2U);
}

TEST_F(NsysGates, NothingIsImportedAfterTheCaptureWasStopped) {
  const auto gate = nsys_gate(context_, plan_, run_);
  EXPECT_EQ(gate->time_to_end(), kEnding) << "no window was opened";
  processes_.expect({"/opt/nsys", "stop"}).writes(report(), "report");
  ASSERT_TRUE(gate->close());
  EXPECT_TRUE(gate->has_capture());
  EXPECT_EQ(gate->time_to_end(), kEnding);
}

TEST_F(NsysGates, ACaptureThatIsBeingRecordedIsImportedLater) {
  const auto gate = nsys_gate(context_, plan_, run_);
  const std::string session = nsys_session_id(setup_);
  const std::string script =
      "exec 3>" + folder_.path().string() + "/capture.qdstrm; while :; do sleep 1; done";
  auto agent = BackgroundChild::start(
      {.argv = {"/bin/sh", "-c", script, "sh", "--session-name=" + session}}, {});
  ASSERT_TRUE(agent) << agent.error().to_string();
  while (nsys::open_captures(session).empty()) {
    ASSERT_EQ((*agent)->wait(milliseconds(1)), nullptr) << "it does not look like an agent";
  }
  EXPECT_EQ(gate->time_to_end(), minutes(10));
  ASSERT_TRUE(create_folders(report().parent_path()));
  ASSERT_TRUE(write_file_atomic(report(), "report"));
  EXPECT_EQ(gate->time_to_end(), kEnding);
}

TEST_F(NsysGates, OthersImportTheirCaptureWhenTheServerHasEnded) {
  EXPECT_EQ(cuda_gate(context_, run_)->time_to_end(), minutes(10));
  EXPECT_EQ(whole_life_gate(context_, run_)->time_to_end(), minutes(10));
}

}  // namespace
}  // namespace profline::stages::internal
