#include <filesystem>

#include <gtest/gtest.h>

#include "base/files.h"
#include "run/run_folder.h"
#include "run_index/run_selection.h"
#include "run_index/testing_runs.h"
#include "testing/temp_dir.h"

namespace profline::run_index {
namespace {

namespace fs = std::filesystem;
using Action = PruneStep::Action;

IndexedRun run(std::string id, std::string state) {
  IndexedRun made;
  made.id = made.folder = std::move(id);
  made.state = std::move(state);
  return made;
}

TEST(PlanPrune, KeepsTheNewestAndWhatIsGoingOn) {
  const std::vector<IndexedRun> runs = {run("e", "ok"), run("d", "running"), run("c", "failed"),
                                        run("b", "killed"), run("a", "ok")};
  const auto steps = plan_prune(runs, 2);
  ASSERT_EQ(steps.size(), 5U);
  EXPECT_EQ(steps[0].action, Action::Keep);
  EXPECT_EQ(steps[0].why, "one of the 2 newest");
  EXPECT_EQ(steps[1].action, Action::Keep);
  EXPECT_EQ(steps[1].why, "it is still running");
  EXPECT_EQ(steps[2].action, Action::Keep) << "one that is going on does not count";
  EXPECT_EQ(steps[3].action, Action::Remove);
  EXPECT_EQ(steps[3].why, "older than the 2 newest");
  EXPECT_EQ(steps[4].action, Action::Remove);
  for (const PruneStep& step : plan_prune(runs, 0)) {
    EXPECT_EQ(step.action, step.run.id == "d" ? Action::Keep : Action::Remove);
  }
  EXPECT_EQ(plan_prune(runs, 1)[0].why, "it is the newest");
}

TEST(RemoveRun, RemovesAllOfIt) {
  const testing::TempDir root;
  TestRun{}.write(root / "r1");
  EXPECT_GT(bytes_below(root / "r1"), 100U);
  const auto done = remove_run(root.path(), "r1");
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_EQ(*done, std::nullopt);
  EXPECT_TRUE(fs::is_empty(root.path()));
  EXPECT_EQ(remove_run(root.path(), "r1").value(), "it is gone");
}

TEST(RemoveRun, LeavesWhatIsGoingOn) {
  const testing::TempDir root;
  TestRun{.state = RunState::Running}.write(root / "going");
  TestRun{}.write(root / "resumed");
  const run::FolderLock first(root / "going", run::FolderLock::Kind::Own);
  const run::FolderLock second(root / "resumed", run::FolderLock::Kind::Own);
  ASSERT_TRUE(first.is_held() && second.is_held());
  EXPECT_EQ(remove_run(root.path(), "going").value(), "it is still running");
  EXPECT_EQ(remove_run(root.path(), "resumed").value(), "another program is using it");
  EXPECT_TRUE(fs::exists(root / "going/run.json"));
  EXPECT_TRUE(fs::exists(root / "resumed/run.json"));
}

TEST(RemoveRun, TakesAKilledOneForFinished) {
  const testing::TempDir root;
  TestRun{.state = RunState::Running}.write(root / "killed");
  EXPECT_EQ(remove_run(root.path(), "killed").value(), std::nullopt);
  EXPECT_FALSE(fs::exists(root / "killed"));
}

TEST(RemoveRun, LeavesNoLinkThatLeadsNowhere) {
  const testing::TempDir root;
  TestRun{}.write(root / "r1");
  EXPECT_FALSE(remove_dangling_latest(root.path()));
  fs::create_directory_symlink("r1", root / "latest");
  EXPECT_FALSE(remove_dangling_latest(root.path()));
  ASSERT_TRUE(remove_run(root.path(), "r1"));
  EXPECT_TRUE(remove_dangling_latest(root.path()));
  EXPECT_TRUE(fs::is_empty(root.path()));
}

TEST(RemoveRun, RemovesNothingOutsideTheRoot) {
  const testing::TempDir above;
  TestRun{}.write(above / "victim");
  TestRun{}.write(above / "sweep/0");
  TestRun{}.write(above / "root/a");
  const fs::path root = above / "root";
  fs::create_directory_symlink(above / "victim", root / "link");
  fs::create_directory_symlink(above / "sweep", root / "sweep");
  const std::string why = "it is not in " + root.string();
  const std::string absolute = (above / "victim").string();
  for (const std::string& folder :
       {std::string("../victim"), std::string("a/../../victim"), absolute, std::string("link"),
        std::string("sweep/0"), std::string("."), std::string("..")}) {
    EXPECT_EQ(remove_run(root, folder).value(), why) << folder;
  }
  EXPECT_TRUE(fs::exists(above / "victim/run.json"));
  EXPECT_TRUE(fs::exists(above / "sweep/0/run.json"));
  EXPECT_EQ(remove_run(root, "a").value(), std::nullopt);
}

TEST(RemoveRun, DoesNotFollowLinks) {
  const testing::TempDir root;
  ASSERT_TRUE(create_folders(root / "precious"));
  ASSERT_TRUE(write_file_atomic(root / "precious/file", "keep me"));
  TestRun{}.write(root / "r1");
  fs::create_directory_symlink(root / "precious", root / "r1/link");
  EXPECT_LT(bytes_below(root / "r1"), 100'000U);
  EXPECT_EQ(remove_run(root.path(), "r1").value(), std::nullopt);
  EXPECT_TRUE(fs::exists(root / "precious/file"));
}

}  // namespace
}  // namespace profline::run_index
