#include "tiles/cache.h"

#include <atomic>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/files.h"
#include "testing/temp_dir.h"
#include "tiles/testing_captures.h"

namespace profline::tiles {
namespace {

namespace fs = std::filesystem;

/// Kernels one after the other, and ranges around them: a short capture with bins of many levels.
std::vector<MadeEvent> dense_events(int count) {
  std::vector<MadeEvent> events;
  for (int at = 0; at < count; ++at) {
    const bool is_range = at % 4 == 3;
    const std::int64_t start = at * 300;
    events.push_back({is_range ? MadeEvent::Table::Range : MadeEvent::Table::Kernel, start,
                      start + 100 + at % 7, 7, 1 + at % 11});
  }
  return events;
}

/// A folder with a capture and a cache; counts how often an index is built.
class TilesCache : public ::testing::Test {
 protected:
  void SetUp() override { write_capture(capture(), dense_events(2000)); }

  fs::path capture() const { return folder_ / "capture" / "x.sqlite"; }
  Cache cache() const { return {.folder = folder_ / "cache" / "tiles"}; }
  Result<Index> open() {
    bool is_counted = false;
    return open_index(capture(), cache(), {.keep_going = [&, is_counted](std::uint64_t) mutable {
                        if (!is_counted) ++builds_;
                        return is_counted = true;
                      }});
  }
  std::vector<fs::path> indexes() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(cache().folder)) {
      if (entry.path().extension() == ".tiles") found.push_back(entry.path());
    }
    return found;
  }

  testing::TempDir folder_;
  fs::path made_ = [&] {
    fs::create_directories(folder_ / "capture");
    return folder_ / "capture";
  }();
  std::atomic<int> builds_ = 0;
};

TEST_F(TilesCache, BuildsAnIndexOnceAndNeverWritesNextToTheCapture) {
  ASSERT_TRUE(open());
  const auto index = open();
  ASSERT_TRUE(index) << index.error().to_string();
  EXPECT_EQ(builds_, 1);
  EXPECT_EQ(index->facts().events, 2000U);
  EXPECT_EQ(indexes().size(), 1U);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "capture"), {}), 1);
}

TEST_F(TilesCache, BuildsAgainWhenTheCaptureChanged) {
  ASSERT_TRUE(open());
  fs::remove(capture());
  write_capture(capture(), dense_events(3000));
  const auto index = open();
  ASSERT_TRUE(index) << index.error().to_string();
  EXPECT_EQ(builds_, 2);
  EXPECT_EQ(index->facts().events, 3000U);
  EXPECT_EQ(indexes().size(), 1U);
}

TEST_F(TilesCache, BuildsADamagedIndexAgainOrReportsTheDamage) {
  ASSERT_TRUE(open());
  const fs::path file = indexes().at(0);
  const std::string sound = read_file(file).value();
  const auto index = open();
  ASSERT_TRUE(index);
  std::mt19937 random(1);
  for (int round = 0; round < 40; ++round) {
    std::string damaged = sound;
    const std::size_t at = random() % sound.size();
    if (round % 3 == 0) {
      damaged.resize(at);
    } else {
      damaged[at] = static_cast<char>(damaged[at] ^ static_cast<int>(1 + random() % 255));
    }
    fs::remove(file);  // not overwritten: the sound one is open
    std::ofstream(file, std::ios::binary) << damaged;
    const int before = builds_;
    const auto opened = open();
    ASSERT_TRUE(opened) << opened.error().to_string();
    if (builds_ > before) continue;
    // The directory is sound, so a block is damaged: what is read from it is right or an Error.
    bool is_reported = false;
    for (std::uint32_t row = 0; opened->place(row); ++row) {
      for (std::uint64_t number = 0; number < opened->event_count(row); number += 50) {
        const auto event = opened->event({row, number});
        if (event) {
          EXPECT_EQ(**event, **index->event({row, number}));
        }
        is_reported = is_reported || !event;
      }
      for (std::uint32_t level = 0; level < 40; ++level) {
        const auto bins = opened->bins(row, level, 0, 400);
        if (bins) {
          EXPECT_EQ(*bins, *index->bins(row, level, 0, 400));
        }
        is_reported = is_reported || !bins;
      }
      // A search for nothing reads the totals of every block.
      const std::vector<bool> none(opened->name_count());
      is_reported = is_reported || !opened->find({row}, none, -1, Index::Direction::Next);
      for (std::uint32_t level = 10; level < 40; ++level) {
        const std::int64_t last = opened->facts().length_ns >> level;
        is_reported = is_reported || !opened->bins(row, level, 0, last);
      }
    }
    EXPECT_TRUE(is_reported) << "byte " << at;
  }
}

TEST_F(TilesCache, TwoThatNeedItAtOnceBuildItOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> opened = 0;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      const auto index = open();
      if (index && index->facts().events == 2000) ++opened;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(opened, 4);
  EXPECT_EQ(builds_, 1);
}

TEST_F(TilesCache, RemovesTheIndexesUsedLongestAgo) {
  ASSERT_TRUE(open());
  const fs::path first = indexes().at(0);
  const std::uint64_t size = fs::file_size(first);
  fs::last_write_time(first, fs::file_time_type::clock::now() - std::chrono::hours(2));
  Cache small = cache();
  small.most_bytes = size * 5 / 2;
  std::vector<fs::path> captures;
  for (const char* name : {"a.sqlite", "b.sqlite"}) {
    captures.push_back(folder_ / "capture" / name);
    write_capture(captures.back(), dense_events(2000));
    ASSERT_TRUE(open_index(captures.back(), small));
  }
  EXPECT_EQ(indexes().size(), 2U);
  EXPECT_FALSE(fs::exists(first));
  // The one that is needed stays, however small the room.
  small.most_bytes = 1;
  ASSERT_TRUE(open_index(capture(), small));
  EXPECT_EQ(indexes(), std::vector<fs::path>{first});
}

TEST_F(TilesCache, AMissingCaptureIsNotFound) {
  const auto index = open_index(folder_ / "none.sqlite", cache());
  ASSERT_FALSE(index);
  EXPECT_EQ(index.error().to_string(),
            "cannot read " + (folder_ / "none.sqlite").string() + ": no such file");
  EXPECT_EQ(index.error().kind(), ErrorKind::NotFound);
}

TEST(TilesCacheFolder, IsThatOfTheUser) {
  EXPECT_EQ(cache_folder("/cache", "/home/me"), "/cache/profline/tiles");
  EXPECT_EQ(cache_folder(std::nullopt, "/home/me"), "/home/me/.cache/profline/tiles");
  EXPECT_EQ(cache_folder("relative", "/home/me"), "/home/me/.cache/profline/tiles");
  EXPECT_EQ(cache_folder("", std::nullopt), "");
}

}  // namespace
}  // namespace profline::tiles
