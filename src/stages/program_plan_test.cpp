// The plan of a user's program with every profiler: each form of each command, with the condition
// that decides. PROFLINE_UPDATE_GOLDEN=1 rewrites the expected file.

#include <cstdlib>

#include <gtest/gtest.h>

#include "base/files.h"
#include "pipeline/stage.h"
#include "stages/all_stages.h"
#include "testing/paths.h"

namespace profline::stages {
namespace {

pipeline::RunSetup python_program() {
  pipeline::RunSetup setup;
  setup.id = "run";
  setup.folder = "/runs/1";
  setup.cwd = "/home/me";
  setup.config = Node::map({});
  setup.baseline_is_on = true;
  setup.settings.device.kind = settings::Device::Kind::Cuda;
  settings::Pipeline& pipeline = setup.settings.pipeline;
  pipeline.workload.command = {"python3", "infer.py"};
  pipeline.nsys.trace = schema::CommaList{{"cuda", "nvtx", "osrt"}};
  pipeline.nsys.sample = settings::CpuSampling::None;
  pipeline.ncu.max_launches = 2000;
  pipeline.ncu.ncu_cli.target_processes = settings::TargetProcesses::All;
  pipeline.ncu.ncu_cli.nvtx.include = schema::SemicolonList{{"decode"}};
  pipeline.ncu.ncu_cli.set = "roofline";
  pipeline.ncu.ncu_cli.force_overwrite = true;
  return setup;
}

std::string text_of(const pipeline::StagePlan& plan) {
  std::string text;
  for (const pipeline::PlannedCommand& planned : plan.commands) {
    text += planned.name + (planned.condition.empty() ? "" : " (" + planned.condition + ")") + "\n";
    for (const auto& [name, value] : planned.command.env) text += "  " + name + "=" + value + "\n";
    text += "  $";
    for (const std::string& word : planned.command.argv) text += " " + word;
    text += "\n";
  }
  for (const std::string& limit : plan.limits) text += "limited to " + limit + "\n";
  for (const std::string& note : plan.notes) text += "note: " + note + "\n";
  return text;
}

TEST(ProgramPlan, ShowsEveryGateAndItsCondition) {
  for (const char* name :
       {"KINETO_USE_DAEMON", "KINETO_IPC_SOCKET_DIR", "KINETO_ONDEMAND_TRACE_DIR", "KINETO_CONFIG",
        "KINETO_LOG_LEVEL", "PYTHONPATH", "NVTX_INJECTION64_PATH"}) {
    unsetenv(name);
  }
  const pipeline::RunSetup setup = python_program();
  pipeline::Toolbox tools;
  tools.nsys = nsys::Installation{"/opt/nsys", {2025, 3, 1}};
  tools.ncu = ncu::Installation{"/opt/ncu", {2025, 3, 1}};
  tools.companions.python = "/usr/share/profline/python";
  tools.companions.recorder = "/usr/lib/profline/libprofline-recorder.so";
  std::string text;
  for (const auto& stage : all_stages()) {
    const bool is_profiler =
        stage->id() == "torch_profiler" || stage->id() == "nsys" || stage->id() == "ncu";
    if (is_profiler) {
      text += "# " + std::string(stage->id()) + "\n" + text_of(stage->plan({setup, tools})) + "\n";
    }
  }
  // Digits that depend on the user.
  const std::string sockets = "/tmp/profline-kineto-";
  ASSERT_NE(text.find(sockets), std::string::npos);
  for (std::size_t at = 0; (at = text.find(sockets, at)) != std::string::npos;) {
    at += sockets.size();
    text.replace(at, 12, "DIGITS");
  }
  const auto file = testing::source_dir() / "tests/golden/plan/program/expected.txt";
  if (std::getenv("PROFLINE_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(create_folders(file.parent_path()));
    ASSERT_TRUE(write_file_atomic(file, text));
  }
  EXPECT_EQ(text, read_file(file).value_or(""));
}

}  // namespace
}  // namespace profline::stages
