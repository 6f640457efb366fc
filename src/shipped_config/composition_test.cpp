#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/compose.h"
#include "schema/diff.h"
#include "schema/docs.h"
#include "settings/root.h"
#include "shipped_config/shipped_config.h"

namespace profline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Overrides = std::vector<std::string>;
using settings::Layout;
using DeepseekOcr = settings::deepseek_ocr::Subject;
using DummyResnet = settings::dummy_shallow_resnet::Subject;

std::shared_ptr<const config::ConfigSource> shipped_source() {
  config::EmbeddedSource::Files files;
  for (const EmbeddedFile& file : shipped_config_files()) {
    files.emplace(std::string(file.path), file.text);
  }
  return std::make_shared<config::EmbeddedSource>("profline", std::move(files));
}

/// The environment of a command line started in /start at 2026-01-02 03:04:05.
class Composer {
 public:
  Composer() {
    context_.resolvers = &resolvers_;
    context_.clock = [] { return config::LocalTime{2026, 1, 2, 3, 4, 5, 0}; };
  }

  Result<config::Composition> compose(const std::string& name, const Overrides& overrides) {
    const config::ComposeRequest request{.search_path = config::SearchPath::standard(source_),
                                         .config_name = name,
                                         .overrides = overrides,
                                         .mode = config::RunMode::Run,
                                         .job_name = "profline",
                                         .cwd = "/start"};
    return config::compose(request, context_);
  }

  Result<Node> resolve(const config::Composition& composition) {
    context_.hydra_root = &composition.root;
    config::Resolution resolution(composition.config, context_);
    return resolution.resolve_all();
  }

  Result<Node> config(const std::string& name, const Overrides& overrides = {}) {
    const config::Composition composition = PL_TRY(compose(name, overrides));
    return resolve(composition);
  }

  Result<settings::Root> settings(const std::string& name, const Overrides& overrides = {}) {
    return settings::read_settings(PL_TRY(config(name, overrides)));
  }

 private:
  std::shared_ptr<const config::ConfigSource> source_ = shipped_source();
  config::ResolverRegistry resolvers_ = config::ResolverRegistry::standard();
  config::ResolveContext context_;
};

/// Empty if the config is valid.
std::string problems_of(const std::string& name, const Overrides& overrides = {}) {
  const auto settings = Composer().settings(name, overrides);
  return settings ? std::string() : settings.error().to_string();
}

TEST(ShippedComposition, IsSoundForEachPrimaryConfig) {
  for (const char* name : {"config", "demo", "dummy"}) EXPECT_EQ(problems_of(name), "") << name;
}

/// One line per preset: how it is chosen.
const std::vector<Overrides> kPresets = {
    {},
    {"dataset=synthetic"},
    {"dataset=files", "dataset.files=[page.png]"},
    {"dataset/sampling=random"},
    {"model/deepseek_ocr/arch@model=deepseek_ocr.random"},
    {"model/deepseek_ocr/arch@model=deepseek_ocr.tiny"},
    {"model/deepseek_ocr/infer@infer=deepseek_ocr.fast"},
    {"profiling/torch@pipeline.torch_profiler=torch-profiler.min"},
    {"profiling/torch@pipeline.torch_profiler=torch-profiler.max"},
    {"profiling/nsys@pipeline.nsys=nsys.default", "pipeline.nsys.enable=true"},
    {"profiling/ncu@pipeline.ncu=ncu.high", "pipeline.ncu.enable=true"},
    {"profiling/ncu@pipeline.ncu=ncu.h200", "pipeline.ncu.enable=true"},
    {"profiling/ncu@pipeline.ncu=ncu.rtx3090", "pipeline.ncu.enable=true"},
    {"profiling/ncu@pipeline.ncu=ncu.rtx3090.compute", "pipeline.ncu.enable=true"},
    {"profiling/ncu@pipeline.ncu=ncu.rtx3090.memory", "pipeline.ncu.enable=true"},
};

TEST(ShippedComposition, IsSoundForEachPreset) {
  for (const Overrides& overrides : kPresets) {
    EXPECT_EQ(problems_of("config", overrides), "") << ::testing::PrintToString(overrides);
  }
}

