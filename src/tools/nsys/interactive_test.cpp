#include "tools/nsys/interactive.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/sqlite.h"
#include "testing/temp_dir.h"
#include "tools/nsys/commands.h"

namespace profline::nsys {
namespace {

using Words = std::vector<std::string>;

settings::Nsys options() {
  settings::Nsys options;
  options.trace = schema::CommaList{{"cuda", "nvtx"}};
  options.sample = settings::CpuSampling::None;
  return options;
}

TEST(InteractiveNsys, LaunchesWithWhatServersNeed) {
  const Installation nsys{.program = "/opt/nsys", .version = {}};
  Command server{.argv = {"vllm", "serve"}};
  server.env["A"] = "1";
  server.log = "/run/log";
  const Command command = launch_command(nsys, options(), "s", server);
  EXPECT_EQ(command.argv, (Words{"/opt/nsys", "launch", "--session-new=s", "--trace=cuda,nvtx",
                                 "--trace-fork-before-exec=true", "--cuda-graph-trace=node",
                                 "--wait=primary", "vllm", "serve"}));
  EXPECT_EQ(command.env, server.env);
  EXPECT_EQ(command.log, server.log);
}

TEST(InteractiveNsys, LeavesOutWhatAReleaseDoesNotHave) {
  Installation nsys{.program = "nsys", .version = {}};
  nsys.options = {"--trace"};
  settings::Nsys own = options();
  own.cuda_graph_trace = settings::GraphTrace::Graph;
  const Command command = launch_command(nsys, own, "s", {.argv = {"serve"}});
  EXPECT_EQ(command.argv, (Words{"nsys", "launch", "--session-new=s", "--trace=cuda,nvtx",
                                 "--wait=primary", "serve"}));
}

TEST(InteractiveNsys, RecordsAServerWithoutItsCommands) {
  Installation nsys{.program = "nsys", .version = {}};
  settings::Nsys own = options();
  own.capture_range = settings::CaptureRange::None;
  const Capture capture{.session = "s", .output = "run"};
  Words expected = {"nsys",
                    "profile",
                    "--session-new=s",
                    "--trace=cuda,nvtx",
                    "--sample=none",
                    "--cpuctxsw=none",
                    "--force-overwrite=true",
                    "--cuda-graph-trace=node",
                    "-o",
                    "run",
                    "--trace-fork-before-exec=true",
                    "--wait=primary",
                    "--kill=none",
                    "serve",
                    "it"};
  EXPECT_EQ(profile_server_command(nsys, own, capture, {.argv = {"serve", "it"}}).argv, expected);
  nsys.options = {"--wait"};
  std::erase_if(expected, [](const std::string& word) {
    return word.starts_with("--trace-fork") || word.starts_with("--kill") ||
           word.starts_with("--cuda-graph");
  });
  EXPECT_EQ(profile_server_command(nsys, own, capture, {.argv = {"serve", "it"}}).argv, expected);
}

TEST(InteractiveNsys, StartsACapture) {
  const Installation nsys{.program = "nsys", .version = {}};
  EXPECT_EQ(start_command(nsys, options(), "s", "/run/nsys/run").argv,
            (Words{"nsys", "start", "--session=s", "--output=/run/nsys/run",
                   "--force-overwrite=true", "--sample=none", "--cpuctxsw=none"}));
}

TEST(InteractiveNsys, SamplesTheGpusMetricsInACapture) {
  Installation nsys{.program = "nsys", .version = {}};
  settings::Nsys own = options();
  own.gpu_metrics = true;
  own.gpu_metrics_frequency = 20000;
  const Words usual = {
      "nsys",          "start",          "--session=s", "--output=run", "--force-overwrite=true",
      "--sample=none", "--cpuctxsw=none"};
  Words expected = usual;
  expected.insert(expected.end(), {"--gpu-metrics-devices=all", "--gpu-metrics-frequency=20000"});
  const Command command = start_command(nsys, own, "s", "run");
  EXPECT_EQ(command.argv, expected);
  EXPECT_EQ(without_metrics(command).argv, usual);
  nsys.options = {"--gpu-metrics-device"};
  own.gpu_metrics_frequency.reset();
  expected = usual;
  expected.emplace_back("--gpu-metrics-device=all");
  EXPECT_EQ(start_command(nsys, own, "s", "run").argv, expected);
}

TEST(InteractiveNsys, ReadsTheListOfSessions) {
  const auto sessions = read_sessions(
      "              ID         TIME                       STATE LAUNCH NAME\n"
      "         1030995        00:02                    Launched      1 profline-run\n"
      "         1031000        01:02          Delayed Collection      1 other\n"
      "\nnonsense\n");
  ASSERT_EQ(sessions.size(), 2U);
  EXPECT_EQ(sessions[0].name, "profline-run");
  EXPECT_EQ(sessions[0].state, "Launched");
  EXPECT_EQ(sessions[1].state, "Delayed Collection");
  EXPECT_FALSE(is_recording(sessions[0].state));
  EXPECT_FALSE(is_recording(sessions[1].state));
  EXPECT_TRUE(is_recording("Collection"));
}

TEST(InteractiveNsys, TakesTheEdgesOfACaptureFromItsExport) {
  const testing::TempDir folder;
  const auto file = folder / "run.sqlite";
  const auto run = [&](const char* sql) {
    auto database = sqlite::Database::open_read_write(file, sqlite::Create::Yes);
    ASSERT_TRUE(database) << database.error().to_string();
    auto statement = database->prepare(sql);
    ASSERT_TRUE(statement) << statement.error().to_string();
    ASSERT_TRUE(statement->step());
  };
  run("CREATE TABLE StringIds (id INTEGER, value TEXT)");
  const auto none = capture_edges(file);
  ASSERT_TRUE(none) << none.error().to_string();
  EXPECT_FALSE(*none);
  run("CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER)");
  run("CREATE TABLE ANALYSIS_DETAILS (duration INTEGER)");
  run("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1795031563719921027)");
  run("INSERT INTO ANALYSIS_DETAILS VALUES (2102351043)");
  const auto edges = capture_edges(file);
  ASSERT_TRUE(edges) << edges.error().to_string();
  EXPECT_EQ(*edges, (CaptureEdges{1795031563719921027, 1795031565822272070}));
  run("CREATE TABLE NVTX_EVENTS (globalTid INTEGER)");
  run("INSERT INTO NVTX_EVENTS VALUES (281995137515520), (281995137515521), (NULL)");
  const auto pids = captured_processes(file);
  ASSERT_TRUE(pids) << pids.error().to_string();
  EXPECT_EQ(*pids, std::vector<std::int64_t>{(281995137515520 / 0x1000000) % 0x1000000});
}

}  // namespace
}  // namespace profline::nsys
