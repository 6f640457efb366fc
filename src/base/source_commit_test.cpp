#include "base/source_commit.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "testing/temp_dir.h"

namespace profline {
namespace {

namespace fs = std::filesystem;

const std::string kFirst(40, 'a');
const std::string kSecond(40, 'b');

class Repository : public ::testing::Test {
 protected:
  void write(const std::string& below, const std::string& text) const {
    const fs::path file = folder_.path() / below;
    ASSERT_TRUE(create_folders(file.parent_path()));
    ASSERT_TRUE(write_file_atomic(file, text));
  }
  std::string commit(const std::string& below = "") const {
    return checked_out_commit(folder_.path() / below);
  }

  testing::TempDir folder_;
};

TEST_F(Repository, WithoutOneThereIsNoCommit) {
  EXPECT_EQ(commit(), "");
}

TEST_F(Repository, HasABranchThatIsCheckedOut) {
  write(".git/HEAD", "ref: refs/heads/main\n");
  EXPECT_EQ(commit(), "") << "no commit yet";
  write(".git/packed-refs",
        "# pack-refs with: peeled\n" + kSecond + " refs/heads/main\n^" + kFirst + "\n");
  EXPECT_EQ(commit(), kSecond);
  write(".git/refs/heads/main", kFirst + "\n");
  EXPECT_EQ(commit(), kFirst) << "newer than what is packed";
  fs::create_directories(folder_.path() / "src/deep");
  EXPECT_EQ(commit("src/deep"), kFirst);
}

TEST_F(Repository, HasADetachedHead) {
  write(".git/HEAD", kFirst + "\n");
  EXPECT_EQ(commit(), kFirst);
}

TEST_F(Repository, HasWorktreesWithHeadsOfTheirOwn) {
  write("main/.git/HEAD", "ref: refs/heads/main\n");
  write("main/.git/refs/heads/main", kFirst);
  write("main/.git/refs/heads/side", kSecond);
  write("main/.git/worktrees/side/HEAD", "ref: refs/heads/side\n");
  write("main/.git/worktrees/side/commondir", "../..\n");
  write("side/.git", "gitdir: ../main/.git/worktrees/side\n");
  EXPECT_EQ(commit("side"), kSecond);
  EXPECT_EQ(commit("main"), kFirst);
}

TEST(ACommit, IsShortenedForPeople) {
  EXPECT_EQ(short_commit(kFirst), "aaaaaaaaaaaa");
  EXPECT_EQ(short_commit("a503ec03630c-modified"), "a503ec03630c-modified");
  EXPECT_EQ(short_commit(""), "");
}

TEST_F(Repository, ThatIsBrokenHasNoCommit) {
  for (const std::string& head :
       {std::string("ref: ../../secret"), std::string("ref: refs/heads/../../x"),
        std::string("ref: HEAD"), std::string("abc"), std::string(40, 'x'), std::string()}) {
    write(".git/HEAD", head);
    EXPECT_EQ(commit(), "") << head;
  }
  write(".git/HEAD", "ref: refs/heads/loop");
  write(".git/refs/heads/loop", "ref: refs/heads/loop");
  EXPECT_EQ(commit(), "");
}

}  // namespace
}  // namespace profline