/// The documented keys that are missing from the composed config.
template <typename Subject>
std::vector<std::string> missing_keys(const Node& config) {
  std::vector<std::string> missing;
  for (const schema::FieldDoc& doc : schema::describe<Layout<Subject>>()) {
    const bool is_repeated = doc.path.find('<') != std::string::npos;
    const bool is_of_servers = doc.path.starts_with("pipeline.workload.server") ||
                               doc.path.starts_with("pipeline.workload.load") ||
                               doc.path.starts_with("pipeline.workload.window");
    const bool is_of_programs = doc.path.starts_with("pipeline.workload.ranks");
    if (is_repeated || is_of_servers || is_of_programs) continue;
    if (config.find_path(doc.path) == nullptr) missing.push_back(doc.path);
  }
  return missing;
}

// A key that is only in the schema could not be overridden without '+'.
TEST(ShippedComposition, HasEveryKeyWhicheverPresetIsChosen) {
  Composer composer;
  for (const Overrides& overrides : kPresets) {
    SCOPED_TRACE(::testing::PrintToString(overrides));
    const auto config = composer.config("config", overrides);
    ASSERT_TRUE(config) << config.error().to_string();
    EXPECT_THAT(missing_keys<DeepseekOcr>(*config), ElementsAre());
  }
}

TEST(ShippedComposition, HasEveryKeyOfALoad) {
  const auto config = Composer().config("load", {"pipeline.workload.server.url=http://host"});
  ASSERT_TRUE(config) << config.error().to_string();
  for (const schema::FieldDoc& doc : schema::describe<settings::Load>("pipeline.workload.load")) {
    EXPECT_NE(config->find_path(doc.path), nullptr) << doc.path;
  }
  const auto settings = settings::read_settings(*config);
  ASSERT_TRUE(settings) << settings.error().to_string();
  EXPECT_EQ(settings->pipeline.workload.load, settings::Load{});
}

// Options of nsys and ncu have no values other than those in the presets.
TEST(ShippedComposition, DiffersFromTheProgramsDefaultsInFoldersAndOptionsOfToolsOnly) {
  const auto config = Composer().config("config");
  ASSERT_TRUE(config) << config.error().to_string();
  const auto composed = schema::read<Layout<DeepseekOcr>>(*config);
  ASSERT_TRUE(composed) << composed.error().to_string();
  std::string changes;
  for (const schema::Change& change : schema::diff(Layout<DeepseekOcr>{}, *composed)) {
    changes += change.to_string() + '\n';
  }
  EXPECT_EQ(changes,
            "dataset.root: datasets/omnidocbench/source-data -> "
            "/start/datasets/omnidocbench/source-data\n"
            "pipeline.nsys.trace: null -> [cuda, nvtx, osrt]\n"
            "pipeline.nsys.sample: null -> none\n"
            "pipeline.nsys.capture_range_end: null -> stop\n"
            "pipeline.nsys.nvtx_capture: null -> [prefill]\n"
            "pipeline.ncu.max_launches: null -> 2000\n"
            "pipeline.ncu.budget_s: null -> 120\n"
            "pipeline.ncu.description: null -> standard kernel profile\n"
            "pipeline.ncu.ncu_cli.target_processes: null -> all\n"
            "pipeline.ncu.ncu_cli.replay_mode: null -> kernel\n"
            "pipeline.ncu.ncu_cli.nvtx.include: null -> [decode]\n"
            "pipeline.ncu.ncu_cli.set: null -> roofline\n"
            "pipeline.ncu.ncu_cli.metrics: null -> [flop_count_hp, flop_count_sp, "
            "gpu__time_duration.sum, sm__throughput.avg.pct_of_peak_sustained_elapsed, "
            "dram__throughput.avg.pct_of_peak_sustained_elapsed]\n"
            "pipeline.ncu.ncu_cli.sections: null -> [SpeedOfLight, MemoryWorkloadAnalysis, "
            "Occupancy, SchedulerStats]\n"
            "pipeline.ncu.ncu_cli.kernel_name_base: null -> demangled\n"
            "pipeline.ncu.ncu_cli.force_overwrite: false -> true\n"
            "pipeline.workload.cwd: . -> /start\n"
            "model.path: models/deepseek-ocr -> /start/models/deepseek-ocr\n");
}

TEST(ShippedComposition, HasKeysInTheOrderInWhichTheyWereFirstSeen) {
  const auto config = Composer().config("config");
  ASSERT_TRUE(config) << config.error().to_string();
  EXPECT_THAT(config->as_map().string_keys(),
              ElementsAre("dataset", "model", "infer", "pipeline", "experiment", "device",
                          "use_flash_attn", "vars", "ceilings"));
  EXPECT_THAT(config->find("pipeline")->as_map().string_keys(),
              ElementsAre("torch_profiler", "direct_inference", "nsys", "ncu", "static_analysis",
                          "baseline", "workload", "keep_going"));
}

