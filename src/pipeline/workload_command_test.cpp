#include "pipeline/workload_command.h"

#include <gtest/gtest.h>

#include "formats/json.h"

namespace profline::pipeline {
namespace {

Node parse(std::string_view text) {
  auto node = parse_json(text, "test");
  EXPECT_TRUE(node) << node.error().to_string();
  return std::move(node).value();
}

TEST(WorkloadCommand, RunsTheBuiltInWorkloadInItsStagesFolder) {
  RunSetup setup;
  setup.folder = "/runs/1";
  setup.cwd = "/home/me";
  setup.sampling_seed = 7;
  Toolbox tools;
  tools.workload = std::filesystem::path("/bin/profline-workload");
  const Command command = workload_command(
      {setup, tools}, {"nsys", "profiled", "/runs/1/nsys/config.json", "/runs/1/nsys/workload", 1});
  EXPECT_EQ(display(command),
            "cd /runs/1/nsys && /bin/profline-workload --mode profiled --config "
            "/runs/1/nsys/config.json --out /runs/1/nsys/workload --base /home/me --samples 1 "
            "--sampling-seed 7");
  EXPECT_EQ(command.log, "/runs/1/nsys/workload/log");
}

TEST(WorkloadCommand, LetsThreadsOfOpenBlasWaitShortlyOnACpu) {
  RunSetup setup;
  setup.settings.device.kind = settings::Device::Kind::Cpu;
  const WorkloadRun run{"baseline", "baseline", "/c", "/runs/1/baseline"};
  ::unsetenv("OPENBLAS_THREAD_TIMEOUT");
  EXPECT_EQ(workload_command({setup, Toolbox()}, run).env,
            (std::map<std::string, std::string>{{"OPENBLAS_THREAD_TIMEOUT", "4"}}));
  ::setenv("OPENBLAS_THREAD_TIMEOUT", "20", 1);
  EXPECT_TRUE(workload_command({setup, Toolbox()}, run).env.empty()) << "the user's own stays";
  ::unsetenv("OPENBLAS_THREAD_TIMEOUT");
  setup.settings.device.kind = settings::Device::Kind::Cuda;
  EXPECT_TRUE(workload_command({setup, Toolbox()}, run).env.empty());
}

TEST(WorkloadCommand, RunsAUsersProgramWhereTheUserSaysWithTheRunsFolderNamed) {
  RunSetup setup;
  setup.folder = "/runs/1";
  setup.cwd = "/home/me";
  setup.settings.pipeline.workload.command = {"python3", "a b.py"};
  setup.settings.pipeline.workload.cwd = "job";
  const Toolbox tools;
  const Command command =
      workload_command({setup, tools}, {"baseline", "baseline", "/c", "/runs/1/baseline"});
  EXPECT_EQ(display(command), "cd /home/me/job && env PROFLINE_RUN_DIR=/runs/1 python3 'a b.py'");
  EXPECT_EQ(command.log, "/runs/1/baseline/log");
}

TEST(HandedConfig, DiffersFromTheBaselinesInTheListedValuesOnly) {
  const Node config = parse(R"({"a": 1, "pipeline": {"torch_profiler": {"enable": "auto",
      "output": {"prediction": {"enable": false}, "visualization": {"enable": true}}}}})");
  const std::vector<ConfigChange> changes = changes_under_profiler(config);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].key, "pipeline.torch_profiler.enable");
  EXPECT_EQ(changes[1].key, "pipeline.torch_profiler.output.visualization.enable");
  auto text = handed_config(config, changes);
  ASSERT_TRUE(text);
  EXPECT_EQ(parse(*text), parse(R"({"schema": "profline.resolved_config/1", "a": 1,
      "pipeline": {"torch_profiler": {"enable": false,
      "output": {"prediction": {"enable": false}, "visualization": {"enable": false}}}}})"));
}

}  // namespace
}  // namespace profline::pipeline
