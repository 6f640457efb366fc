#include "base/unfinished_work.h"

#include <string>

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/files.h"
#include "testing/forked.h"
#include "testing/temp_dir.h"

namespace profline {
namespace {

namespace fs = std::filesystem;

// Each in a child process: what is undone holds for the rest of a process's life.

TEST(UnfinishedWork, IsUndoneYoungestFirstUnlessItWasFinished) {
  EXPECT_EQ(testing::in_child([] {
              std::string undone;
              const UnfinishedWork first([&] { undone += "first "; });
              UnfinishedWork second([&] { undone += "second "; });
              UnfinishedWork moved = std::move(second);
              UnfinishedWork third([&] { undone += "third "; });
              {
                const UnfinishedWork over([&] { undone += "over "; });
              }
              third.finish();
              undo_unfinished_work();
              return undone;
            }),
            "second first ");
}

TEST(UnfinishedWork, MayItselfWriteFiles) {
  const testing::TempDir folder;
  EXPECT_EQ(testing::in_child([&]() -> std::string {
              const UnfinishedWork work([path = folder / "record"] {
                static_cast<void>(write_file_atomic(path, "interrupted"));
              });
              undo_unfinished_work();
              return read_file(folder / "record").value_or("nothing");
            }),
            "interrupted");
}

TEST(UnfinishedWork, AnAtomicFileLeavesNoTemporary) {
  const testing::TempDir folder;
  const std::string left = testing::in_child([&]() -> std::string {
    auto done = AtomicFile::create(folder / "done");
    auto half = AtomicFile::create(folder / "half");
    if (!done || !half || !done->append("whole") || !half->append("ha") || !done->commit()) {
      return "cannot write";
    }
    undo_unfinished_work();
    std::string names;
    for (const auto& entry : fs::directory_iterator(folder.path())) {
      names += entry.path().filename().string() + " ";
    }
    return names;
  });
  EXPECT_EQ(left, "done ");
}

}  // namespace
}  // namespace profline
