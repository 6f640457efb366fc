#include "pipeline/workload_command.h"

#include <gtest/gtest.h>

#include "formats/json.h"
#include "pipeline/workload_stage.h"

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
  EXPECT_EQ(display(command),
            "cd /home/me/job && env PROFLINE_RECORD_DIR=/runs/1/baseline/recorded "
            "PROFLINE_RUN_DIR=/runs/1 python3 'a b.py'");
  EXPECT_EQ(command.log, "/runs/1/baseline/log");
}

TEST(WorkloadCommand, LetsAUsersProgramLoadWhatIsInstalled) {
  RunSetup setup;
  setup.folder = "/runs/1";
  setup.cwd = "/home/me";
  setup.settings.pipeline.workload.command = {"python3"};
  Toolbox tools;
  tools.companions = {.recorder = "/p/recorder.so", .python = "/p/python"};
  ::unsetenv("PYTHONPATH");
  const WorkloadRun run{.stage = "nsys",
                        .mode = "profiled",
                        .config = "/c",
                        .out = "/runs/1/nsys/workload",
                        .program = {.gate = program::GateKind::Cuda}};
  const auto env = workload_command({setup, tools}, run).env;
  EXPECT_EQ(env.at("PROFLINE_RECORD_DIR"), "/runs/1/nsys/workload/recorded");
  EXPECT_EQ(env.at("PROFLINE_GATE"), "cuda");
  EXPECT_EQ(env.at("PYTHONPATH"), "/p/python/startup");
  EXPECT_FALSE(env.contains("NVTX_INJECTION64_PATH"));
}

/// A run of a Python module that has a config like ours.
RunSetup module_run() {
  RunSetup setup;
  setup.folder = "/runs/1";
  setup.cwd = "/home/me";
  setup.settings.pipeline.workload.module = "my.stage1";
  setup.config = parse(R"({"device": "cuda:1", "model": {"path": "models/ocr"},
      "infer": {"max_new_tokens": 64},
      "dataset": {"root": "/data/my pages", "subset_filelist": null,
                  "sampling": {"num_epochs": 2, "num_samples_per_epoch": 3, "randomize": false,
                               "seed": null}}})");
  return setup;
}

TEST(WorkloadCommand, GivesAModuleWhatTheOldStage2GaveIt) {
  const RunSetup setup = module_run();
  const Command command =
      workload_command({setup, Toolbox()}, {"nsys", "profiled", "/c", "/runs/1/nsys/workload", 1});
  EXPECT_EQ(command.argv,
            (std::vector<std::string>{
                "python3", "-m", "my.stage1", "model.path=/home/me/models/ocr",
                "dataset.root='/data/my pages'", "device=cuda:1", "infer.max_new_tokens=64",
                "pipeline.torch_profiler.enable=false", "pipeline.static_analysis.enable=false",
                "dataset.sampling.num_epochs=1", "dataset.sampling.num_samples_per_epoch=1",
                "dataset.sampling.randomize=false", "hydra.run.dir=/runs/1/nsys/workload",
                "hydra.job.chdir=true"}));
  EXPECT_EQ(command.env, (std::map<std::string, std::string>{
                             {"PROFLINE_RECORD_DIR", "/runs/1/nsys/workload/recorded"},
                             {"PROFLINE_RUN_DIR", "/runs/1"}}));
}

TEST(WorkloadCommand, GivesAModuleTheWholeSamplingWhereNothingCutsItOff) {
  RunSetup setup = module_run();
  setup.sampling_seed = 7;
  *setup.config.find("dataset")->find("subset_filelist") = Node::string("dev-20.txt");
  const std::vector<std::string> overrides =
      module_overrides(setup, {"baseline", "baseline", "/c", "/runs/1/baseline"});
  EXPECT_EQ(std::vector<std::string>(overrides.begin() + 6, overrides.end()),
            (std::vector<std::string>{
                "dataset.sampling.num_epochs=2", "dataset.sampling.num_samples_per_epoch=3",
                "dataset.sampling.randomize=false", "dataset.sampling.seed=7",
                "dataset.subset_filelist=dev-20.txt", "hydra.run.dir=/runs/1/baseline/workload",
                "hydra.job.chdir=true"}));
}

TEST(WorkloadCommand, GivesAModuleOnlyKeysThatTheConfigHas) {
  RunSetup setup = module_run();
  setup.config = parse(R"({"device": "cpu", "model": {"path": null}})");
  EXPECT_EQ(
      module_overrides(setup, {"ncu", "profiled", "/c", "/runs/1/ncu/workload"}),
      (std::vector<std::string>{"device=cpu", "pipeline.torch_profiler.enable=false",
                                "pipeline.static_analysis.enable=false",
                                "hydra.run.dir=/runs/1/ncu/workload", "hydra.job.chdir=true"}));
}

