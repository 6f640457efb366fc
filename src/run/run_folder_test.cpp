#include "run/run_folder.h"

#include <unistd.h>

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/files.h"
#include "testing/forked.h"
#include "testing/temp_dir.h"

namespace profline::run {
namespace {

namespace fs = std::filesystem;

TEST(RunFolder, ANameThatIsTakenGetsASuffix) {
  const testing::TempDir folder;
  const FolderRequest request{folder / "a/run"};
  auto first = RunFolder::claim(request);
  ASSERT_TRUE(first) << first.error().to_string();
  EXPECT_EQ(first->path(), folder / "a/run");
  EXPECT_EQ(free_run_folder(request).value(), folder / "a/run-2");
  auto second = RunFolder::claim(request);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->path(), folder / "a/run-2");
}

TEST(RunFolder, GoesAwayUnlessKept) {
  const testing::TempDir folder;
  {
    const auto dropped = RunFolder::claim({folder / "a/b/run"});
    ASSERT_TRUE(dropped);
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
  {
    auto kept = RunFolder::claim({folder / "a/b/run"});
    ASSERT_TRUE(kept);
    kept->keep();
  }
  EXPECT_TRUE(fs::is_directory(folder / "a/b/run"));
}

TEST(RunFolder, AGivenOneMayExistButHoldNoRunAndBeNobodyElses) {
  const testing::TempDir folder;
  const FolderRequest request{folder / "run", true};
  fs::create_directory(folder / "run");
  {
    const auto mine = RunFolder::claim(request);
    ASSERT_TRUE(mine) << mine.error().to_string();
    const auto other = RunFolder::claim(request);
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().to_string(),
              "run folder '" + request.folder.string() + "' is in use by another profline");
  }
  ASSERT_TRUE(write_file_atomic(folder / "run/run.json", "{}"));
  const auto refused = RunFolder::claim(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::Config);
  EXPECT_EQ(refused.error().to_string(),
            "hydra.run.dir: '" + request.folder.string() +
                "' already holds a run; choose another folder, or resume it: --resume " +
                request.folder.string());
  EXPECT_EQ(free_run_folder(request).error().to_string(), refused.error().to_string());
}

TEST(RunFolder, LatestPointsAtTheNewestAndLeavesWhatIsNoLink) {
  const testing::TempDir folder;
  for (const char* name : {"1", "2"}) {
    fs::create_directory(folder / name);
    EXPECT_EQ(point_latest_at(folder / name), std::nullopt);
    EXPECT_EQ(fs::read_symlink(folder / "latest"), name);
  }
  fs::remove(folder / "latest");
  fs::create_directory(folder / "latest");
  const auto note = point_latest_at(folder / "1");
  ASSERT_TRUE(note);
  EXPECT_EQ(note->text, "cannot create the link " + (folder / "latest").string() +
                            ": something else has that name");
}

/// Starts to write a file there, and is killed.
void leave_temporary(const fs::path& folder) {
  fs::create_directories(folder);
  testing::in_child([&]() -> std::string {
    auto file = AtomicFile::create(folder / "config.yaml");
    if (file && file->append("half")) ::_exit(0);  // as if killed: nothing is undone
    return "";
  });
  ASSERT_FALSE(fs::is_empty(folder)) << "nothing to remove";
}

TEST(RunFolder, WhatAKilledStartLeftBeforeItsRecordIsRemovedByTheNext) {
  const testing::TempDir root;
  const SystemClock clock;
  leave_temporary(root / "1");  // and nothing else
  leave_temporary(root / "2");
  ASSERT_TRUE(write_file_atomic(root / "2/config.yaml", "a: 1"));
  leave_temporary(root / "3");
  ASSERT_TRUE(write_file_atomic(root / "3/run.json", "{}"));  // --resume handles this one
  leave_temporary(root / "4");
  const auto used = RunFolder::claim({root / "4", true});
  ASSERT_TRUE(used) << used.error().to_string();
  leave_temporary(root / "5");
  const std::string gone = testing::in_child([] { return std::to_string(::getpid()); });
  fs::create_directory_symlink("5", root / (".latest-" + gone));
  fs::create_directory_symlink("5", root / (".latest-" + std::to_string(::getpid())));
  fs::create_directory_symlink("5", root / ".latest-mine");
  clear_unfinished_starts(root / "5", true, clock);
  std::vector<std::string> left;
  for (const auto& entry : fs::recursive_directory_iterator(root.path())) {
    const std::string name = entry.path().lexically_relative(root.path()).string();
    left.push_back(name.substr(0, std::min(name.find("-tmp-"), name.size() - 4) + 4));
  }
  EXPECT_THAT(left, ::testing::UnorderedElementsAre("2", "2/config.yaml", "3", "3/run.json",
                                                    "3/.profline-tmp", "4", "4/.profline-tmp", "5",
                                                    ".latest-" + std::to_string(::getpid()),
                                                    ".latest-mine"));
}

}  // namespace
}  // namespace profline::run
