#include "run_index/run_index.h"

#include <filesystem>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "run_index/folder_lock.h"
#include "run_index/testing_runs.h"
#include "testing/temp_dir.h"

namespace profline::run_index {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RunIndex opened(const fs::path& root) {
  auto index = RunIndex::open(root);
  EXPECT_TRUE(index) << index.error().to_string();
  const auto done = index->refresh();
  EXPECT_TRUE(done) << done.error().to_string();
  return std::move(*index);
}

std::vector<std::string> folders(RunIndex& index) {
  std::vector<std::string> names;
  const auto runs = index.runs();
  EXPECT_TRUE(runs);
  for (const IndexedRun& run : *runs) names.push_back(run.folder + " " + run.state);
  return names;
}

TEST(RunIndex, ListsRunsNewestFirst) {
  const testing::TempDir root;
  TestRun{.second = 1}.write(root / "a");
  TestRun{.second = 3}.write(root / "b");
  TestRun{.state = RunState::Failed, .second = 2}.write(root / "sweep/0");
  fs::create_directories(root / "not a run");
  fs::create_directory_symlink("b", root / "latest");
  RunIndex index = opened(root.path());
  EXPECT_THAT(folders(index), ElementsAre("b ok", "sweep/0 failed", "a ok"));
  EXPECT_THAT(index.notes(), IsEmpty());
  EXPECT_TRUE(fs::exists(root / kIndexFile));
  // What was read from files and what comes back from the index are one.
  EXPECT_EQ(index.runs().value().back(), read_indexed_run(root.path(), "a").value());
}

TEST(RunIndex, FollowsTheFolders) {
  const testing::TempDir root;
  TestRun{.second = 1, .token_ms = 2}.write(root / "a");
  TestRun{.second = 2}.write(root / "b");
  RunIndex index = opened(root.path());
  fs::remove_all(root / "b");
  TestRun{.second = 1, .token_ms = 9}.write(root / "a");
  TestRun{.second = 3}.write(root / "c");
  ASSERT_TRUE(index.refresh());
  EXPECT_THAT(folders(index), ElementsAre("c ok", "a ok"));
  EXPECT_EQ(index.runs()->back().find_metric("token_ms")->value, 9);
}

TEST(RunIndex, CanBeRemovedDamagedOrOfAnotherVersion) {
  const testing::TempDir root;
  TestRun{}.write(root / "a");
  { opened(root.path()); }
  fs::remove(root / kIndexFile);
  {
    RunIndex index = opened(root.path());
    EXPECT_THAT(folders(index), ElementsAre("a ok"));
  }
  ASSERT_TRUE(write_file_atomic(root / kIndexFile, std::string(5000, 'x')));
  {
    RunIndex index = opened(root.path());
    EXPECT_THAT(folders(index), ElementsAre("a ok"));
  }
  fs::resize_file(root / kIndexFile, fs::file_size(root / kIndexFile) / 2);
  {
    RunIndex index = opened(root.path());
    EXPECT_THAT(folders(index), ElementsAre("a ok"));
    ASSERT_TRUE(index.rebuild());
    EXPECT_THAT(folders(index), ElementsAre("a ok"));
  }
  {
    auto other = sqlite::Database::open_read_write(root / kIndexFile, sqlite::Create::No);
    ASSERT_TRUE(other->execute("PRAGMA user_version = 99; DROP TABLE metric;"));
  }
  RunIndex index = opened(root.path());
  EXPECT_THAT(folders(index), ElementsAre("a ok"));
}

TEST(RunIndex, TellsOfRunsItCannotRead) {
  const testing::TempDir root;
  TestRun{}.write(root / "a");
  fs::create_directories(root / "newer");
  ASSERT_TRUE(write_file_atomic(root / "newer/run.json", R"({"schema": "profline.run/9"})"));
  RunIndex index = opened(root.path());
  EXPECT_THAT(folders(index), ElementsAre("a ok"));
  EXPECT_THAT(index.notes(), ElementsAre(HasSubstr("newer is left out: reading " +
                                                   (root / "newer/run.json").string() +
                                                   ": its schema must be 'profline.run/1'")));
}

TEST(RunIndex, TellsARunThatGoesOnFromOneThatWasKilled) {
  const testing::TempDir root;
  TestRun{.state = RunState::Running, .second = 1}.write(root / "killed");
  TestRun{.state = RunState::Running, .second = 2}.write(root / "going");
  const FolderLock lock(root / "going", FolderLock::Kind::Own);
  RunIndex index = opened(root.path());
  EXPECT_THAT(folders(index), ElementsAre("going running", "killed killed"));
}

TEST(RunIndex, IsKeptInMemoryWhereItCannotBeWritten) {
  const testing::TempDir root;
  TestRun{}.write(root / "a");
  // A folder of that name: also root cannot open it.
  fs::create_directories(root / kIndexFile);
  RunIndex index = opened(root.path());
  EXPECT_THAT(folders(index), ElementsAre("a ok"));
  EXPECT_THAT(index.notes(), ElementsAre(HasSubstr("the index is not kept: ")));
  // Who only looks makes no file.
  const testing::TempDir other;
  TestRun{}.write(other / "a");
  ASSERT_TRUE(RunIndex::open(other.path(), RunIndex::Keep::IfThere));
  EXPECT_FALSE(fs::exists(other / kIndexFile));
}

TEST(RunIndex, NeedsAFolder) {
  const testing::TempDir root;
  const auto index = RunIndex::open(root / "nowhere");
  ASSERT_FALSE(index);
  EXPECT_EQ(index.error().to_string(), "there is no folder '" + (root / "nowhere").string() +
                                           "'; --root names the one that runs are written to");
}

TEST(RunIndex, BearsManyReadersWhileRunsComeAndGo) {
  const testing::TempDir root;
  for (int i = 0; i < 10; ++i) TestRun{.second = i}.write(root / ("r" + std::to_string(i)));
  const auto visit = [&root](int id) {
    for (int round = 0; round < 3; ++round) {
      const std::string own = "own" + std::to_string(id);
      TestRun{.second = 30 + round}.write(root / own);
      auto index = RunIndex::open(root.path());
      ASSERT_TRUE(index) << index.error().to_string();
      const auto done = index->refresh();
      ASSERT_TRUE(done) << done.error().to_string();
      ASSERT_GE(index->runs()->size(), 11U);
    }
  };
  {
    std::vector<std::jthread> visitors;
    visitors.reserve(4);
    for (int id = 0; id < 4; ++id) visitors.emplace_back(visit, id);
  }
  RunIndex index = opened(root.path());
  EXPECT_EQ(index.runs()->size(), 14U);
  EXPECT_THAT(index.notes(), IsEmpty());
}

TEST(RunIndex, KnowsTheSpreadOfTheSameThing) {
  const testing::TempDir root;
  TestRun{.token_ms = 2.0}.write(root / "a");
  TestRun{.token_ms = 2.1}.write(root / "b");
  TestRun{.token_ms = 2.2}.write(root / "c");
  TestRun{.state = RunState::Failed, .token_ms = 50}.write(root / "failed");
  TestRun{.model = "other", .token_ms = 90}.write(root / "other");
  RunIndex index = opened(root.path());
  const std::vector<std::string> same = {read_indexed_run(root.path(), "a")->fingerprint};
  const auto spread = index.spread("token_ms", same).value();
  ASSERT_TRUE(spread);
  EXPECT_EQ(spread->degrees, 2);
  // The deviation of log 2, log 2.1 and log 2.2.
  EXPECT_NEAR(spread->deviation, 0.0476596, 1e-6);
  EXPECT_FALSE(index.spread("sam", same).value());
}

}  // namespace
}  // namespace profline::run_index
