// `profline plan`: which stages the configuration switches on.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/json.h"
#include "profline_binary.h"
#include "testing/temp_dir.h"

namespace profline::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

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
  const Node plan = planned({"pipeline.nsys.enable=auto", "device=cpu"});
  ASSERT_TRUE(plan.is_map());
  EXPECT_EQ(plan.find("schema")->as_string(), "profline.plan/1");
  ASSERT_EQ(plan.find("jobs")->as_list().size(), 1U);
  const Node& job = plan.find("jobs")->as_list().front();
  EXPECT_THAT(stage_states(job),
              ElementsAre("static_analysis on", "baseline on", "torch_profiler on", "nsys auto",
                          "ncu off", "direct_inference off"));
  const Node& nsys = job.find("stages")->as_list()[3];
  EXPECT_EQ(nsys.find("why")->as_string(), "pipeline.nsys.enable is auto (override 1)");
  EXPECT_EQ(nsys.find("settings")->find("pipeline.nsys.samples")->as_int(), 1);
  EXPECT_TRUE(job.find("stages")->as_list()[4].find("settings")->as_map().empty());
  EXPECT_EQ(job.find("settings")->find("device")->as_string(), "cpu");
}

TEST(Plan, BaselineFollowsWhatIsMeasuredAgainstIt) {
  const std::string off = "pipeline.torch_profiler.enable=false";
  const Node nothing = planned({off}).find("jobs")->as_list().front();
  EXPECT_EQ(stage_states(nothing)[1], "baseline off");
  const Node maybe = planned({off, "pipeline.ncu.enable=auto"}).find("jobs")->as_list().front();
  EXPECT_EQ(stage_states(maybe)[1], "baseline auto");
  const Node asked =
      planned({off, "pipeline.baseline.enable=true"}).find("jobs")->as_list().front();
  EXPECT_EQ(stage_states(asked)[1], "baseline on");
}

TEST(Plan, SaysThatCommandsAreStillToCome) {
  const testing::TempDir folder;
  const Outcome outcome = run_profline_in(folder.path(), {"plan", "hydra.run.dir=out"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, ::testing::StartsWith("run directory: out\n"));
  EXPECT_THAT(outcome.out,
              HasSubstr("\nncu               off   pipeline.ncu.enable is false (<profline>/config."
                        "yaml:"));
  EXPECT_THAT(outcome.out,
              EndsWith("\nthe commands of the stages are not part of this version yet: this is "
                       "what the config asks for, and nothing was run or looked for\n"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  for (const std::vector<std::string>& same :
       {std::vector<std::string>{"--dry-run", "hydra.run.dir=out"},
        std::vector<std::string>{"run", "hydra.run.dir=out", "--dry-run"}}) {
    EXPECT_EQ(run_profline_in(folder.path(), same).out, outcome.out);
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
       "profline: no stage is on; switch one on, as in pipeline.static_analysis.enable=true\n"},
      {{"plan", "--resolve"}, "profline: --resolve is for showing the config: add --cfg job\n"},
      {{"plan", "device=cpu,cuda"},
       "profline: override 1:1:8: 'cpu,cuda' may mean three things: for a list write "
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