TEST(ShippedComposition, PutsEachRunIntoItsOwnFolder) {
  Composer composer;
  const auto composition = composer.compose("config", {});
  ASSERT_TRUE(composition) << composition.error().to_string();
  config::ResolverRegistry resolvers = config::ResolverRegistry::standard();
  config::ResolveContext context;
  context.resolvers = &resolvers;
  context.clock = [] { return config::LocalTime{2026, 1, 2, 3, 4, 5, 0}; };
  context.hydra_root = &composition->root;
  config::Resolution resolution(composition->root, context);
  const auto dir = resolution.get("hydra.run.dir");
  ASSERT_TRUE(dir) << dir.error().to_string();
  EXPECT_EQ(*dir, Node::string("/start/tmp/profile-output/20260102-030405"));
  EXPECT_EQ(*resolution.get("hydra.output_subdir"), Node());
  EXPECT_EQ(*resolution.get("hydra.job.chdir"), Node::boolean(true));
}

TEST(ShippedComposition, DemoNeedsNeitherAGpuNorADownload) {
  const auto demo = Composer().settings("demo");
  ASSERT_TRUE(demo) << demo.error().to_string();
  EXPECT_EQ(demo->device.to_string(), "auto");
  EXPECT_TRUE(std::holds_alternative<settings::SyntheticPages>(demo->dataset.images));
  EXPECT_EQ(demo->pipeline.nsys.enable, settings::Enable::Auto);
  EXPECT_EQ(demo->pipeline.ncu.enable, settings::Enable::No);
  const auto& subject = std::get<DeepseekOcr>(demo->subject);
  EXPECT_EQ(subject.model.path, std::nullopt);
  EXPECT_EQ(subject.model.variant, settings::deepseek_ocr::Variant::Tiny);
  EXPECT_EQ(subject.model.dtype, settings::Dtype::Fp32);
  EXPECT_EQ(subject.model.preprocess.crop_threshold, 128U);
  EXPECT_EQ(subject.infer.max_new_tokens, 64U);
}

TEST(ShippedComposition, DummyReplacesTheKeysOfDeepSeek) {
  const auto config = Composer().config("dummy");
  ASSERT_TRUE(config) << config.error().to_string();
  EXPECT_THAT(config->find("model")->as_map().string_keys(),
              ElementsAre("description", "name", "path", "preprocess"));
  EXPECT_THAT(config->find("infer")->as_map().string_keys(),
              ElementsAre("description", "dtype", "batch_size", "device"));
  EXPECT_EQ(config->find_path("pipeline.torch_profiler.output.extra"), nullptr);
  const auto dummy = settings::read_settings(*config);
  ASSERT_TRUE(dummy) << dummy.error().to_string();
  EXPECT_EQ(std::get<DummyResnet>(dummy->subject).infer.batch_size, 4U);
  EXPECT_EQ(dummy->pipeline.workload.kind, settings::WorkloadKind::DummyShallowResnet);
}

TEST(ShippedComposition, AProgramNeedsNoModelAndNoDataset) {
  const auto program = Composer().settings("program", {"pipeline.workload.command=[python3,x.py]"});
  ASSERT_TRUE(program) << program.error().to_string();
  EXPECT_EQ(program->pipeline.workload.kind, settings::WorkloadKind::Program);
  EXPECT_EQ(std::get<settings::program::Subject>(program->subject).model.config, std::nullopt);
  EXPECT_EQ(program->device.to_string(), "auto");
  EXPECT_EQ(program->pipeline.baseline.enable, settings::Enable::Yes);
  for (const settings::Stage* stage : std::initializer_list<const settings::Stage*>{
           &program->pipeline.static_analysis, &program->pipeline.torch_profiler,
           &program->pipeline.nsys}) {
    EXPECT_EQ(stage->enable, settings::Enable::Auto);
  }
  EXPECT_EQ(program->pipeline.ncu.enable, settings::Enable::No);
  EXPECT_EQ(program->pipeline.direct_inference.enable, settings::Enable::No);
}

