#include "session/configuration.h"

#include <algorithm>

#include "formats/yaml.h"
#include "session/testing_session.h"

namespace profline::session {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ConfigurationTest : public SessionTest {
 protected:
  std::string failure(const ConfigChoice& chosen) const {
    const auto configuration = Configuration::compose(chosen);
    return configuration ? "composed" : configuration.error().to_string();
  }
};

TEST_F(ConfigurationTest, OwnConfigsComeBeforeTheShippedOnes) {
  EXPECT_EQ(composed(choice())->composition().config.find("device")->as_string(), "cpu");
  // ./conf counts only where it has the config that was named.
  const auto shipped = composed(choice({}, "demo"));
  EXPECT_EQ(shipped->composition().config.find("device")->as_string(), "auto");
}

TEST_F(ConfigurationTest, FoldersOfTheCommandLineAreSearched) {
  write("elsewhere/other.yaml", "defaults: [demo, _self_]\nexperiment: other\n");
  ConfigChoice chosen = choice({}, "other");
  chosen.path = "elsewhere";
  EXPECT_EQ(composed(chosen)->composition().config.find("experiment")->as_string(), "other");
  chosen.path.reset();
  chosen.dir = "elsewhere";
  EXPECT_EQ(composed(chosen)->composition().config.find("experiment")->as_string(), "other");
  chosen.dir = "nowhere";
  EXPECT_EQ(failure(chosen), "there is no folder 'nowhere', which --config-dir names");
}

TEST_F(ConfigurationTest, AdvisesWhereAnOverrideNamesWhatWasRemoved) {
  EXPECT_THAT(failure(choice({"pipeline.torch_profiler.activities=[cpu]",
                              "dataset/sampling@dataset.sampling.wrong=default"})),
              HasSubstr("override 2"));
  EXPECT_EQ(failure(choice({"runner@stage1_runner=x"})).substr(0, 40),
            "override 1:1:1: group 'runner' was remov");
  EXPECT_EQ(
      failure(choice({"dataset@dataset=synthetic"})),
      "override 1:1:9: 'dataset' is where 'dataset' goes by default, and Hydra accepts only the "
      "group's name here: write dataset=synthetic\n"
      "  dataset@dataset=synthetic\n"
      "          ^");
}

TEST_F(ConfigurationTest, ListsAllThatIsWrongWithValues) {
  const auto configuration = composed(choice({"infer.max_new_tokens=many", "device=tpu"}));
  std::vector<std::string> problems;
  for (const Error& problem : configuration->problems()) problems.push_back(problem.to_string());
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_THAT(problems,
              ::testing::Contains(HasSubstr(
                  "override 1:1:22: infer.max_new_tokens: must be an integer from 1 to")));
  EXPECT_THAT(problems, ::testing::Contains(HasSubstr("  device=tpu\n         ^")));
  EXPECT_THAT(composed(choice())->problems(), IsEmpty());
}

TEST_F(ConfigurationTest, KnowsItsRunOnceThatHasAFolderAndANumber) {
  const auto configuration =
      composed(choice({"+vars.where=${hydra:runtime.output_dir}", "+vars.job=${hydra:job.num}"}));
  configuration->set_output_dir("/runs/7");
  configuration->set_job(7);
  const auto part = part_of(*configuration, {.of = "job", .package = "vars", .resolve = true});
  ASSERT_TRUE(part) << part.error().to_string();
  EXPECT_EQ(write_yaml(*part), "where: /runs/7\njob: 7\n");
}

TEST_F(ConfigurationTest, TheModeIsSetAsHydraSetsIt) {
  const auto configuration = composed(choice());
  configuration->set_mode(config::RunMode::Multirun);
  configuration->set_mode(config::RunMode::Multirun);
  const Node& root = configuration->composition().root;
  EXPECT_EQ(root.find_path("hydra.mode")->as_string(), "MULTIRUN");
  const Node::List& overrides = root.find_path("hydra.overrides.hydra")->as_list();
  EXPECT_EQ(std::count(overrides.begin(), overrides.end(), Node::string("hydra.mode=MULTIRUN")), 1);
}

TEST_F(ConfigurationTest, PartsAreTheJobsTheHydraNodeOrBoth) {
  const auto configuration = composed(choice());
  const Node job = part_of(*configuration, {}).value();
  EXPECT_NE(job.find("device"), nullptr);
  EXPECT_EQ(job.find("hydra"), nullptr);
  const Node hydra = part_of(*configuration, {.of = "hydra"}).value();
  EXPECT_EQ(hydra.as_map().size(), 1U);
  EXPECT_EQ(hydra.find_path("hydra.run.dir")->as_string(), "run");
  EXPECT_EQ(hydra.find_path("hydra.help"), nullptr);
  const Node both = part_of(*configuration, {.of = "all"}).value();
  EXPECT_NE(both.find("device"), nullptr);
  EXPECT_NE(both.find("hydra"), nullptr);
}

TEST_F(ConfigurationTest, APackageIsOnePartAndItsInterpolationsAreFollowed) {
  const auto configuration = composed(choice({"+vars.a=${device}"}));
  EXPECT_EQ(part_of(*configuration, {.package = "vars.a"}).value(), Node::string("cpu"));
  EXPECT_EQ(part_of(*configuration, {.package = "vars"}).value().find("a")->as_string(),
            "${device}");
  const auto missing = part_of(*configuration, {.package = "devise"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().to_string(),
            "there is no key 'devise' in the config (did you mean 'device'?)");
}

TEST_F(ConfigurationTest, RemarksAreAsManyAsSomebodyWants) {
  const auto configuration = composed(choice({"+vars.a=${oc.env:PROFLINE_TEST_UNSET,x}"}));
  report_composition(*configuration, services(0).remarks);
  EXPECT_THAT(said_, IsEmpty());
  report_composition(*configuration, services(1).remarks);
  EXPECT_THAT(said_, ::testing::Contains("profline: merged 'single' into the root"));
  EXPECT_THAT(said_, ::testing::Contains("profline: merged 'model/deepseek_ocr/arch/"
                                         "deepseek_ocr.tiny' into 'model'"));
}

TEST(Remarks, KeepTheQuietThatWasAskedFor) {
  struct Case {
    int verbosity;
    std::vector<std::string> said;
  };
  const Case cases[] = {
      {-1, {"profline: broken"}},
      {0, {"profline: broken", "profline: warning: odd", "#0 : a=1"}},
      {1, {"profline: broken", "profline: warning: odd", "#0 : a=1", "profline: merged"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.verbosity);
    std::vector<std::string> said;
    const Remarks remarks(c.verbosity, [&](const std::string& line) { said.push_back(line); });
    remarks.problem("broken");
    remarks.warning("odd");
    remarks.line("#0 : a=1");
    remarks.detail("merged");
    EXPECT_EQ(said, c.said);
  }
  Remarks().problem("nobody listens");
}

}  // namespace
}  // namespace profline::session
