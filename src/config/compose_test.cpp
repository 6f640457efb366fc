#include "config/compose.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "config/internal/compose_fixture.h"
#include "testing/temp_dir.h"

namespace profline::config {
namespace {

using internal::Configs;
using internal::Files;
using internal::Texts;

const Files kComposedFiles = {
    {"config.yaml", "defaults:\n  - db: mysql\n  - _self_\nname: app\ndb:\n  port: 1\n"},
    {"db/mysql.yaml", "driver: mysql\nport: 3306\nurl: ${.driver}:${.port}\n"},
    {"db/pg.yaml", "driver: pg\nport: 5432\n"},
    {"server/apache.yaml", "# @package _global_\nserver: {name: apache, list: [1, 2]}\n"},
    {"server/nginx.yaml", "name: nginx\n"},
};

TEST(Compose, MergesGroupsAndThePrimaryConfig) {
  const Configs configs(kComposedFiles);
  EXPECT_EQ(configs.config("config"),
            R"({"db":{"driver":"mysql","port":1,"url":"${.driver}:${.port}"},"name":"app"})");
}

TEST(Compose, ChoosesOptionsOnTheCommandLine) {
  const Configs configs(kComposedFiles);
  EXPECT_EQ(configs.config("config", {"db=pg"}), R"({"db":{"driver":"pg","port":1},"name":"app"})");
  EXPECT_EQ(configs.config("config", {"+server=apache", "~db"}),
            R"({"name":"app","db":{"port":1},"server":{"name":"apache","list":[1,2]}})");
  EXPECT_EQ(configs.config("config", {"+server@db.server=nginx", "db=pg"}),
            R"({"db":{"driver":"pg","port":1,"server":{"name":"nginx"}},"name":"app"})");
  EXPECT_EQ(configs.config(std::nullopt, {"+db=[mysql,pg]"}),
            R"({"db":{"driver":"pg","port":5432,"url":"${.driver}:${.port}"}})");
}

TEST(Compose, ChangesAddsAndDeletesValues) {
  const Configs configs(kComposedFiles);
  EXPECT_EQ(configs.config("config", {"db.port=2", "name=null", "+new.key=[1,{a: 2}]"}),
            R"({"db":{"driver":"mysql","port":2,"url":"${.driver}:${.port}"},"name":null,)"
            R"("new":{"key":[1,{"a":2}]}})");
  EXPECT_EQ(configs.config("config", {"~db.url", "~db.port=1", "++db.port=9", "++x=${name}"}),
            R"({"db":{"driver":"mysql","port":9},"name":"app","x":"${name}"})");
  EXPECT_EQ(configs.config("config", {"+server=apache", "server.list.1=5", "+db={user: me}"}),
            R"({"db":{"driver":"mysql","port":1,"url":"${.driver}:${.port}","user":"me"},)"
            R"("name":"app","server":{"name":"apache","list":[1,5]}})");
}

TEST(Compose, DeletesThroughAnInterpolation) {
  const Configs configs(Files{{"c.yaml", "a: {x: 1, y: 2}\nb: ${a}\n"}});
  EXPECT_EQ(configs.config("c", {"~b.x"}), R"({"a":{"y":2},"b":"${a}"})");
}

TEST(Compose, WithoutAConfigThereIsOnlyWhatTheOverridesAdd) {
  const Configs configs(kComposedFiles);
  EXPECT_EQ(configs.config(std::nullopt), "{}");
  EXPECT_EQ(configs.config(std::nullopt, {"+a=1"}), R"({"a":1})");
}

TEST(Compose, NamesAConfigWithItsExtensionOrInAGroup) {
  const Configs configs(kComposedFiles);
  EXPECT_EQ(configs.config("db/pg"), R"({"db":{"driver":"pg","port":5432}})");
  EXPECT_EQ(configs.config("db/pg.yaml"), R"({"db":{"driver":"pg","port":5432}})");
}

TEST(Compose, TellsChoicesAndWarnings) {
  const Configs configs(Files{{"c.yaml", "defaults:\n  - db: a\n  - other: null\nx: 1\n"},
                              {"db/a.yaml", ""},
                              {"other/b.yaml", ""}});
  const auto composed = configs.compose("c");
  ASSERT_TRUE(composed) << composed.error().to_string();
  std::vector<Choice> own;
  for (const Choice& choice : composed->choices) {
    if (!choice.key.starts_with("hydra/")) own.push_back(choice);
  }
  EXPECT_EQ(own, (std::vector<Choice>{{"other", std::nullopt}, {"db", "a"}}));
  EXPECT_EQ(composed->warnings, Texts{"the defaults list of 'c' lacks _self_, so the config's own "
                                      "values count last"});
}

TEST(Compose, AddsPlacesToTheSearchPath) {
  const testing::TempDir dir;
  ASSERT_TRUE(create_folders(dir / "more/db"));
  ASSERT_TRUE(write_file_atomic(dir / "more/db/extra.yaml", "driver: extra\n"));
  const std::string main =
      "defaults: [db: extra]\nhydra: {searchpath: ['file://${oc.env:MORE}']}\n";
  Configs configs(
      Files{{"c.yaml", main}, {"plain.yaml", "defaults: [db: extra]\n"}, {"bare.yaml", ""}});
  configs.environment["MORE"] = (dir / "more").string();
  EXPECT_EQ(configs.config("c"), R"({"db":{"driver":"extra"}})");
  EXPECT_EQ(configs.config("plain", {"hydra.searchpath=['" + (dir / "more").string() + "']"}),
            R"({"db":{"driver":"extra"}})");

  const auto warned = configs.compose("bare", {"hydra.searchpath=[/none]"});
  ASSERT_TRUE(warned) << warned.error().to_string();
  EXPECT_EQ(warned->warnings, Texts{"there is nothing at file:///none, which is named by "
                                    "hydra.searchpath in command-line"});
}

TEST(Compose, ASweepLeavesItsGroupsOpen) {
  const Configs configs(
      {{"c.yaml", "defaults:\n  - db: ???\n  - _self_\nx: 1\n"}, {"db/a.yaml", "a: 1"}});
  const auto composed = configs.compose("c", {"db=a,b", "x=1,2"}, RunMode::Multirun);
  ASSERT_TRUE(composed) << composed.error().to_string();
  EXPECT_EQ(Configs::json(composed->config), R"({"x":1})");
  EXPECT_EQ(Configs::json(*composed->root.find_path("hydra.overrides.task")),
            R"(["db=a,b","x=1,2"])");
}

TEST(Compose, TakesTenThousandOverrides) {
  const Configs configs(Files{{"c.yaml", "x: {a: 1}\n"}});
  Texts overrides;
  for (int i = 0; i < 10'000; ++i) overrides.push_back("+x.k" + std::to_string(i) + "=1");
  const auto composed = configs.compose("c", overrides);
  ASSERT_TRUE(composed) << composed.error().to_string();
  EXPECT_EQ(composed->config.find("x")->as_map().size(), 10'001U);
}

}  // namespace
}  // namespace profline::config
