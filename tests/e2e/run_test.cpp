// `profline run`: stages separately and together, and the folder they leave.

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "formats/yaml.h"
#include "run_folder.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"
#include "workload_binary.h"

namespace profline::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Node json_at(const fs::path& file) {
  auto document = parse_json(read_file(file).value_or(""), file.string());
  EXPECT_TRUE(document) << file;
  return document ? std::move(*document) : Node();
}

std::string option_of(const CommandRecord& command, const std::string& option) {
  const auto at = std::find(command.argv.begin(), command.argv.end(), option);
  return at == command.argv.end() || at + 1 == command.argv.end() ? "" : *(at + 1);
}

class Run : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_workload()) GTEST_SKIP() << "profline-workload is not built here";
  }
  Outcome run(const std::vector<std::string>& overrides) {
    return run_profline_in(folder_.path(), tiny_run(overrides));
  }
  fs::path run_dir() const { return fs::canonical(folder_.path()) / "run"; }

  testing::TempDir folder_;
};

TEST_F(Run, EachStageRunsAlone) {
  struct Case {
    const char* stage;
    const char* file;
  };
  constexpr Case kCases[] = {{"static_analysis", "static_compute.json"},
                             {"baseline", "metrics.json"},
                             {"torch_profiler", "operators.json"},
                             {"direct_inference", "requests.jsonl"}};
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.stage);
    const testing::TempDir folder;
    const Outcome outcome = run_profline_in(
        folder.path(), tiny_run({"pipeline." + std::string(c.stage) + ".enable=true"}));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const RunRecord record = record_of(folder / "run");
    for (const StageRecord& stage : record.stages) {
      EXPECT_EQ(stage.state, stage.name == c.stage ? StageState::Ok : StageState::Off)
          << stage.name;
    }
    EXPECT_TRUE(fs::exists(folder / "run" / c.stage / c.file));
    EXPECT_THAT(damage_in(folder / "run"), IsEmpty());
    EXPECT_EQ(json_at(folder / "run" / c.stage / "status.json").find("state")->as_string(), "ok");
  }
}

