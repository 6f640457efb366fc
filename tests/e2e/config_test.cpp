// `profline config`: the printed configuration.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/json.h"
#include "small_tree.h"

namespace profline::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Config, PrintsWhatIsComposed) {
  struct Case {
    std::vector<std::string> arguments;
    std::string_view out;
  };
  constexpr std::string_view kWhole =
      "vars:\n"
      "  db:\n"
      "    host: localhost\n"
      "    port: 3306\n"
      "  name: shop\n"
      "  url: ${vars.db.host}:${vars.db.port}\n";
  const Case cases[] = {
      {{"config"}, kWhole},
      // As in Hydra, showing the config replaces running.
      {{"--cfg", "job"}, kWhole},
      {{"plan", "-c", "job"}, kWhole},
      {{"run", "--cfg=job"}, kWhole},
      {{"vars.name=shop", "-c", "job"}, kWhole},
      {{"config", "--resolve", "db=postgresql", "+vars.tag='a b'", "vars.name=-x"},
       "vars:\n"
       "  db:\n"
       "    host: pg\n"
       "    port: 5432\n"
       "    ssl: true\n"
       "  name: -x\n"
       "  url: pg:5432\n"
       "  tag: a b\n"},
      {{"config", "--package", "vars.db"},
       "# @package vars.db\n"
       "host: localhost\n"
       "port: 3306\n"},
      {{"--package=_global_", "config"}, kWhole},
      // Scalars are for scripts: only the value.
      {{"-p", "vars.url", "config"}, "localhost:3306\n"},
      {{"config", "-p", "vars.db.port"}, "3306\n"},
      {{"config", "-p", "vars.flag", "+vars.flag=true"}, "true\n"},
      {{"config", "-c", "hydra", "-p", "hydra.job.name"}, "profline\n"},
      {{"config", "-c", "all", "-p", "hydra.overrides", "vars.name=a", "hydra.verbose=true"},
       "# @package hydra.overrides\n"
       "hydra:\n"
       "- hydra.verbose=true\n"
       "task:\n"
       "- vars.name=a\n"},
  };
  const SmallTree tree;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.arguments.back());
    const Outcome outcome = tree.run(c.arguments);
    EXPECT_EQ(outcome.out, c.out);
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(outcome.code, 0);
  }
}

TEST(Config, HydraPartHasNoHelpTexts) {
  const SmallTree tree;
  const Outcome hydra = tree.run({"config", "--cfg", "hydra"});
  EXPECT_EQ(hydra.code, 0) << hydra.err;
  EXPECT_THAT(hydra.out, StartsWith("hydra:\n  run:\n    dir: outputs/"));
  EXPECT_THAT(hydra.out, ::testing::Not(HasSubstr("\n  help:\n")));
  EXPECT_THAT(tree.run({"config", "--cfg", "all"}).out, HasSubstr("\n  help:\n"));
}

TEST(Config, JsonIsOneDocument) {
  const SmallTree tree;
  const Outcome outcome =
      tree.run({"config", "--format", "json", "-p", "vars", "db=postgresql", "--resolve"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            R"({
  "schema": "profline.config/1",
  "part": "job",
  "package": "vars",
  "resolved": true,
  "overrides": [
    "db=postgresql"
  ],
  "config": {
    "db": {
      "host": "pg",
      "port": 5432,
      "ssl": true
    },
    "name": "shop",
    "url": "pg:5432"
  },
  "filled_in": {},
  "problems": []
}
)");
}

