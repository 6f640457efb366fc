#include "catalog/catalog.h"

#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "run_index/testing_runs.h"
#include "testing/temp_dir.h"

namespace profline::catalog {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OfTwoRoots : public ::testing::Test {
 protected:
  void SetUp() override {
    run_index::TestRun{.second = 1}.write(one() / "r1");
    run_index::TestRun{.second = 2}.write(two() / "r2");
    run_index::TestRun{.second = 3}.write(one() / "sweep/0");
  }
  fs::path one() const { return folder_.path() / "one"; }
  fs::path two() const { return folder_.path() / "two"; }
  Catalog catalog() const {
    const std::vector<fs::path> roots = {one(), two()};
    auto opened = Catalog::open(roots);
    EXPECT_TRUE(opened) << opened.error().to_string();
    opened->refresh();
    return std::move(*opened);
  }

  testing::TempDir folder_;
};

TEST_F(OfTwoRoots, RunsComeNewestFirst) {
  const Catalog all = catalog();
  std::vector<std::string> names;
  for (const KnownRun& run : all.runs()) names.push_back(run.row.folder);
  EXPECT_THAT(names, ElementsAre("sweep/0", "r2", "r1"));
}

TEST_F(OfTwoRoots, ARunIsFoundByFolderIdAndPath) {
  const Catalog all = catalog();
  const auto folder = [&](const std::string& wanted) {
    const auto run = all.find(wanted);
    return run ? run->folder.string() : run.error().to_string();
  };
  EXPECT_EQ(folder("r2"), (two() / "r2").string());
  EXPECT_EQ(folder("sweep/0"), (one() / "sweep/0").string());
  EXPECT_EQ(folder((one() / "r1").string()), (one() / "r1").string());
  EXPECT_EQ(folder("latest"), (one() / "sweep/0").string());
  EXPECT_EQ(folder("r3"), "there is no run 'r3' below " + one().string() + ", " + two().string() +
                              " (did you mean 'r2'?)");
}

TEST_F(OfTwoRoots, NewRunsAreSeenByTheNextRefresh) {
  Catalog all = catalog();
  run_index::TestRun{.second = 9}.write(two() / "r9");
  fs::remove_all(one() / "r1");
  all.refresh();
  EXPECT_EQ(all.runs().front().row.folder, "r9");
  EXPECT_EQ(all.runs().size(), 3U);
}

TEST_F(OfTwoRoots, NothingIsWritten) {
  catalog();
  EXPECT_FALSE(fs::exists(one() / "runs.sqlite"));
}

TEST_F(OfTwoRoots, WhatIsOutsideIsNotRead) {
  ASSERT_TRUE(write_file_atomic(folder_.path() / "secret.json", "{}"));
  const Catalog all = catalog();
  const std::string not_below =
      "is not below " + one().string() + ", " + two().string() + "; nothing else is read";
  const auto refused = [&](const std::string& path) {
    const auto found = all.inside(path);
    return found ? found->string() : found.error().to_string();
  };
  for (const std::string& path :
       {(folder_.path() / "secret.json").string(), std::string("../secret.json"),
        std::string("r1/../../secret.json"), std::string("/etc/passwd"),
        std::string("../no-such-file"), one().string() + "-2/x", std::string("../one2")}) {
    EXPECT_EQ(refused(path), "'" + path + "' " + not_below);
  }
  fs::create_symlink(folder_.path() / "secret.json", one() / "link.json");
  EXPECT_EQ(refused("link.json"), "'link.json' " + not_below);
  EXPECT_EQ(refused("r1/run.json"), (one() / "r1/run.json").string());
  EXPECT_EQ(refused("r1/none.json"),
            "there is no 'r1/none.json' below " + one().string() + ", " + two().string());
}

TEST_F(OfTwoRoots, ARunWithALinkOutOfTheRootsIsNotRead) {
  ASSERT_TRUE(write_file_atomic(folder_.path() / "secret.json", "{}"));
  fs::create_directories(one() / "r1/nsys");
  fs::create_symlink(folder_.path() / "secret.json", one() / "r1/nsys/ranges.json");
  const auto run = catalog().find("r1");
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().to_string(), (one() / "r1/nsys/ranges.json").string() +
                                         " is a link that leads out of " + one().string() + ", " +
                                         two().string() + "; the run is not read");
  // A link within the roots is fine.
  fs::create_symlink(one() / "sweep/0", two() / "r2/other");
  EXPECT_TRUE(catalog().find("r2"));
}

