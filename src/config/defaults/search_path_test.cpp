#include "config/defaults/search_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "testing/temp_dir.h"

namespace profline::config {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

void write(const std::filesystem::path& path, std::string_view text) {
  ASSERT_TRUE(create_folders(path.parent_path()));
  ASSERT_TRUE(write_file_atomic(path, text));
}

TEST(ConfigSource, ReadsThePackageOfAHeader) {
  struct Case {
    std::string_view name, text;
    std::optional<std::string> package;
  };
  const Case cases[] = {
      {"none", "a: 1\n", std::nullopt},
      {"at the top", "# @package db\na: 1\n", "db"},
      {"after empty lines, without blanks", "\n\n#@package _global_\n", "_global_"},
      {"with blanks", "#   @package   a.b  \n", "a.b"},
      {"the last one counts", "# @package a\n# @package b\n", "b"},
      {"another key", "# @other x\n# @package b\n", "b"},
      {"after a comment", "# about\n# @package b\n", std::nullopt},
      {"after content", "a: 1\n# @package b\n", std::nullopt},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto file = read_config(c.text, "x.yaml");
    ASSERT_TRUE(file) << file.error().to_string();
    EXPECT_EQ(file->package, c.package);
  }
}

TEST(ConfigSource, RefusesAHeaderThatIsNotAKeyAndAValue) {
  const auto two = read_config("\n# @package a b\n", "x.yaml");
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().to_string(),
            "x.yaml:2:1: the header '@package a b' has 2 values; it takes one, as in "
            "'# @package db'");
  EXPECT_EQ(two.error().reason(), "header");
  EXPECT_FALSE(read_config("# @package\n", "x.yaml"));
}

TEST(ConfigSource, AFolderHoldsConfigsAndGroups) {
  const testing::TempDir dir;
  write(dir / "config.yaml", "a: 1\n");
  write(dir / "db/my.sql.yaml", "# @package x\nb: 2\n");
  write(dir / "db/notes.txt", "no config\n");
  write(dir / "db/deep/one.yaml", "");
  write(dir / "db/__pycache__/x.yaml", "");
  const FolderSource source(dir.path().string());

  EXPECT_TRUE(source.is_available());
  EXPECT_TRUE(source.has_group(""));
  EXPECT_TRUE(source.has_group("db/deep"));
  EXPECT_FALSE(source.has_group("config"));
  EXPECT_TRUE(source.has_config("config"));
  EXPECT_TRUE(source.has_config("config.yaml"));
  EXPECT_FALSE(source.has_config("db"));
  EXPECT_THAT(source.configs_in("db"), UnorderedElementsAre("my.sql"));
  EXPECT_THAT(source.groups_in("db"), UnorderedElementsAre("deep"));
  EXPECT_THAT(source.configs_in("none"), IsEmpty());

  const auto file = source.load("db/my.sql");
  ASSERT_TRUE(file && file->has_value());
  EXPECT_EQ((*file)->package, "x");
  EXPECT_EQ((*file)->tree.find("b")->position().to_string(),
            (dir / "db/my.sql.yaml").string() + ":2:4");
  const auto absent = source.load("db/other");
  ASSERT_TRUE(absent);
  EXPECT_FALSE(absent->has_value());
}

TEST(ConfigSource, AFolderIsNamedAsItWasGivenAndFoundFromItsBase) {
  const testing::TempDir dir;
  write(dir / "conf/a.yaml", "a: [\n");
  const FolderSource source("conf", dir.path());
  EXPECT_TRUE(source.is_available());
  EXPECT_EQ(source.path(), "conf");
  const auto file = source.load("a");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().position()->source, "conf/a.yaml");
  EXPECT_EQ(file.error().reason(), "yaml");
  EXPECT_FALSE(FolderSource("none", dir.path()).is_available());
}

TEST(ConfigSource, AnEmbeddedTreeIsLikeAFolder) {
  const EmbeddedSource source("conf", {{"config.yaml", "a: 1"},
                                       {"db/deep/one.yaml", ""},
                                       {"db/mysql.yaml", "# @package x\nb: 2"},
                                       {"db.yaml", ""}});
  EXPECT_TRUE(source.has_group(""));
  EXPECT_TRUE(source.has_group("db"));
  EXPECT_FALSE(source.has_group("d"));
  EXPECT_TRUE(source.has_config("db/mysql"));
  EXPECT_THAT(source.configs_in(""), UnorderedElementsAre("config", "db"));
  EXPECT_THAT(source.configs_in("db"), UnorderedElementsAre("mysql"));
  EXPECT_THAT(source.groups_in(""), UnorderedElementsAre("db"));
  EXPECT_THAT(source.groups_in("db"), UnorderedElementsAre("deep"));
  const auto file = source.load("db/mysql");
  ASSERT_TRUE(file && file->has_value());
  EXPECT_EQ((*file)->tree.find("b")->position().to_string(), "conf/db/mysql.yaml:2:4");
}

TEST(SearchPath, PutsTheApplicationBetweenHydraAndTheSchemas) {
  SearchPath path = SearchPath::standard(std::make_shared<FolderSource>("/app/conf"));
  path.append("hydra.searchpath in main", std::make_shared<FolderSource>("more"));
  std::vector<std::string> shown;
  for (const SearchPath::Entry& entry : path.entries()) {
    shown.push_back(entry.provider + " " + entry.location());
  }
  EXPECT_EQ(shown, (std::vector<std::string>{"hydra pkg://hydra.conf", "main file:///app/conf",
                                             "hydra.searchpath in main file://more",
                                             "schema structured://"}));
}

TEST(SearchPath, KnowsFoldersOnly) {
  const auto folder = source_at("file://conf", "/app");
  ASSERT_TRUE(folder);
  EXPECT_EQ((*folder)->path(), "conf");
  const auto plain = source_at("conf", "/app");
  ASSERT_TRUE(plain);
  EXPECT_EQ((*plain)->scheme(), "file");
  const auto python = source_at("pkg://some.module", "/app");
  ASSERT_TRUE(python);
  EXPECT_FALSE((*python)->is_available());
  const auto other = source_at("ftp://x", "/app");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().to_string(),
            "nothing is known about 'ftp://' in the search path 'ftp://x'; folders are written "
            "file://path or path");
}

}  // namespace
}  // namespace profline::config