TEST_F(Run, EveryStageThatACpuCanRunLeavesAWholeFolder) {
  const Outcome outcome =
      run({"pipeline.static_analysis.enable=true", "pipeline.baseline.enable=auto",
           "pipeline.torch_profiler.enable=true", "pipeline.direct_inference.enable=true"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("baseline          1/1 images (100 %)"));
  EXPECT_THAT(outcome.out, HasSubstr("run               " + run_dir().string() + "\nstate  "));
  const RunRecord record = record_of(run_dir());
  EXPECT_EQ(record.state, RunState::Ok);
  EXPECT_EQ(record.exit_code, 0);
  EXPECT_EQ(record.device, "cpu");
  EXPECT_THAT(damage_in(run_dir()), IsEmpty());
  for (const char* file : {"config.yaml", "overrides.yaml", "config.resolved.json",
                           "config.origins.json", "env.json", "inputs.yaml", "run.log"}) {
    EXPECT_TRUE(fs::exists(run_dir() / file)) << file;
  }
  const auto inputs = parse_yaml(read_file(run_dir() / "inputs.yaml").value_or(""), "inputs");
  ASSERT_TRUE(inputs);
  EXPECT_EQ(inputs->find_path("images.0.width")->as_int(), 96);
  const Node origins = json_at(run_dir() / "config.origins.json");
  EXPECT_EQ(origins.find("origins")->find("infer.max_new_tokens")->find("source")->as_string(),
            "override 5");
  const Node environment = json_at(run_dir() / "env.json");
  EXPECT_EQ(environment.find_path("libtorch.nvtx")->is_bool(), true);
  EXPECT_EQ(environment.find_path("libtorch.workload"), nullptr);
  EXPECT_EQ(environment.find_path("workload.version")->as_string(),
            environment.find_path("profline.version")->as_string());
  EXPECT_GT(record.timing.children_ns, 0);
  EXPECT_GT(record.timing.between_children_ns, 0);
  EXPECT_LT(record.timing.between_children_ns, record.timing.total_ns);
}

TEST_F(Run, EveryWorkloadIsHandedTheBaselinesConfig) {
  const Outcome outcome =
      run({"pipeline.baseline.enable=true", "pipeline.torch_profiler.enable=true",
           "pipeline.direct_inference.enable=true", "pipeline.static_analysis.enable=true"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const RunRecord record = record_of(run_dir());
  const std::string config = (run_dir() / "config.resolved.json").string();
  int commands = 0;
  for (const StageRecord& stage : record.stages) {
    for (const CommandRecord& command : stage.commands) {
      EXPECT_EQ(option_of(command, "--config"), config) << stage.name;
      EXPECT_THAT(stage.changes, IsEmpty());
      ++commands;
    }
  }
  EXPECT_EQ(commands, 4);
}

TEST_F(Run, TheFolderIsChosenBeforeValuesThatNameIt) {
  // Named by a config rather than by the user, so a second run gets a suffix.
  write_files(folder_.path(),
              {{"conf/mine.yaml",
                "defaults: [demo, _self_]\nvars:\n  here: ${hydra:runtime.output_dir}\n"
                "hydra:\n  run:\n    dir: out/run\n"}});
  std::vector<std::string> words = tiny_run({"pipeline.static_analysis.enable=true"});
  std::erase(words, "hydra.run.dir=run");
  *std::find(words.begin(), words.end(), "demo") = "mine";
  for (const char* name : {"run", "run-2"}) {
    const Outcome outcome = run_profline_in(folder_.path(), words);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const fs::path run = fs::canonical(folder_ / "out" / name);
    EXPECT_EQ(json_at(run / "config.resolved.json").find_path("vars.here")->as_string(),
              run.string());
    EXPECT_EQ(fs::read_symlink(folder_ / "out/latest"), name);
  }
}

TEST_F(Run, AFailedStageStopsTheOthersOnlyIfAsked) {
  const fs::path program = workload_script(
      folder_.path(), R"(case "$*" in *"--mode baseline"*) exit 7;; esac; exec "$REAL" "$@")");
  for (const bool keeps_going : {true, false}) {
    SCOPED_TRACE(keeps_going);
    std::vector<std::string> words = tiny_run(
        {"pipeline.baseline.enable=true", "pipeline.direct_inference.enable=true",
         "pipeline.keep_going=" + std::string(keeps_going ? "true" : "false"), "--workload",
         program.string(), "hydra.run.dir=run-" + std::to_string(int{keeps_going})});
    const Outcome outcome = run_profline_in(folder_.path(), words);
    EXPECT_EQ(outcome.code, 1);
    const RunRecord record = record_of(folder_ / ("run-" + std::to_string(int{keeps_going})));
    EXPECT_EQ(record.state, RunState::Failed);
    EXPECT_EQ(state_of(record, "baseline"), StageState::Failed);
    EXPECT_EQ(state_of(record, "direct_inference"),
              keeps_going ? StageState::Ok : StageState::Pending);
    EXPECT_EQ(record.find_stage("baseline")->findings[0].text,
              "workload (workload.sh) exited with code 7");
  }
}

TEST_F(Run, MultirunRunsItsJobsAndReturnsTheWorstCode) {
  const fs::path program = workload_script(
      folder_.path(), R"(grep -q '"max_new_tokens": 3' "$4" && exit 7; exec "$REAL" "$@")");
  std::vector<std::string> words =
      tiny_run({"pipeline.baseline.enable=true", "infer.max_new_tokens=2,3", "-m",
                "hydra.sweep.dir=sweep", "--workload", program.string()});
  const Outcome outcome = run_profline_in(folder_.path(), words);
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_EQ(record_of(folder_ / "sweep/0").state, RunState::Ok);
  EXPECT_EQ(record_of(folder_ / "sweep/1").state, RunState::Failed);
  EXPECT_EQ(
      json_at(folder_ / "sweep/1/config.resolved.json").find_path("infer.max_new_tokens")->as_int(),
      3);
}

TEST_F(Run, WhatKeepsItFromStartingIsReportedAndLeavesNothing) {
  struct Case {
    std::vector<std::string> overrides;
    int code;
    std::string err;
  };
  const testing::TempDir models;
  const std::string config = (testing::source_dir() / "tests/fixtures/deepseek-ocr-tiny").string();
  for (const char* name : {"bare", "shards"}) {
    fs::create_directory(models / name);
    fs::copy_file(fs::path(config) / "config.json", models / name / "config.json");
  }
  write_files(models.path(),
              {{"shards/tokenizer.json", "{}"},
               {"shards/one.safetensors", ""},
               {"shards/model.safetensors.index.json",
                R"({"weight_map": {"a": "one.safetensors", "b": "two.safetensors"}})"}});
  const std::string bare = (models / "bare").string();
  const std::string shards = (models / "shards").string();
  const Case cases[] = {
      {{},
       2,
       "profline: no stage is enabled; enable one, as in pipeline.static_analysis.enable=true\n"},
      {{"pipeline.baseline.enable=true", "device=cuda:9"}, 3, ""},
      {{"pipeline.baseline.enable=true", "pipeline.torch_profiler.enable=true",
        "model.init=weights", "model.variant=full", "model.path=/none"},
       3,
       "profline: stages baseline, torch_profiler: model.path: there is no folder '/none'; two "
       "presets need no weights: model/deepseek_ocr/arch@model=deepseek_ocr.random and "
       "deepseek_ocr.tiny\n"},
      {{"pipeline.static_analysis.enable=true", "pipeline.baseline.enable=true",
        "model.init=weights", "model.variant=full", "model.path=" + bare},
       3,
       "profline: stage baseline: model.path: there is no tokenizer.json, no model.safetensors (or "
       "model.safetensors.index.json) in '" +
           bare +
           "'; two presets need no weights: model/deepseek_ocr/arch@model="
           "deepseek_ocr.random and deepseek_ocr.tiny\n"},
      {{"pipeline.static_analysis.enable=true",
        "pipeline.static_analysis.use_analytic_fallback=false", "model.init=weights",
        "model.variant=full", "model.path=" + bare},
       3,
       "profline: stage static_analysis: model.path: there is no tokenizer.json in '" + bare +
           "'; use closed forms instead: pipeline.static_analysis.use_analytic_fallback=true\n"},
      {{"pipeline.baseline.enable=true", "model.init=weights", "model.variant=full",
        "model.path=" + shards},
       3,
       "profline: stage baseline: model.path: there is no two.safetensors in '" + shards +
           "'; two presets need no weights: model/deepseek_ocr/arch@model=deepseek_ocr.random and "
           "deepseek_ocr.tiny\n"},
      {{"pipeline.baseline.enable=true", "pipeline.workload.command=[no-such-program]"},
       3,
       "profline: stage baseline: cannot run 'no-such-program': not found in PATH ("},
      {{"run.mode=deep"}, 2, ""},
      {{"+run.mode=deep"}, 2, ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(::testing::PrintToString(c.overrides));
    const Outcome outcome = run(c.overrides);
    EXPECT_EQ(outcome.code, c.code);
    EXPECT_THAT(outcome.err, HasSubstr(c.err));
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(fs::is_empty(folder_.path()));
  }
  for (const char* removed : {"run.mode=deep", "+run.mode=deep"}) {
    EXPECT_THAT(run({removed}).err, HasSubstr("pipeline.")) << removed;
  }
}

TEST(RunOwnCommand, MeasuresWallTimeAndEachProcess) {
  const testing::TempDir folder;
  write_files(folder.path(), {{"job/script.sh",
                               "echo $PROFLINE_RUN_DIR > where\n"
                               "sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done'\n"}});
  const Outcome outcome = run_profline_in(
      folder.path(), own_command_run("[sh,script.sh]", {"pipeline.workload.cwd=job"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const fs::path run = fs::canonical(folder / "run");
  EXPECT_EQ(read_file(folder / "job/where").value_or(""), run.string() + "\n");
  const Node process = json_at(run / "baseline/process.json");
  EXPECT_EQ(process.find("schema")->as_string(), "profline.process/1");
  EXPECT_GT(process.find("wall_ns")->as_int(), 0);
  EXPECT_EQ(process.find("runs")->as_int(), 1);
  EXPECT_FALSE(process.find("processes")->as_list().empty());
  const auto inputs = parse_yaml(read_file(run / "inputs.yaml").value_or(""), "inputs");
  ASSERT_TRUE(inputs);
  EXPECT_THAT(inputs->find_path("files.0.path")->as_string(), EndsWith("/job/script.sh"));
  const RunRecord record = record_of(run);
  EXPECT_THAT(record.find_stage("baseline")->limits,
              ElementsAre("one run: its wall time has no spread"));
  EXPECT_THAT(damage_in(run), IsEmpty());
}

TEST(RunOwnCommand, GivesAModuleTheOverridesOfTheRun) {
  const testing::TempDir folder;
  write_files(folder.path(), {{"stage1.py",
                               "import sys\n"
                               "print('\\n'.join(sys.argv[1:]))\n"}});
  const Outcome outcome = run_profline_in(
      folder.path(), tiny_run({"pipeline.baseline.enable=true", "pipeline.workload.module=stage1",
                               "dataset.sampling.num_samples_per_epoch=3"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const fs::path run = fs::canonical(folder / "run");
  EXPECT_EQ(read_file(run / "baseline/log").value_or(""),
            "device=cpu\n"
            "infer.max_new_tokens=4\n"
            "pipeline.torch_profiler.enable=false\n"
            "pipeline.static_analysis.enable=false\n"
            "dataset.sampling.num_epochs=1\n"
            "dataset.sampling.num_samples_per_epoch=3\n"
            "dataset.sampling.randomize=false\n"
            "hydra.run.dir=" +
                run.string() +
                "/baseline/workload\n"
                "hydra.job.chdir=true\n");
}

}  // namespace
}  // namespace profline::e2e
