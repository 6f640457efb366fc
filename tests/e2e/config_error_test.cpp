// What `profline config` reports about wrong configs and overrides.

#include <gtest/gtest.h>

#include "small_tree.h"

namespace profline::e2e {
namespace {

struct Case {
  std::vector<std::string> arguments;
  int code;
  std::string err;
};

template <std::size_t Count>
void expect_errors(const Case (&cases)[Count]) {
  const SmallTree tree;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.err);
    std::vector<std::string> arguments = c.arguments;
    arguments.insert(arguments.begin(), "config");
    const Outcome outcome = tree.run(std::move(arguments));
    EXPECT_EQ(outcome.code, c.code);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, c.err);
  }
}

TEST(ConfigError, OverridesAreShownWithACaret) {
  const Case cases[] = {
      {{"vars.nmae=1"},
       2,
       "profline: override 1:1:6: there is no key 'vars.nmae' (did you mean 'name'?); to add it "
       "write +vars.nmae=1\n"
       "  vars.nmae=1\n"
       "       ^\n"},
      {{"vars.name=x", "vars.name=[1,2"},
       2,
       "profline: override 2:1:15: expected ',' or ']', found the end\n"
       "  vars.name=[1,2\n"
       "                ^\n"},
      {{"db=mysq"},
       2,
       "profline: override 1:1:1: the group 'db' has no option 'mysq' (did you mean 'mysql'?); its "
       "options are mysql, postgresql (looked in pkg://hydra.conf, file://conf, "
       "embedded://<profline>)\n"},
  };
  expect_errors(cases);
}

TEST(ConfigError, AConfigThatCannotBeReadIsNotPassedOver) {
  const SmallTree tree;
  std::filesystem::create_directory(tree.path() / "conf/db/folder.yaml");
  // A file that even root cannot read: nothing is mapped where reading starts.
  std::filesystem::create_symlink("/proc/self/mem", tree.path() / "conf/db/torn.yaml");
  std::filesystem::create_symlink("/dev/null", tree.path() / "conf/db/device.yaml");
  const Case cases[] = {
      {{"config", "db=folder"},
       2,
       "profline: conf/db/folder.yaml is a folder, so it cannot be read as a config\n"},
      {{"config", "db=device"},
       2,
       "profline: conf/db/device.yaml is no regular file, so it cannot be read as a config\n"},
      {{"config", "db=torn"},
       1,
       "profline: cannot read " + (tree.path() / "conf/db/torn.yaml").string() +
           ": input/output error\n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.err);
    const Outcome outcome = tree.run(c.arguments);
    EXPECT_EQ(outcome.code, c.code);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, c.err);
  }
}