TEST(Config, ShowsWhatProflineAddsToAPresetThatLeavesKeysOut) {
  const testing::TempDir folder;
  write_files(folder.path(), {{"conf/profiling/ncu/mine.yaml", "ncu_cli:\n  set: detailed\n"}});
  const Outcome outcome =
      run_profline_in(folder.path(), {"config", "--config-dir", "conf", "--package",
                                      "pipeline.ncu.ncu_cli", "profiling/ncu@pipeline.ncu=mine"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "# @package pipeline.ncu.ncu_cli\n"
            "set: detailed\n"
            "# Not set, so profline's default applies:\n"
            "#   pipeline.ncu.ncu_cli.export.csv: true\n"
            "#   pipeline.ncu.ncu_cli.force_overwrite: false\n");
  EXPECT_THAT(run_profline({"config"}).out, ::testing::Not(HasSubstr("# Not set")))
      << "shipped presets have every key";
}

TEST(Config, InfoReportsTheDefaults) {
  const SmallTree tree;
  const Outcome list = tree.run({"config", "--info", "defaults"});
  EXPECT_EQ(list.code, 0) << list.err;
  EXPECT_THAT(list.out, StartsWith("Defaults List\n"
                                   "*************\n"));
  EXPECT_THAT(list.out, HasSubstr("| db/mysql                    | vars.db             | False  | "
                                  "config       |\n"));
  const Outcome shown = tree.run({"db=postgresql", "-i", "defaults-tree"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, StartsWith("Defaults Tree\n"
                                    "*************\n"
                                    "<root>:\n"
                                    "  hydra/config:\n"));
  EXPECT_THAT(shown.out, HasSubstr("  config:\n"
                                   "    db: postgresql\n"
                                   "    _self_\n"));
  const auto document =
      parse_json(tree.run({"config", "--info", "--format", "json"}).out, "config --info");
  ASSERT_TRUE(document) << document.error().to_string();
  EXPECT_EQ(
      document->as_map().string_keys(),
      (std::vector<std::string>{"schema", "searchpath", "defaults_tree", "defaults", "config"}));
  EXPECT_EQ(document->find("schema")->as_string(), "profline.config_info/1");
}

TEST(Config, SearchPathIsInHydrasOrderWithTheProgramsOwnConfigsLast) {
  const SmallTree tree;
  write_files(tree.path(), {{"extra/db/sqlite.yaml", "# @package vars.db\nfile: a.db\n"},
                            {"more/db/redis.yaml", "# @package vars.db\nttl: 1\n"}});
  const Outcome outcome = tree.run(
      {"config", "-cd", "extra", "hydra.searchpath=[file://more]", "--info", "searchpath"});
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out,
            "Config search path\n"
            "******************\n"
            "| Provider                         | Search path           |\n"
            "------------------------------------------------------------\n"
            "| hydra                            | pkg://hydra.conf      |\n"
            "| main                             | file://conf           |\n"
            "| command-line                     | file://extra          |\n"
            "| hydra.searchpath in command-line | file://more           |\n"
            "| profline                         | embedded://<profline> |\n"
            "| schema                           | structured://         |\n"
            "------------------------------------------------------------\n");
  EXPECT_EQ(tree.run({"config", "-cd", "extra", "db=sqlite", "-p", "vars.db.file"}).out, "a.db\n");
  EXPECT_EQ(tree.run({"config", "hydra.searchpath=[more]", "db=redis", "-p", "vars.db"}).out,
            "# @package vars.db\nttl: 1\n");
}

TEST(Config, ConfIsUsedOnlyIfItHoldsTheNamedConfig) {
  const SmallTree tree;
  // The shipped config, in a folder whose conf has no demo.yaml.
  EXPECT_EQ(tree.run({"config", "-cn", "demo", "-p", "device"}).out, "auto\n");
  // Its groups can be extended from outside, and what is outside takes precedence.
  write_files(tree.path(), {{"extra/dataset/files.yaml", "name: mine\nsource: files\n"}});
  EXPECT_EQ(
      tree.run({"config", "-cn", "demo", "-cd", "extra", "dataset=files", "-p", "dataset.name"})
          .out,
      "mine\n");
  // Another folder with another config.
  write_files(tree.path(), {{"other/main.yaml", "vars: {a: 1}\n"}});
  EXPECT_EQ(tree.run({"config", "--config-path", "other", "--config-name", "main"}).out,
            "vars:\n  a: 1\n");
}

TEST(Config, TheWorkingFolderIsWhereTheCommandWasStarted) {
  const SmallTree tree;
  EXPECT_EQ(tree.run({"config", "-p", "vars.here", "+vars.here=${hydra:runtime.cwd}/x"}).out,
            std::filesystem::canonical(tree.path()).string() + "/x\n");
}

TEST(Config, VerboseReportsWhatWasMergedAndQuietLeavesWarningsOut) {
  const SmallTree tree;
  const Outcome verbose = tree.run({"config", "-v", "-p", "vars.name"});
  EXPECT_EQ(verbose.out, "shop\n");
  EXPECT_THAT(verbose.err, ::testing::EndsWith("profline: merged 'db/mysql' into 'vars.db'\n"
                                               "profline: merged 'config' into the root\n"));
  const std::vector<std::string> with_warning = {"config", "-p", "vars.name",
                                                 "hydra.searchpath=[nowhere]"};
  EXPECT_EQ(tree.run(with_warning).err,
            "profline: warning: there is nothing at file://nowhere, which is named by "
            "hydra.searchpath in command-line\n");
  std::vector<std::string> quiet = with_warning;
  quiet.emplace_back("-q");
  EXPECT_EQ(tree.run(quiet).err, "");
}

TEST(Config, ShippedConfigsAreValid) {
  for (const std::string name : {"config", "demo", "dummy"}) {
    SCOPED_TRACE(name);
    const Outcome outcome = run_profline({"config", "--resolve", "-cn", name});
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, HasSubstr("\npipeline:\n"));
  }
}

}  // namespace
}  // namespace profline::e2e
