// `profline plan`: which stages the configuration enables.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/json.h"
#include "profline_binary.h"
#include "testing/temp_dir.h"

namespace profline::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> stage_states(const Node& job) {
  std::vector<std::string> states;
  for (const Node& stage : job.find("stages")->as_list()) {
    states.push_back(stage.find("name")->as_string() + " " + stage.find("state")->as_string());
  }
  return states;
}

Node planned(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"plan", "--format", "json"});
  const Outcome outcome = run_profline(std::move(arguments));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  auto document = parse_json(outcome.out, "plan");
  EXPECT_TRUE(document) << document.error().to_string();
  return document ? std::move(*document) : Node();
}

TEST(Plan, ListsAllStagesWithWhatSwitchesThem) {
  const Node plan = planned({"pipeline.nsys.enable=auto", "--nsys", "no-such-nsys", "device=cpu"});
  ASSERT_TRUE(plan.is_map());
  EXPECT_EQ(plan.find("schema")->as_string(), "profline.plan/1");
  ASSERT_EQ(plan.find("jobs")->as_list().size(), 1U);
  const Node& job = plan.find("jobs")->as_list().front();
  EXPECT_THAT(stage_states(job),
              ElementsAre("static_analysis on", "baseline on", "torch_profiler on", "nsys skipped",
                          "ncu off", "direct_inference off"));
  const Node& nsys = job.find("stages")->as_list()[3];
  EXPECT_EQ(nsys.find("why")->as_string(), "pipeline.nsys.enable is auto (override 1)");
  EXPECT_FALSE(nsys.find("findings")->as_list().empty());
  EXPECT_TRUE(job.find("stages")->as_list()[4].find("settings")->as_map().empty());
  EXPECT_EQ(job.find("settings")->find("device")->as_string(), "cpu");
}

TEST(Plan, BaselineFollowsWhatIsMeasuredAgainstIt) {
  const std::string off = "pipeline.torch_profiler.enable=false";
  const Node nothing = planned({off}).find("jobs")->as_list().front();
  EXPECT_EQ(stage_states(nothing)[1], "baseline off");
  const Node skipped = planned({off, "pipeline.nsys.enable=auto", "--nsys", "no-such-nsys"})
                           .find("jobs")
                           ->as_list()
                           .front();
  EXPECT_EQ(stage_states(skipped)[1], "baseline off");
  const Node asked =
      planned({off, "pipeline.baseline.enable=true"}).find("jobs")->as_list().front();
  EXPECT_EQ(stage_states(asked)[1], "baseline on");
}

constexpr std::string_view kLetters = "sbtncd";
constexpr const char* kStages[] = {"static_analysis", "baseline", "torch_profiler", "nsys", "ncu",
                                   "direct_inference"};

/// The enabled stages, one letter each, in order.
std::string on_letters(const Node& job) {
  std::string letters;
  const std::vector<Node>& stages = job.find("stages")->as_list();
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (stages[i].find("state")->as_string() == "on") letters += kLetters[i];
  }
  return letters;
}

/// `sb` of the first two; what is left of nothing is nothing.
std::string letters_of(unsigned bits) {
  std::string letters;
  for (std::size_t i = 0; i < kLetters.size(); ++i) {
    if ((bits >> i & 1U) != 0) letters += kLetters[i];
  }
  return letters;
}

std::vector<std::string> switched(unsigned bits) {
  std::vector<std::string> overrides = {"--config-name", "demo", "device=cpu"};
  for (std::size_t i = 0; i < kLetters.size(); ++i) {
    overrides.push_back("pipeline." + std::string(kStages[i]) +
                        ".enable=" + ((bits >> i & 1U) != 0 ? "true" : "false"));
  }
  return overrides;
}

constexpr unsigned kCombinations = 1U << kLetters.size();

TEST(Plan, EveryCombinationOfStagesIsThatCombination) {
  std::vector<std::string> nothing = switched(0);
  nothing.insert(nothing.begin(), "plan");
  const Outcome refused = run_profline(nothing);
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(
      refused.err,
      "profline: no stage is enabled; enable one, as in pipeline.static_analysis.enable=true\n");
  for (unsigned bits = 1; bits < kCombinations; ++bits) {
    SCOPED_TRACE(letters_of(bits));
    const Node plan = planned(switched(bits));
    ASSERT_EQ(plan.find("jobs")->as_list().size(), 1U);
    EXPECT_EQ(on_letters(plan.find("jobs")->as_list().front()), letters_of(bits));
  }
}

