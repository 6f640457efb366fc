// Both stores keep the same promises.
#include "run_index/internal/store.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/temp_dir.h"

namespace profline::run_index::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

IndexedRow row(const std::string& folder, const std::string& started, const std::string& stamp) {
  IndexedRow made;
  made.run.id = folder;
  made.run.folder = folder;
  made.run.state = "ok";
  made.run.started = started;
  made.run.exit_code = 0;
  made.run.disturbance = 0.25;
  made.run.metrics = {{"token_ms", "ms", 2.5, 3}, {"request_ms", "ms", 40, 1}};
  made.stamp = stamp;
  return made;
}

class EveryStore : public ::testing::TestWithParam<bool> {
 protected:
  EveryStore() {
    if (GetParam()) {
      auto opened = store_in_file(root_ / "index");
      EXPECT_TRUE(opened) << opened.error().to_string();
      store_ = *std::move(opened);
    } else {
      store_ = store_in_memory();
    }
  }

  /// `a, b`: the folders of the runs, in order.
  std::string folders() {
    std::string text;
    const std::vector<IndexedRun> runs = store_->runs().value();
    for (const IndexedRun& run : runs) {
      text += (text.empty() ? "" : ", ") + run.folder;
    }
    return text;
  }

  testing::TempDir root_;
  std::unique_ptr<Store> store_;
};

TEST_P(EveryStore, ReturnsWhatWasWrittenNewestFirst) {
  for (const char* folder : {"b", "a"}) ASSERT_TRUE(store_->write(row(folder, "2026-01", "1")));
  const IndexedRow newest = row("sweep/0", "2026-02", "2");
  ASSERT_TRUE(store_->write(newest));
  EXPECT_EQ(folders(), "sweep/0, b, a") << "of the same time, by folder";
  EXPECT_EQ(store_->runs()->front(), newest.run);
  EXPECT_THAT(store_->stamps().value(),
              ElementsAre(Pair("a", "1"), Pair("b", "1"), Pair("sweep/0", "2")));
}

TEST_P(EveryStore, HasOneRowPerFolder) {
  ASSERT_TRUE(store_->write(row("a", "2026-01", "1")));
  IndexedRow later = row("a", "2026-02", "2");
  later.run.metrics = {{"token_ms", "ms", 9, 1}};
  ASSERT_TRUE(store_->write(later));
  EXPECT_THAT(store_->runs().value(), ElementsAre(later.run));
  EXPECT_THAT(store_->stamps().value(), ElementsAre(Pair("a", "2")));
}

TEST_P(EveryStore, Forgets) {
  for (const char* folder : {"a", "b", "c"}) {
    ASSERT_TRUE(store_->write(row(folder, "2026-01", "1")));
  }
  ASSERT_TRUE(store_->forget("b"));
  ASSERT_TRUE(store_->forget("never there"));
  EXPECT_EQ(folders(), "c, a");
  ASSERT_TRUE(store_->clear());
  EXPECT_THAT(store_->runs().value(), IsEmpty());
  EXPECT_THAT(store_->stamps().value(), IsEmpty());
  ASSERT_TRUE(store_->write(row("b", "2026-01", "2")));
  EXPECT_EQ(store_->runs()->front().metrics.size(), 2U) << "those of before are gone as well";
}

TEST_P(EveryStore, PassesOnWhyAChangeFailed) {
  EXPECT_TRUE(store_->change([&] { return store_->write(row("a", "2026-01", "1")); }));
  EXPECT_EQ(folders(), "a");
  const auto failed = store_->change([] { return Error(ErrorKind::Io, "no"); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().to_string(), "no");
  EXPECT_EQ(folders(), "a");
}

INSTANTIATE_TEST_SUITE_P(, EveryStore, ::testing::Values(false, true),
                         [](const auto& info) { return info.param ? "File" : "Memory"; });

TEST(StoreInFile, IsAsBeforeIfAChangeFails) {
  const testing::TempDir root;
  const auto store = store_in_file(root / "index").value();
  ASSERT_TRUE(store->write(row("a", "2026-01", "1")));
  EXPECT_FALSE(store->change([&]() -> Result<void> {
    PL_TRY(store->forget("a"));
    PL_TRY(store->write(row("b", "2026-01", "1")));
    return Error(ErrorKind::Io, "no");
  }));
  EXPECT_THAT(store->stamps().value(), ElementsAre(Pair("a", "1")));
  EXPECT_EQ(rows_in_file(root / "index")->front().run, row("a", "2026-01", "1").run);
}

}  // namespace
}  // namespace profline::run_index::internal
