// How runs use the hydra node: the files of hydra.output_subdir, and what has no effect.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/yaml.h"
#include "short_runs.h"

namespace profline::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using HydraNode = ShortRuns;

TEST_F(HydraNode, OutputSubdirGetsTheFilesThatHydraWritesThere) {
  ASSERT_EQ(run("single", {"experiment=e", "hydra.output_subdir=.hydra"}).code, 0);
  EXPECT_EQ(text_of("run/.hydra/config.yaml"), text_of("run/config.yaml"));
  EXPECT_EQ(text_of("run/.hydra/overrides.yaml"), "- experiment=e\n");
  EXPECT_EQ(text_of("run/overrides.yaml"), "- experiment=e\n- hydra.output_subdir=.hydra\n");
  const auto hydra = parse_yaml(text_of("run/.hydra/hydra.yaml"), "hydra.yaml");
  ASSERT_TRUE(hydra) << hydra.error().to_string();
  ASSERT_TRUE(hydra->is_map()) << text_of("run/.hydra/hydra.yaml");
  EXPECT_EQ(hydra->find_path("hydra.mode")->as_string(), "RUN");
  EXPECT_EQ(hydra->find_path("hydra.overrides.hydra.1")->as_string(), "hydra.mode=RUN");
  EXPECT_EQ(hydra->find_path("hydra.runtime.output_dir")->as_string(),
            (fs::canonical(folder_.path()) / "run").string());
  EXPECT_EQ(hydra->find_path("hydra.job.config_name")->as_string(), "single");
}

TEST_F(HydraNode, OutputSubdirIsEachJobsAndInsideItsFolder) {
  ASSERT_EQ(run("single", {"-m", "experiment=e", "hydra.output_subdir=a/b"}).code, 0);
  const auto hydra = parse_yaml(text_of("sweep/0/a/b/hydra.yaml"), "hydra.yaml");
  ASSERT_TRUE(hydra) << hydra.error().to_string();
  ASSERT_TRUE(hydra->is_map()) << text_of("sweep/0/a/b/hydra.yaml");
  EXPECT_EQ(hydra->find_path("hydra.mode")->as_string(), "MULTIRUN");
  EXPECT_EQ(hydra->find_path("hydra.job.num")->as_int(), 0);
  for (const char* outside : {"../x", "/tmp/x", "a/../.."}) {
    const Outcome outcome = run("single", {std::string("hydra.output_subdir=") + outside});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.err, std::string("profline: override 1:1:21: hydra.output_subdir: '") +
                               outside + "' is not inside the run's folder\n");
  }
  EXPECT_THAT(left(), ElementsAre("sweep"));
}

TEST_F(HydraNode, OutputSubdirMayBeTheRunsFolderAndIsNoneByDefault) {
  ASSERT_EQ(run("single", {"hydra.run.dir=plain"}).code, 0);
  EXPECT_EQ(text_of("plain/hydra.yaml"), "absent");
  EXPECT_EQ(text_of("plain/.hydra/hydra.yaml"), "absent");
  ASSERT_EQ(run("single", {"hydra.output_subdir=.", "experiment=e"}).code, 0);
  EXPECT_THAT(text_of("run/hydra.yaml"), StartsWith("hydra:\n"));
  EXPECT_EQ(text_of("run/overrides.yaml"), "- hydra.output_subdir=.\n- experiment=e\n");
}

TEST_F(HydraNode, WhatHasNoEffectIsReported) {
  write_files(folder_.path(),
              {{"conf/loud.yaml", std::string(kShortRun) + "  verbose: true\n"
                                                           "  callbacks:\n"
                                                           "    mine: {_target_: mine.Callback}\n"
                                                           "  job:\n"
                                                           "    env_set: {A: b}\n"}});
  const Outcome outcome = run("loud", {"hydra/job_logging=none", "hydra/hydra_logging=disabled"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(
      outcome.err,
      StartsWith(
          "profline: warning: conf/loud.yaml:16:5: hydra.callbacks has no effect: callbacks are "
          "Python and are not called\n"
          "profline: warning: hydra.hydra_logging has no effect: -v and -q choose what is printed\n"
          "profline: warning: hydra.job_logging has no effect: a run's log is run.log, and -v and "
          "-q choose what is printed\n"
          "profline: warning: conf/loud.yaml:14:12: hydra.verbose has no effect: -v prints more\n"
          "profline: warning: conf/loud.yaml:18:14: hydra.job.env_set has no effect: set "
          "environment variables where profline is started\n"));
  const Outcome sweep = run("loud", {"-m", "experiment=a,b"});
  EXPECT_EQ(sweep.code, 0) << sweep.err;
  const std::size_t first = sweep.err.find("hydra.verbose has no effect");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(sweep.err.find("hydra.verbose has no effect", first + 1), std::string::npos);
  const Outcome plain = run("single", {"hydra.run.dir=again"});
  EXPECT_THAT(plain.err, Not(HasSubstr("has no effect")));
}

}  // namespace
}  // namespace profline::e2e
