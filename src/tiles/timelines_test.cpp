#include "tiles/timelines.h"

#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/files.h"
#include "testing/temp_dir.h"
#include "tiles/testing_captures.h"

namespace profline::tiles {
namespace {

constexpr Timelines::Options kPatient{.patience = std::chrono::minutes(1), .most_open = 2};

class TilesTimelines : public ::testing::Test {
 protected:
  std::filesystem::path capture(const std::string& name, std::size_t events = 500) {
    write_capture(folder_ / name, irregular_events(1, events));
    return folder_ / name;
  }
  Cache cache() const { return {.folder = folder_ / "cache"}; }

  testing::TempDir folder_;
};

TEST_F(TilesTimelines, AnswersForSeveralCapturesAndThreads) {
  Timelines timelines(cache(), kPatient);
  std::vector<std::filesystem::path> captures;
  for (const char* name : {"a", "b", "c"}) captures.push_back(capture(name, 300 + captures.size()));
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < 6; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::size_t round = 0; round < 20; ++round) {
        const std::size_t which = (thread + round) % captures.size();
        const auto answer = timelines.answer(captures[which], "what=capture");
        ASSERT_TRUE(answer) << answer.error().to_string();
        EXPECT_NE(answer->find("\"events\":" + std::to_string(300 + which) + ","),
                  std::string::npos)
            << *answer;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(TilesTimelines, SaysThatItIsBuilding) {
  const std::filesystem::path path = capture("a");
  Timelines timelines(cache(), {.patience = std::chrono::milliseconds(0), .most_open = 2});
  const auto first = timelines.answer(path, "what=totals");
  ASSERT_TRUE(first) << first.error().to_string();
  // The thread may have been quick.
  if (first->find("\"state\"") != std::string::npos) {
    EXPECT_TRUE(first->starts_with(R"({"schema":"profline.tiles/1","state":"building","events":)"));
  }
  Timelines patient(cache(), kPatient);
  const auto answer = patient.answer(path, "what=totals");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->find("\"state\""), std::string::npos);
}

TEST_F(TilesTimelines, FollowsACaptureThatChanges) {
  Timelines timelines(cache(), kPatient);
  const std::filesystem::path path = capture("a");
  const auto before = timelines.answer(path, "what=capture");
  std::filesystem::remove(path);
  capture("a", 700);
  const auto after = timelines.answer(path, "what=capture");
  ASSERT_TRUE(before && after);
  EXPECT_NE(before->find("\"events\":500,"), std::string::npos);
  EXPECT_NE(after->find("\"events\":700,"), std::string::npos);
}

TEST_F(TilesTimelines, BuildsADamagedIndexAgain) {
  const std::filesystem::path path = capture("a");
  std::string sound;
  {
    Timelines timelines(cache(), kPatient);
    sound = timelines.answer(path, "what=event&id=0.3").value();
  }
  for (const auto& entry : std::filesystem::directory_iterator(cache().folder)) {
    if (entry.path().extension() != ".tiles") continue;
    std::string bytes = read_file(entry.path()).value();
    // The first block is at the beginning.
    bytes[5] = static_cast<char>(bytes[5] ^ 1);
    std::ofstream(entry.path(), std::ios::binary | std::ios::trunc) << bytes;
  }
  Timelines timelines(cache(), kPatient);
  const auto answer = timelines.answer(path, "what=event&id=0.3");
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_EQ(*answer, sound);
}

TEST_F(TilesTimelines, ReportsWhatCannotBeReadAndTriesAgain) {
  Timelines timelines(cache(), kPatient);
  std::ofstream(folder_ / "a") << "no capture";
  EXPECT_FALSE(timelines.answer(folder_ / "a", "what=capture"));
  EXPECT_EQ(timelines.answer(folder_ / "a", "what=nothing").error().kind(), ErrorKind::Config);
  EXPECT_EQ(timelines.answer(folder_ / "b", "what=capture").error().kind(), ErrorKind::NotFound);
  std::filesystem::remove(folder_ / "a");
  capture("a");
  EXPECT_TRUE(timelines.answer(folder_ / "a", "what=capture"));
}

}  // namespace
}  // namespace profline::tiles