TEST(ProfiledRequests, AreThoseThatSamplesOrTheSamplingName) {
  using Reason = ProfiledRequests::Reason;
  settings::Root settings;
  EXPECT_EQ(profiled_requests(settings, {}).reason, Reason::Unbounded);
  EXPECT_EQ(profiled_requests(settings, {}).count, 1U);
  EXPECT_EQ(profiled_requests(settings, 5).reason, Reason::Samples);
  EXPECT_EQ(profiled_requests(settings, 5).count, 5U);
  settings::SyntheticPages pages;
  pages.sampling.num_samples_per_epoch = 3;
  settings.dataset.images = pages;
  EXPECT_EQ(profiled_requests(settings, {}).reason, Reason::Bounded);
  EXPECT_EQ(profiled_requests(settings, {}).count, std::nullopt);
  EXPECT_EQ(profiled_requests(settings, 2).count, 2U);
  settings.pipeline.workload.module = "my.stage1";
  EXPECT_EQ(profiled_requests(settings, {}).reason, Reason::Bounded) << "it is given overrides";
  settings.pipeline.workload.command = {"serve"};
  EXPECT_EQ(profiled_requests(settings, 2).reason, Reason::Program);
  EXPECT_EQ(profiled_requests(settings, 2).count, std::nullopt);
}

TEST(EngineNote, SaysWhyABatchIsGeneratedByTheEagerEngine) {
  settings::Root settings;
  settings.device = {.kind = settings::Device::Kind::Cuda, .index = 0};
  settings::deepseek_ocr::Subject subject;
  settings.subject = subject;
  EXPECT_EQ(engine_note(settings), std::nullopt);
  subject.infer.batch_size = 4;
  settings.subject = subject;
  EXPECT_EQ(engine_note(settings),
            "engine: eager, because the fast engine generates one image at a time and "
            "infer.batch_size is 4");
  settings.pipeline.workload.engine = settings::Engine::Eager;
  EXPECT_EQ(engine_note(settings), std::nullopt) << "as requested";
  settings.pipeline.workload.engine = settings::Engine::Auto;
  settings.device = {.kind = settings::Device::Kind::Cpu, .index = {}};
  EXPECT_EQ(engine_note(settings), std::nullopt) << "there is no other on a CPU";
}

TEST(HandedConfig, DiffersFromTheBaselinesInTheListedValuesOnly) {
  const Node config = parse(R"({"a": 1, "pipeline": {"torch_profiler": {"enable": "auto",
      "output": {"prediction": {"enable": false}, "visualization": {"enable": true}}}}})");
  const std::vector<ConfigChange> changes = changes_under_profiler(config);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].key, "pipeline.torch_profiler.enable");
  EXPECT_EQ(changes[1].key, "pipeline.torch_profiler.output.visualization.enable");
  RunSetup setup;
  setup.config = config;
  auto text = handed_config(setup, changes);
  ASSERT_TRUE(text);
  EXPECT_EQ(parse(*text), parse(R"({"schema": "profline.resolved_config/1", "a": 1,
      "pipeline": {"torch_profiler": {"enable": false,
      "output": {"prediction": {"enable": false}, "visualization": {"enable": false}}}}})"));
}

TEST(HandedConfig, HasNoSecretsAndTheWorkloadGetsThemInItsEnvironment) {
  RunSetup setup;
  setup.settings.device.kind = settings::Device::Kind::Cuda;
  setup.config = parse(R"({"model": {"path": "/m", "prompt": "see https://me:hunter2@host/x"}})");
  const Node handed = parse(handed_config(setup, {}).value());
  EXPECT_EQ(handed, parse(R"({"schema": "profline.resolved_config/1",
      "model": {"path": "/m", "prompt": "see https://me:<redacted>@host/x"}})"));
  const WorkloadRun run{"baseline", "baseline", "/c", "/runs/1/baseline"};
  const Command command = workload_command({setup, Toolbox()}, run);
  ASSERT_EQ(command.env.size(), 1U);
  EXPECT_EQ(parse(command.env.at("PROFLINE_CONFIG_SECRETS")),
            parse(R"({"model": {"prompt": "see https://me:hunter2@host/x"}})"));
  EXPECT_EQ(redacted(command, Redactor()).env.at("PROFLINE_CONFIG_SECRETS"), "<redacted>");
  setup.settings.pipeline.workload.command = {"python3", "a.py"};
  EXPECT_EQ(workload_command({setup, Toolbox()}, run).env.count("PROFLINE_CONFIG_SECRETS"), 0U)
      << "a program of the user's own has its own ways";
}

}  // namespace
}  // namespace profline::pipeline
