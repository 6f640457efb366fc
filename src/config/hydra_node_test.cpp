#include "config/hydra_node.h"

#include <gtest/gtest.h>

#include "config/internal/compose_fixture.h"
#include "config/overrides/override.h"

namespace profline::config {
namespace {

using internal::Configs;
using internal::Files;
using internal::Texts;

const Files kHydraFiles = {
    {"c.yaml", "defaults: [_self_, db: x]\na: 1\nhydra: {job: {name: mine}}\n"},
    {"db/x.yaml", "v: 1\n"},
    {"null.yaml", "hydra: null\n"},
    {"plain.yaml", "a: 1\n"},
    {"typed.yaml", "hydra: {nope: 1}\n"},
};

TEST(HydraNode, IsThereWithItsDefaults) {
  const Configs configs(kHydraFiles);
  EXPECT_EQ(configs.value("hydra.run.dir", "plain"), R"("outputs/2031-02-03/04-05-06")");
  EXPECT_EQ(configs.value("hydra.job.name", "plain"), R"("app")");
  EXPECT_EQ(configs.value("hydra.output_subdir", "plain"), R"(".hydra")");
  EXPECT_EQ(configs.value("hydra.mode", "plain"), "null");
  EXPECT_EQ(configs.value("hydra.help.app_name", "plain"), R"("app")");
  EXPECT_EQ(configs.value("hydra.runtime.version_base", "plain"), R"("1.3")");
  EXPECT_EQ(configs.value("hydra.runtime.cwd", "plain"), R"("/home/me/here")");
}

TEST(HydraNode, KnowsHowItCameToBe) {
  const Configs configs(kHydraFiles);
  const Texts overrides = {"a=2", "hydra.verbose=true", "db=x"};
  EXPECT_EQ(configs.value("hydra.overrides", "c", overrides),
            R"({"hydra":["hydra.verbose=true"],"task":["a=2","db=x"]})");
  EXPECT_EQ(configs.value("hydra.job.name", "c", overrides), R"("mine")");
  EXPECT_EQ(configs.value("hydra.job.config_name", "c", overrides), R"("c")");
  EXPECT_EQ(configs.value("hydra.job.override_dirname", "c", overrides), R"("a=2,db=x")");
  EXPECT_EQ(configs.value("hydra.runtime.choices.db", "c", overrides), R"("x")");
  EXPECT_EQ(configs.value("hydra.runtime.config_sources.1", "c"),
            R"({"path":"conf","schema":"embedded","provider":"main"})");
}

TEST(HydraNode, KeepsItsTypes) {
  const Configs configs(kHydraFiles);
  EXPECT_EQ(configs.value("hydra.job.chdir", "plain", {"hydra.job.chdir=yes"}), "true");
  EXPECT_EQ(configs.value("hydra.job.num", "plain", {"hydra.job.num='3'"}), "3");
  EXPECT_EQ(configs.value("hydra.job.env_set", "plain", {"+hydra.job.env_set.A=1"}),
            R"({"A":"1"})");
  EXPECT_EQ(configs.config("plain", {"hydra.job.chdir=abc"}),
            "override 1:1:17: 'hydra.job.chdir' must be true or false, not a string "
            "('abc')\n  hydra.job.chdir=abc\n                  ^");
  EXPECT_EQ(configs.reason("plain", {"hydra.run.dir=null"}), "validation");
  EXPECT_EQ(configs.reason("plain", {"hydra.run.nope=1"}), "key_not_in_config");
  EXPECT_EQ(configs.reason("plain", {"+hydra.run.nope=1"}), "none");
  EXPECT_EQ(configs.config("typed"),
            "composing 'typed': conf/typed.yaml:1:9: there is no key 'hydra.nope'");
  EXPECT_EQ(configs.reason("typed"), "hydra_schema_key");
  EXPECT_EQ(configs.config("null"), "conf/null.yaml:1:8: 'hydra' must be a map, not null");
}

TEST(HydraNode, ChoosesHydrasOwnGroups) {
  const Configs configs(kHydraFiles);
  EXPECT_EQ(configs.value("hydra.job_logging", "plain", {"hydra/job_logging=disabled"}),
            R"({"version":1,"root":{"level":"ERROR"},"disable_existing_loggers":true})");
  EXPECT_EQ(configs.reason("plain", {"hydra/job_logging=nope"}), "group_option_not_found");
  EXPECT_EQ(configs.reason("plain", {"hydra=null"}), "group_value_type");
}

TEST(HydraNode, CopiesEnvironmentVariables) {
  Configs configs(kHydraFiles);
  const Texts overrides = {"hydra.job.env_copy=[A]"};
  EXPECT_EQ(configs.config("plain", overrides),
            "override 1:1:21: hydra.job.env_copy names the environment variable 'A', which is not "
            "set");
  configs.environment["A"] = "x";
  EXPECT_EQ(configs.value("hydra.job.env_set", "plain", overrides), R"({"A":"x"})");
}

TEST(HydraNode, NamesAFolderByTheOverrides) {
  const Texts texts = {"b=5", "a.x=3", "seed=9", "hydra.run.dir=z"};
  const auto overrides = parse_overrides(texts);
  ASSERT_TRUE(overrides);
  const Texts excluded = {"seed"};
  EXPECT_EQ(override_dirname(*overrides, "+", "-", excluded), "a.x-3+b-5");
  EXPECT_EQ(override_dirname({}, ",", "=", {}), "");
}

TEST(HydraNode, AnInterpolationGivesAValueOfTheKeysType) {
  const Configs configs(kHydraFiles);
  const auto composed = configs.compose("plain", {"hydra.job.num=3"});
  ASSERT_TRUE(composed) << composed.error().to_string();
  const ResolverRegistry resolvers = ResolverRegistry::standard();
  ResolveContext context;
  context.resolvers = &resolvers;
  const auto value = typed_value(composed->root, "hydra.sweep.subdir", context);
  ASSERT_TRUE(value) << value.error().to_string();
  EXPECT_EQ(*value, Node::string("3"));
}

}  // namespace
}  // namespace profline::config