TEST(Plan, ABaselineLeftToItselfIsOnWithWhateverIsMeasuredAgainstIt) {
  constexpr unsigned kBaseline = 1U << 1U;
  constexpr unsigned kMeasured = 1U << 2U | 1U << 3U | 1U << 4U;
  for (unsigned bits = 0; bits < kCombinations; ++bits) {
    if ((bits & kBaseline) != 0 || bits == 0) continue;
    SCOPED_TRACE(letters_of(bits));
    std::vector<std::string> words = switched(bits);
    words.emplace_back("pipeline.baseline.enable=auto");
    const Node plan = planned(std::move(words));
    const bool is_on = (bits & kMeasured) != 0;
    const Node& job = plan.find("jobs")->as_list().front();
    EXPECT_EQ(on_letters(job), letters_of(is_on ? bits | kBaseline : bits));
    const std::string& why = job.find("stages")->as_list()[1].find("why")->as_string();
    EXPECT_THAT(why, HasSubstr(is_on ? ", and stages that are compared with it are on: "
                                     : ", and no stage that is compared with it is on"));
  }
}

TEST(Plan, PrintsWhatWouldRunAndRunsNothing) {
  const testing::TempDir folder;
  const std::vector<std::string> words = {"--config-name", "demo", "device=cpu",
                                          "hydra.run.dir=out", "pipeline.nsys.enable=false"};
  std::vector<std::string> plan = words;
  plan.insert(plan.begin(), "plan");
  const Outcome outcome = run_profline_in(folder.path(), plan);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::string out = (std::filesystem::canonical(folder.path()) / "out").string();
  EXPECT_THAT(outcome.out, ::testing::StartsWith("run directory: " + out + "\n"));
  EXPECT_THAT(outcome.out,
              HasSubstr("\nncu               off      pipeline.ncu.enable is false (<profline>/"
                        "config.yaml:"));
  EXPECT_THAT(outcome.out, HasSubstr("    $ cd " + out + "/baseline && "));
  EXPECT_THAT(outcome.out, HasSubstr(" --mode baseline --config " + out +
                                     "/config.resolved.json --out " + out + "/baseline --base "));
  EXPECT_THAT(outcome.out, HasSubstr("\n  writes requests.jsonl, metrics.json"));
  EXPECT_THAT(outcome.out, HasSubstr("\n  limited to 64 tokens after prefill"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  for (const char* verb : {"run", "demo", ""}) {
    std::vector<std::string> same = words;
    same.emplace_back("--dry-run");
    if (*verb != 0) same.insert(same.begin(), verb);
    EXPECT_EQ(run_profline_in(folder.path(), same).out, outcome.out) << verb;
  }
}

TEST(Plan, ReportsWhatPreflightFoundAndWhatIsChangedUnderAProfiler) {
  const Node job = planned({"--config-name", "demo", "device=cuda:7", "pipeline.nsys.enable=true"})
                       .find("jobs")
                       ->as_list()
                       .front();
  std::vector<std::string> codes;
  for (const Node& finding : job.find("findings")->as_list()) {
    codes.push_back(finding.find("code")->as_string());
  }
  std::erase_if(codes, [](const std::string& code) { return code.starts_with("disk_"); });
  EXPECT_EQ(codes, std::vector<std::string>{"device_absent"});
  const Node& changes = *job.find("stages")->as_list()[3].find("changes");
  ASSERT_FALSE(changes.as_list().empty());
  EXPECT_EQ(changes.as_list()[0].find("key")->as_string(), "pipeline.torch_profiler.enable");
  EXPECT_EQ(changes.as_list()[0].find("value")->as_bool(), false);
}

/// The plan of one stage of the demo on a CPU, in a folder with its own presets.
std::string planned_in(const std::filesystem::path& folder, std::vector<std::string> overrides) {
  overrides.insert(overrides.begin(),
                   {"plan", "--config-name", "demo", "--config-dir", "conf", "device=cpu",
                    "pipeline.nsys.enable=false", "pipeline.torch_profiler.enable=false",
                    "pipeline.static_analysis.enable=false"});
  const Outcome outcome = run_profline_in(folder, std::move(overrides));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return outcome.out;
}

TEST(Plan, PassesToolsNothingThatAPresetLeavesOut) {
  const testing::TempDir folder;
  write_files(folder.path(),
              {{"conf/profiling/ncu/mine.yaml", "ncu_cli:\n  set: detailed\n"},
               {"conf/profiling/nsys/mine.yaml", "capture_range: nvtx\nnvtx_capture: decode\n"}});
  const std::string ncu =
      planned_in(folder.path(), {"profiling/ncu@pipeline.ncu=mine", "pipeline.ncu.enable=true"});
  EXPECT_THAT(ncu, HasSubstr("ncu --set detailed -o "));
  EXPECT_THAT(ncu, HasSubstr("/ncu/run --nvtx --launch-count 2000 --log-file "));
  EXPECT_THAT(ncu, HasSubstr("/ncu/ncu.log "));
  EXPECT_THAT(ncu, Not(HasSubstr("--metrics")));
  const std::string nsys =
      planned_in(folder.path(), {"profiling/nsys@pipeline.nsys=mine", "pipeline.nsys.enable=true"});
  EXPECT_THAT(nsys, HasSubstr(" --force-overwrite=true --capture-range=nvtx "
                              "--nvtx-capture=decode -o "));
  EXPECT_THAT(nsys, Not(HasSubstr("--trace=")));
  EXPECT_THAT(nsys, Not(HasSubstr("--sample=")));
}

TEST(Plan, OfNcuGatesOnDecodeAndSaysWhatTheBoundCovers) {
  const testing::TempDir folder;
  write_files(folder.path(), {{"conf/none.yaml", "{}\n"}});
  const std::string built_in = planned_in(folder.path(), {"pipeline.ncu.enable=true"});
  EXPECT_THAT(built_in, HasSubstr(" --nvtx-include decode/ --launch-count 2000 "));
  EXPECT_THAT(built_in,
              HasSubstr("\n  limited to at most 2000 launches (pipeline.ncu.max_launches)\n"));
  const std::string first =
      planned_in(folder.path(), {"pipeline.ncu.enable=true", "pipeline.ncu.budget_s=null"});
  EXPECT_THAT(first, HasSubstr("\n  limited to the first 2000 launches inside decode "
                               "(pipeline.ncu.max_launches)\n"));
  const std::string program = planned_in(
      folder.path(), {"pipeline.ncu.enable=true", "pipeline.workload.command=[/bin/true]"});
  EXPECT_THAT(program, HasSubstr("\n  note: if your program launches nothing inside decode, the "
                                 "rerun profiles the first 200 launches from the program's start, "
                                 "loading and warm-up included"));
  const std::string ungated = planned_in(
      folder.path(), {"pipeline.ncu.enable=true", "pipeline.workload.command=[/bin/true]",
                      "pipeline.ncu.ncu_cli.nvtx.include=null", "pipeline.ncu.budget_s=null"});
  EXPECT_THAT(ungated, HasSubstr("\n  limited to the first 2000 launches from the program's start, "
                                 "loading and warm-up included (pipeline.ncu.max_launches)\n"));
}

TEST(Plan, SaysWhichRequestsAreProfiled) {
  const testing::TempDir folder;
  write_files(folder.path(), {{"conf/none.yaml", "{}\n"}});
  struct Case {
    std::vector<std::string> overrides;
    std::string_view said;
  };
  const Case cases[] = {
      {{},
       "\n  limited to the first request, because dataset.sampling.num_samples_per_epoch is null "
       "(pipeline.nsys.samples=N takes the first N)\n"},
      {{"dataset.sampling.num_samples_per_epoch=3"},
       "\n  note: all requests of the baseline are profiled, because "
       "dataset.sampling.num_samples_per_epoch is 3; pipeline.nsys.samples=N takes the first N\n"},
      {{"dataset.sampling.num_samples_per_epoch=3", "pipeline.nsys.samples=2"},
       "\n  limited to the first 2 requests (pipeline.nsys.samples)\n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.said);
    std::vector<std::string> overrides = c.overrides;
    overrides.emplace_back("pipeline.nsys.enable=true");
    EXPECT_THAT(planned_in(folder.path(), overrides), HasSubstr(c.said));
  }
}

TEST(Plan, MultirunPlansEachJob) {
  const Node plan = planned({"-m", "device=cpu,cuda", "infer.max_new_tokens=range(1,3)"});
  std::vector<std::vector<std::string>> overrides;
  for (const Node& job : plan.find("jobs")->as_list()) {
    std::vector<std::string> of_job;
    for (const Node& text : job.find("overrides")->as_list()) of_job.push_back(text.as_string());
    overrides.push_back(std::move(of_job));
  }
  EXPECT_THAT(overrides, ElementsAre(ElementsAre("device=cpu", "infer.max_new_tokens=1"),
                                     ElementsAre("device=cpu", "infer.max_new_tokens=2"),
                                     ElementsAre("device=cuda", "infer.max_new_tokens=1"),
                                     ElementsAre("device=cuda", "infer.max_new_tokens=2")));
}

TEST(Plan, RefusesWhatCouldNotRun) {
  struct Case {
    std::vector<std::string> arguments;
    std::string_view err;
  };
  const Case cases[] = {
      {{"plan", "pipeline.static_analysis.enable=false", "pipeline.torch_profiler.enable=false"},
       "profline: no stage is enabled; enable one, as in pipeline.static_analysis.enable=true\n"},
      {{"plan", "--resolve"}, "profline: --resolve is for showing the config: add --cfg job\n"},
      {{"plan", "device=cpu,cuda"},
       "profline: override 1:1:8: 'cpu,cuda' is ambiguous: for a list write "
       "device=[cpu,cuda], for a string quote it (device='cpu,cuda'), and to run one job for each "
       "add --multirun\n"
       "  device=cpu,cuda\n"
       "         ^\n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.err);
    const Outcome outcome = run_profline(c.arguments);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, c.err);
  }
}

}  // namespace
}  // namespace profline::e2e