TEST(ShippedComposition, TakesTheOverridesThatPeopleWereUsedTo) {
  const std::vector<Overrides> given = {
      {"infer.max_new_tokens=64", "dataset.sampling.num_samples_per_epoch=3"},
      {"pipeline.torch_profiler.activities=[cpu,cuda]", "pipeline.torch_profiler.enabled=false"},
      {"dataset.subset_filelist=lists/dev-20.txt", "device=cuda:1"},
      {"pipeline.ncu.ncu_cli.nvtx.include=decode*"},
      {"pipeline.nsys.enable=true", "pipeline.nsys.capture_range=nvtx",
       "pipeline.nsys.capture_range_end="},
      {"pipeline.nsys.capture_range_end=''"},
      {"pipeline.ncu.ncu_cli.nvtx.include='A;B;A::A1'", "pipeline.ncu.ncu_cli.replay_mode=range"},
      {"pipeline.nsys.enable=true", "pipeline.nsys.capture_range=nvtx",
       "pipeline.nsys.nvtx_capture=decode@*", "pipeline.nsys.capture_range_end=repeat:3"},
      {"pipeline.nsys.capture_range=none", "pipeline.nsys.gating_nvtx=false"},
      {"pipeline.ncu.ncu_cli.kernel_name='regex:gemm.*'", "pipeline.ncu.ncu_cli.launch_count=5"},
      {"pipeline.ncu.ncu_cli.metrics=null", "pipeline.ncu.ncu_cli.sections=[SpeedOfLight]"},
      {"hydra.run.dir=runs/one", "hydra.job.chdir=true"},
      {"pipeline.workload.command=[python3,serve.py]"},
      {"+vars.mine=1", "experiment=${vars.mine}-x"},
      {"dataset=synthetic", "dataset.page_sizes=[10x20,30x40]"},
  };
  for (const Overrides& overrides : given) {
    EXPECT_EQ(problems_of("config", overrides), "") << ::testing::PrintToString(overrides);
  }
}

TEST(ShippedComposition, GatesNcuOnDecodeWhicheverPresetIsChosen) {
  Composer composer;
  for (const char* preset : {"ncu.default", "ncu.high", "ncu.h200"}) {
    const auto root = composer.settings(
        "config",
        {"profiling/ncu@pipeline.ncu=" + std::string(preset), "pipeline.ncu.enable=true"});
    ASSERT_TRUE(root) << root.error().to_string();
    EXPECT_EQ(root->pipeline.ncu.ncu_cli.nvtx.include, schema::SemicolonList{{"decode"}}) << preset;
    EXPECT_EQ(root->pipeline.ncu.max_launches, 2000U);
  }
  const auto dummy = composer.settings("dummy", {"pipeline.ncu.enable=true"});
  ASSERT_TRUE(dummy) << dummy.error().to_string();
  EXPECT_EQ(dummy->pipeline.ncu.ncu_cli.nvtx.include,
            (schema::SemicolonList{{"stem", "residual", "head"}}))
      << "it opens no decode";
}

TEST(ShippedComposition, SwitchesTheTorchProfilerByItsPreset) {
  const auto root = Composer().settings("config", {"pipeline.torch_profiler.enabled=false",
                                                   "pipeline.torch_profiler.warmup_rounds=5"});
  ASSERT_TRUE(root) << root.error().to_string();
  EXPECT_EQ(root->pipeline.torch_profiler.enable, settings::Enable::No);
  EXPECT_EQ(root->pipeline.baseline.warmup_rounds, 5U);
}

TEST(ShippedComposition, RefusesRemovedKeysWithAndWithoutAPlus) {
  const auto plain = Composer().settings("config", {"run.mode=deep"});
  ASSERT_FALSE(plain);
  EXPECT_EQ(plain.error().reason(), "key_not_in_config");
  EXPECT_THAT(problems_of("config", {"+run.mode=deep"}),
              HasSubstr("key 'run.mode' was removed: switch stages with pipeline.<stage>.enable"));
}

TEST(ShippedComposition, RefusesTheMountOfAGroupThatMountsThereAnyway) {
  const auto refused = Composer().settings("config", {"dataset/sampling@dataset.sampling=random"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason(), "group_override_no_match");
}

TEST(ShippedComposition, TellsWhichOverrideIsWrong) {
  const auto wrong = Composer().settings(
      "config", {"device=cpu", "infer.max_new_tokens=inf", "+pipeline.ncu.ncu_cli.sets=full"});
  ASSERT_FALSE(wrong);
  std::vector<std::string> problems;
  for (const Error& problem : wrong.error().each()) {
    ASSERT_TRUE(problem.position());
    problems.push_back(problem.position()->to_string() + " | " + problem.message());
  }
  EXPECT_THAT(problems,
              ElementsAre("override 2:1:22 | infer.max_new_tokens: must be an integer from 1 to "
                          "1048576, not the float .inf",
                          "override 3:1:23 | pipeline.ncu.ncu_cli: unknown key 'sets' (did you "
                          "mean 'set'?)"));
}

}  // namespace
}  // namespace profline
