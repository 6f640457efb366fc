#include "workloads/program/environment.h"

#include <cstring>

#include <gmock/gmock.h>

#include "base/files.h"
#include "testing/temp_dir.h"

namespace profline::program {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::optional<std::string> nothing(const char* /*name*/) {
  return std::nullopt;
}

std::optional<std::string> own_values(const char* name) {
  if (std::strcmp(name, "PYTHONPATH") == 0) return "/mine:/other";
  if (std::strcmp(name, "NVTX_INJECTION64_PATH") == 0) return "/tool.so";
  return std::nullopt;
}

const Companions kCompanions{.recorder = "/p/lib/profline/libprofline-recorder.so",
                             .python = "/p/share/profline/python"};
const ProgramRun kBaseline{
    .run_folder = "/run", .record_folder = "/run/baseline/recorded", .loads_recorder = true};

TEST(Environment, LoadsRecorderAndAdapter) {
  EXPECT_THAT(environment(kBaseline, kCompanions, {}, nothing),
              ElementsAre(Pair("NVTX_INJECTION64_PATH", "/p/lib/profline/libprofline-recorder.so"),
                          Pair("PROFLINE_GATE", "none"),
                          Pair("PROFLINE_PYTHON", "/p/share/profline/python"),
                          Pair("PROFLINE_RECORDER", "/p/lib/profline/libprofline-recorder.so"),
                          Pair("PROFLINE_RECORD_DIR", "/run/baseline/recorded"),
                          Pair("PROFLINE_RUN_DIR", "/run"),
                          Pair("PYTHONPATH", "/p/share/profline/python/startup")));
}

TEST(Environment, KeepsWhatTheUserSet) {
  const auto variables = environment(kBaseline, kCompanions, {}, own_values);
  EXPECT_EQ(variables.at("PYTHONPATH"), "/p/share/profline/python/startup:/mine:/other");
  EXPECT_FALSE(variables.contains("NVTX_INJECTION64_PATH"));
  EXPECT_EQ(why_no_recorder(kCompanions, own_values),
            "NVTX_INJECTION64_PATH is already set, to '/tool.so'");
}

TEST(Environment, LeavesPythonAloneIfAsked) {
  settings::Workload workload;
  workload.python = settings::PythonAdapter::Off;
  ProgramRun run = kBaseline;
  run.loads_recorder = false;
  EXPECT_THAT(environment(run, kCompanions, workload, nothing),
              ElementsAre(Pair("PROFLINE_RECORDER", "/p/lib/profline/libprofline-recorder.so"),
                          Pair("PROFLINE_RECORD_DIR", "/run/baseline/recorded"),
                          Pair("PROFLINE_RUN_DIR", "/run")));
  EXPECT_THAT(environment(kBaseline, {}, {}, nothing),
              ElementsAre(Pair("PROFLINE_RECORD_DIR", "/run/baseline/recorded"),
                          Pair("PROFLINE_RUN_DIR", "/run")));
}

TEST(Environment, OpensTheGateOfAProfiler) {
  ProgramRun run = kBaseline;
  run.gate = GateKind::Torch;
  run.gate_plan = "/run/baseline/steady.json";
  run.traces = "/run/torch_profiler";
  run.torch_options = "{}";
  const auto variables = environment(run, kCompanions, {}, nothing);
  EXPECT_EQ(variables.at("PROFLINE_GATE"), "torch");
  EXPECT_EQ(variables.at("PROFLINE_GATE_PLAN"), "/run/baseline/steady.json");
  EXPECT_EQ(variables.at("PROFLINE_TRACE_DIR"), "/run/torch_profiler");
  EXPECT_EQ(variables.at("PROFLINE_TORCH"), "{}");
}

TEST(FindCompanions, LooksNextToTheExecutable) {
  const profline::testing::TempDir dir;
  const auto bin = dir.path() / "bin/profline";
  EXPECT_EQ(find_companions(bin), Companions{});
  ASSERT_TRUE(create_folders(dir.path() / "share/profline/python"));
  ASSERT_TRUE(create_folders(dir.path() / "lib/profline"));
  const auto recorder = dir.path() / "lib/profline/libprofline-recorder.so";
  ASSERT_TRUE(write_file_atomic(recorder, "x"));
  EXPECT_EQ(find_companions(bin), (Companions{recorder, dir.path() / "share/profline/python"}));
}

}  // namespace
}  // namespace profline::program
