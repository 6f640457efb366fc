// How bad input is reported: one error, with a position, a reason and what would be right.

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/strings.h"
#include "config/internal/compose_fixture.h"
#include "testing/temp_dir.h"

namespace profline::config {
namespace {

using internal::Configs;
using internal::Files;
using internal::Texts;

const Files kFiles = {
    {"config.yaml", "defaults:\n  - db: mysql\n  - _self_\nname: app\nlist: [1, 2]\n"},
    {"db/mysql.yaml", "driver: mysql\nport: 3306\n"},
    {"db/pg.yaml", "driver: pg\n"},
    {"list_root.yaml", "- 1\n"},
    {"number.yaml", "5\n"},
    {"twice.yaml", "a: 1\na: 2\n"},
};

struct ErrorCase {
  std::string_view name;
  std::string config;
  Texts overrides;
  std::string_view reason;
  std::string_view message;
};

TEST(ComposeError, TellsWhatIsWrongWithAnOverride) {
  const Configs configs(kFiles);
  const ErrorCase cases[] = {
      {"a key that is not there",
       "config",
       {"db.prot=1"},
       "key_not_in_config",
       "override 1:1:4: there is no key 'db.prot' (did you mean 'port'?); to add it write "
       "+db.prot=1\n  db.prot=1\n     ^"},
      {"a key that is there",
       "config",
       {"+db.port=1"},
       "add_existing",
       "override 1:1:2: 'db.port' already exists; to change it write db.port=1, to add or change "
       "it ++db.port=1\n  +db.port=1\n   ^"},
      {"the first of two",
       "config",
       {"a=1", "~db.x"},
       "key_not_in_config",
       "override 1:1:1: there is no key 'a'; to add it write +a=1\n  a=1\n  ^"},
      {"null as a key of a map that is added",
       "config",
       {"+a={null:z}"},
       "validation",
       "override 1:1:4: null cannot be a key\n  +a={null:z}\n     ^"},
      {"null as a key of a map that is merged",
       "config",
       {"db={x:{null:z}}"},
       "validation",
       "override 1:1:4: x: null cannot be a key\n  db={x:{null:z}}\n     ^"},
      {"null as a key of a map under a key that is not there",
       "config",
       {"nosuch={null:z}"},
       "key_not_in_config",
       "override 1:1:1: there is no key 'nosuch'; to add it write +nosuch={null:z}\n"
       "  nosuch={null:z}\n  ^"},
      {"null as a key of a map that is only compared",
       "config",
       {"~db={null:z}"},
       "delete_value_mismatch",
       "override 1:1:2: 'db' is not deleted, because its value is {'driver': 'mysql', 'port': "
       "3306} "
       "and not {None: 'z'}\n  ~db={null:z}\n   ^"},
      {"nothing to delete",
       "config",
       {"~db.x"},
       "delete_missing_key",
       "override 1:1:2: there is no 'db.x' to delete\n  ~db.x\n   ^"},
      {"another value",
       "config",
       {"~db.port=1"},
       "delete_value_mismatch",
       "override 1:1:2: 'db.port' is not deleted, because its value is 3306 and not 1\n"
       "  ~db.port=1\n   ^"},
      {"an item of a list",
       "config",
       {"~list.0"},
       "list_index_not_int",
       "override 1:1:2: 'list' is a list, and items of lists cannot be deleted; give the list as "
       "it should be\n  ~list.0\n   ^"},
      {"beyond a list",
       "config",
       {"list.7=1"},
       "list_index_range",
       "override 1:1:6: 'list' has 2 items, so there is no item 7; a longer list must be given as "
       "a whole\n  list.7=1\n       ^"},
      {"no index",
       "config",
       {"list.x=1"},
       "list_index_not_int",
       "override 1:1:6: 'list' is a list, and 'x' is not an index into a list\n  list.x=1\n       "
       "^"},
      {"a map into a list",
       "config",
       {"list={a: 1}"},
       "merge_dict_list",
       "override 1:1:6: 'list' is a list, and a map cannot be merged into it\n  list={a: 1}\n"
       "       ^"},
      {"no group",
       "config",
       {"nogroup@p=a"},
       "not_a_group",
       "override 1:1:1: '@p' names the package of a config group, but there is no group "
       "'nogroup'\n  nogroup@p=a\n  ^"},
      {"a sweep",
       "config",
       {"name=a,b"},
       "sweep_ambiguous",
       "override 1:1:6: 'a,b' is ambiguous: for a list write name=[a,b], for a string "
       "quote it (name='a,b'), and to run one job for each add --multirun\n  name=a,b\n       ^"},
      {"a range",
       "config",
       {"name=range(3)"},
       "sweep_requires_multirun",
       "override 1:1:6: 'range(3)' stands for several values, which needs --multirun\n"
       "  name=range(3)\n       ^"},
  };
  for (const ErrorCase& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(configs.reason(c.config, c.overrides), c.reason);
    EXPECT_EQ(configs.config(c.config, c.overrides), c.message);
  }
}

TEST(ComposeError, TellsWhatIsWrongWithAGroup) {
  const Configs configs(kFiles);
  const ErrorCase cases[] = {
      {"an option that is not there",
       "config",
       {"db=mysq"},
       "group_option_not_found",
       "override 1:1:1: the group 'db' has no option 'mysq' (did you mean 'mysql'?); its options "
       "are mysql, pg (looked in pkg://hydra.conf, embedded://conf)"},
      {"in another package",
       "config",
       {"db@x=pg"},
       "group_override_no_match",
       "override 1:1:1: nothing in the defaults list is called 'db@x'; did you mean db?; to add it "
       "write +db@x=pg\n  db@x=pg\n  ^"},
      {"not chosen yet",
       "config",
       {"db=???"},
       "must_specify_group",
       "override 1:1:1: you must choose 'db', as in db=mysql; it has the options mysql, pg"},
      {"by force",
       "config",
       {"++db=pg"},
       "group_force_add",
       "override 1:1:1: '++' is for values, and 'db' is a config group; write +db=pg\n  ++db=pg\n"
       "  ^"},
      {"a number",
       "config",
       {"db=1"},
       "group_value_type",
       "override 1:1:4: the option of the group 'db' must be a string or a list of strings, "
       "not an integer\n  db=1\n     ^"},
      {"nothing to delete",
       "config",
       {"~db=pg"},
       "group_delete_no_match",
       "override 1:1:2: nothing to delete: the defaults list has no 'db: pg'\n  ~db=pg\n   ^"},
      {"two options",
       "config",
       {"+db=pg"},
       "multiple_values",
       "override 1:1:2: 'db' is in the defaults list already; to choose its option write db=pg\n"
       "  +db=pg\n   ^"},
      {"the option that it has",
       "config",
       {"+db@db=mysql"},
       "duplicate_in_defaults",
       "override 1:1:2: 'db' is in the defaults list already; to choose its option write db=mysql\n"
       "  +db@db=mysql\n   ^"},
      {"the same twice",
       "config",
       {"+db@other=pg", "+db@other=mysql"},
       "multiple_values",
       "override 1:1:2: the group 'db@other' is given two options, 'mysql' and 'pg'; to replace an "
       "option write 'override db@other: mysql'"},
  };
  for (const ErrorCase& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(configs.reason(c.config, c.overrides), c.reason);
    EXPECT_EQ(configs.config(c.config, c.overrides), c.message);
  }
}

TEST(ComposeError, TellsWhatIsWrongWithThePrimaryConfig) {
  const Configs configs(kFiles);
  const ErrorCase cases[] = {
      {"not there",
       "confg",
       {},
       "primary_config_not_found",
       "there is no config 'confg' (did you mean 'config'?) (looked in pkg://hydra.conf, "
       "embedded://conf)"},
      {"a list",
       "list_root",
       {},
       "primary_not_dict",
       "conf/list_root.yaml:1:1: the primary config 'list_root' must be a map, not a list"},
      {"a number",
       "number",
       {},
       "yaml_root_type",
       "conf/number.yaml:1:1: a config must be a map or a list, not an integer"},
  };
  for (const ErrorCase& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(configs.reason(c.config, c.overrides), c.reason);
    EXPECT_EQ(configs.config(c.config, c.overrides), c.message);
  }
  EXPECT_EQ(configs.reason("twice"), "yaml");
}

TEST(ComposeError, TellsOfACycle) {
  const Configs configs(Files{{"a.yaml", "defaults: [b]\n"},
                              {"b.yaml", "defaults: [a]\n"},
                              {"g/x.yaml", "defaults: [g: x]\n"},
                              {"g/g/x.yaml", "defaults: [/g: x]\n"}});
  EXPECT_EQ(configs.config("a"),
            "conf/b.yaml:1:12: the defaults lists form a cycle: ... -> b -> a -> b -> a -> "
            "b -> a");
  EXPECT_EQ(configs.reason("a"), "defaults_cycle");
  EXPECT_EQ(configs.reason("g/x"), "defaults_cycle");
}

TEST(ComposeError, TellsOfListsThatGrowWithoutEnd) {
  Files files;
  std::vector<std::string> texts;
  texts.reserve(40);
  for (int i = 0; i < 40; ++i) {
    const std::string next = "c" + std::to_string(i + 1);
    const std::vector<std::string> twice{next + "@x", next + "@y"};
    texts.push_back("defaults: [" + join(twice, ", ") + "]\n");
  }
  for (int i = 0; i < 40; ++i) {
    files["c" + std::to_string(i) + ".yaml"] = texts[static_cast<std::size_t>(i)];
  }
  files["c40.yaml"] = "a: 1\n";
  EXPECT_EQ(Configs(files).reason("c0"), "defaults_cycle");
}

TEST(ComposeError, TellsOfFoldersAndFilesThatCannotBeRead) {
  const testing::TempDir dir;
  ASSERT_TRUE(create_folders(dir / "conf/folder.yaml"));
  ResolverRegistry resolvers = ResolverRegistry::standard();
  ResolveContext context;
  context.resolvers = &resolvers;
  ComposeRequest request;
  request.search_path = SearchPath::standard(std::make_shared<FolderSource>("conf", dir.path()));
  request.config_name = "folder";
  const auto composed = compose(request, context);
  ASSERT_FALSE(composed);
  EXPECT_EQ(composed.error().to_string(),
            "conf/folder.yaml is a folder, so it cannot be read as a config");
  EXPECT_EQ(composed.error().reason(), "config_unreadable");

  request.search_path = SearchPath::standard(std::make_shared<FolderSource>("none", dir.path()));
  const auto nowhere = compose(request, context);
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().to_string(), "there is no folder of configs 'none'");
}

TEST(ComposeError, TellsOfKeysThatAreTooDeep) {
  std::string deep = "a";
  for (int i = 0; i < 200; ++i) deep += ".a";
  const std::string list = "defaults: [g@" + deep + ": x]\n";
  const Configs configs(Files{{"c.yaml", list}, {"g/x.yaml", "v: 1\n"}, {"d.yaml", ""}});
  EXPECT_EQ(configs.config("c"),
            "conf/c.yaml:1:12: the package of 'g/x' has 201 steps; at most 200 are allowed");
  EXPECT_EQ(configs.reason("d", {"+" + deep + "=1"}), "key_too_deep");
}

TEST(ComposeError, TellsWhereADictMeetsAList) {
  const Configs configs(
      {{"c.yaml", "defaults:\n  - g: x\n  - _self_\ng:\n  a: [1]\n"}, {"g/x.yaml", "a: {b: 1}\n"}});
  EXPECT_EQ(configs.config("c"),
            "composing 'c': conf/c.yaml:5:6: 'g.a' is a map, and a list cannot be merged into it");
  EXPECT_EQ(configs.reason("c"), "merge_dict_list");
}

TEST(ComposeError, OnlyThePrimaryConfigExtendsTheSearchPath) {
  const Configs configs(Files{{"c.yaml", "defaults: [g: x]\n"},
                              {"g/x.yaml", "# @package _global_\nhydra: {searchpath: [a]}\n"},
                              {"bad.yaml", "hydra: {searchpath: 5}\n"}});
  EXPECT_EQ(configs.config("c"),
            "conf/g/x.yaml:2:21: 'g/x' sets hydra.searchpath, which only the primary config and "
            "the command line may do");
  EXPECT_EQ(configs.config("bad"),
            "conf/bad.yaml:1:21: hydra.searchpath must be a list of strings, not an "
            "integer");
  EXPECT_EQ(configs.reason("c", {"hydra.searchpath=x"}), "searchpath_type");
  EXPECT_EQ(configs.reason("c", {"hydra.searchpath=[ftp://x]"}), "unknown_scheme");
}

}  // namespace
}  // namespace profline::config