TEST_F(OfTwoRoots, ALinkToAFolderIsFollowedToItsEnd) {
  ASSERT_TRUE(write_file_atomic(folder_.path() / "secret.jsonl", "{}"));
  fs::create_directories(two() / "shared");
  fs::create_symlink(folder_.path() / "secret.jsonl", two() / "shared/requests.jsonl");
  fs::remove_all(one() / "r1/baseline");
  fs::create_directory_symlink(two() / "shared", one() / "r1/baseline");
  const auto run = catalog().find("r1");
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().to_string(), HasSubstr("requests.jsonl is a link that leads out of"));
}

TEST_F(OfTwoRoots, ARunWithSomethingThatIsNoFileIsLeftOut) {
  fs::remove(one() / "r1/baseline/requests.jsonl");
  ASSERT_EQ(::mkfifo((one() / "r1/baseline/requests.jsonl").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((one() / "pipe").c_str(), 0600), 0);
  fs::create_symlink(one() / "pipe", two() / "r2/extra.json");
  const Catalog all = catalog();
  std::vector<std::string> names;
  for (const KnownRun& run : all.runs()) names.push_back(run.row.folder);
  EXPECT_THAT(names, ElementsAre("sweep/0"));
  const std::string why = (one() / "r1/baseline/requests.jsonl").string() +
                          " is not a file or a folder; the run is not read";
  EXPECT_THAT(all.notes(),
              ElementsAre("the run r1 is left out: " + why,
                          "the run r2 is left out: " + (two() / "r2/extra.json").string() +
                              " is not a file or a folder; the run is not read"));
  EXPECT_EQ(all.find("r1").error().to_string(), why);
  EXPECT_EQ(all.inside("pipe").error().to_string(), "'pipe' is not a file or a folder");
}

TEST_F(OfTwoRoots, AFolderThatCannotBeListedIsNotRead) {
  const Catalog all = catalog();
  fs::remove_all(two() / "r2");
  EXPECT_EQ(all.find("r2").error().to_string(),
            "cannot list " + (two() / "r2").string() +
                ": No such file or directory; the run is not read");
}

TEST_F(OfTwoRoots, WhatMayNotBeListedHidesNothingElse) {
  if (::geteuid() == 0) GTEST_SKIP() << "the superuser may list every folder";
  run_index::TestRun{.second = 4}.write(two() / "r4");
  fs::create_directory(two() / "r4/closed");
  fs::permissions(two() / "r4/closed", fs::perms::none);
  fs::permissions(one(), fs::perms::none);
  const Catalog all = catalog();
  fs::permissions(one(), fs::perms::owner_all);
  fs::permissions(two() / "r4/closed", fs::perms::owner_all);
  ASSERT_EQ(all.runs().size(), 1U);
  EXPECT_EQ(all.runs().front().row.folder, "r2");
  EXPECT_THAT(all.notes(),
              ElementsAre(one().string() + " cannot be read: cannot list " + one().string() +
                              ": Permission denied",
                          "the run r4 is left out: cannot list " + (two() / "r4").string() +
                              ": Permission denied; the run is not read"));
}

TEST(ACatalog, MayBeOpenedBeforeItsRootExists) {
  const testing::TempDir folder;
  const std::vector<fs::path> roots = {folder.path() / "later"};
  auto all = Catalog::open(roots);
  ASSERT_TRUE(all);
  all->refresh();
  EXPECT_THAT(all->runs(), IsEmpty());
  EXPECT_THAT(all->notes(),
              ElementsAre("there is no folder " + (folder.path() / "later").string() + " yet"));
  run_index::TestRun{}.write(folder.path() / "later/r1");
  all->refresh();
  EXPECT_EQ(all->runs().size(), 1U);
  EXPECT_THAT(all->notes(), IsEmpty());
}

TEST(ACatalog, RefusesAFileAsARoot) {
  const testing::TempDir folder;
  ASSERT_TRUE(write_file_atomic(folder.path() / "file", "x"));
  const std::vector<fs::path> roots = {folder.path() / "file"};
  const auto all = Catalog::open(roots);
  ASSERT_FALSE(all);
  EXPECT_THAT(all.error().to_string(), HasSubstr("/file' is not a folder"));
}

}  // namespace
}  // namespace profline::catalog