TEST(ConfigError, AFolderInTheEntrysPlaceIsNotPassedOver) {
  const testing::TempDir dir;
  std::filesystem::create_directories(dir / "conf/config.yaml");
  const Outcome outcome = run_profline_in(dir.path(), {"config"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err,
            "profline: conf/config.yaml is a folder, so it cannot be read as a config\n");
}

TEST(ConfigError, TenThousandOverridesEndInOneErrorOfTheWrongOne) {
  const SmallTree tree;
  std::vector<std::string> arguments{"config"};
  for (int i = 0; i < 10'000; ++i) arguments.push_back("+vars.k" + std::to_string(i) + "=1");
  arguments[5000] = "+vars.k=[1";
  const Outcome outcome = tree.run(arguments);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err,
            "profline: override 5000:1:11: expected ',' or ']', found the end\n"
            "  +vars.k=[1\n"
            "            ^\n");
}

TEST(ConfigError, NamedPlacesMustBeThere) {
  const Case cases[] = {
      {{"-cd", "nowhere"}, 3, "profline: there is no folder 'nowhere', which --config-dir names\n"},
      {{"-cp", "nowhere"}, 3, "profline: there is no folder of configs 'nowhere'\n"},
      {{"-p", "vars.nothing"}, 2, "profline: there is no key 'vars.nothing' in the config\n"},
      {{"-p", "hydra.job"}, 2, "profline: there is no key 'hydra.job' in the config\n"},
  };
  expect_errors(cases);
}

TEST(ConfigError, RemovedKeysNameWhatReplacedThem) {
  const Case cases[] = {
      {{"-cn", "demo", "run.mode=deep"},
       2,
       "profline: override 1:1:1: key 'run.mode' was removed: switch stages with "
       "pipeline.<stage>.enable\n"
       "  run.mode=deep\n"
       "  ^\n"},
      {{"-cn", "demo", "run.repeats=3"},
       2,
       "profline: override 1:1:1: key 'run.repeats' was removed: use "
       "dataset.sampling.num_samples_per_epoch\n"
       "  run.repeats=3\n"
       "  ^\n"},
      {{"-p", "run.mode"},
       2,
       "profline: key 'run.mode' was removed: switch stages with pipeline.<stage>.enable\n"},
  };
  expect_errors(cases);
}

TEST(ConfigError, TheGroupRunnerNamesWhatReplacedIt) {
  const std::string advice =
      "for stage2 write pipeline.nsys.enable=true pipeline.ncu.enable=true, for stage1.no-static "
      "pipeline.static_analysis.enable=false; stage1.default is what profline does by itself\n";
  const Case cases[] = {
      {{"-cn", "demo", "runner=stage2"},
       2,
       "profline: override 1:1:1: key 'runner' was removed: " + advice +
           "  runner=stage2\n"
           "  ^\n"},
      {{"-cn", "demo", "runner@stage1_runner=stage1.no-static"},
       2,
       "profline: override 1:1:1: group 'runner' was removed: " + advice +
           "  runner@stage1_runner=stage1.no-static\n"
           "  ^\n"},
      {{"-cn", "demo", "device=cpu", "+runner@stage1_runner=stage1.default"},
       2,
       "profline: override 2:1:2: group 'runner' was removed: " + advice +
           "  +runner@stage1_runner=stage1.default\n"
           "   ^\n"},
  };
  expect_errors(cases);
}

TEST(ConfigError, AGroupThatIsThereAlreadyIsChosenAndNotAdded) {
  const Case cases[] = {
      {{"-cn", "demo", "+dataset/sampling@dataset.sampling=default"},
       2,
       "profline: override 1:1:2: 'dataset/sampling' is in the defaults list already; to choose "
       "its option write dataset/sampling=default\n"
       "  +dataset/sampling@dataset.sampling=default\n"
       "   ^\n"},
      {{"-cn", "demo", "+dataset/sampling@dataset.sampling=random"},
       2,
       "profline: override 1:1:2: 'dataset/sampling' is in the defaults list already; to choose "
       "its option write dataset/sampling=random\n"
       "  +dataset/sampling@dataset.sampling=random\n"
       "   ^\n"},
  };
  expect_errors(cases);
}

TEST(ConfigError, ProblemsAreListedTogetherBelowTheConfig) {
  const SmallTree tree;
  const Outcome outcome =
      tree.run({"config", "+device=gpu", "+infer.max_new_tokens=0", "+run.mode=deep", "+vras=1"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out,
            "vars:\n"
            "  db:\n"
            "    host: localhost\n"
            "    port: 3306\n"
            "  name: shop\n"
            "  url: ${vars.db.host}:${vars.db.port}\n"
            "device: gpu\n"
            "infer:\n"
            "  max_new_tokens: 0\n"
            "run:\n"
            "  mode: deep\n"
            "vras: 1\n");
  EXPECT_EQ(outcome.err,
            "profline: override 3:1:6: key 'run.mode' was removed: switch stages with "
            "pipeline.<stage>.enable\n"
            "  +run.mode=deep\n"
            "       ^\n"
            "profline: override 1:1:9: device: must be one of auto, cpu, cuda, cuda:N, not 'gpu'\n"
            "  +device=gpu\n"
            "          ^\n"
            "profline: override 2:1:23: infer.max_new_tokens: must be an integer from 1 to "
            "1048576, not 0\n"
            "  +infer.max_new_tokens=0\n"
            "                        ^\n"
            "profline: override 4:1:2: unknown key 'vras' (did you mean 'vars'?)\n"
            "  +vras=1\n"
            "   ^\n");
}

TEST(ConfigError, ProblemsInFilesHaveTheirPlace) {
  const SmallTree tree;
  write_files(tree.path(), {{"conf/odd.yaml", "experiment: [1]\npipeline:\n  nsis: {}\n"}});
  const Outcome outcome = tree.run({"config", "-cn", "odd"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "experiment:\n- 1\npipeline:\n  nsis: {}\n");
  EXPECT_EQ(outcome.err,
            "profline: conf/odd.yaml:1:13: experiment: must be a string, not a list\n"
            "profline: conf/odd.yaml:3:3: pipeline: unknown key 'nsis' (did you mean 'nsys'?)\n");
}

TEST(ConfigError, TheGroupThatGoesWhereItGoesAnywayIsNamedAlone) {
  const Case cases[] = {
      {{"-cn", "demo", "dataset/sampling@dataset.sampling=random"},
       2,
       "profline: override 1:1:18: 'dataset.sampling' is where 'dataset/sampling' goes by default, "
       "and Hydra accepts only the group's name here: write dataset/sampling=random\n"
       "  dataset/sampling@dataset.sampling=random\n"
       "                   ^\n"},
  };
  expect_errors(cases);
}

}  // namespace
}  // namespace profline::e2e
