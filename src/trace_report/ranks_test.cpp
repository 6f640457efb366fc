#include "trace_report/ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/ranks/analysis.h"
#include "base/files.h"
#include "testing/captures/planted_ranks.h"
#include "testing/temp_dir.h"
#include "trace_report/testing_traces.h"

namespace profline::trace_report {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class RankFilesTest : public ::testing::Test {
 protected:
  std::vector<std::string> write(const testing::PlantedRanks& options) {
    const testing::PlantedTraces planted = testing::planted_traces(options);
    std::vector<std::string> files;
    for (std::size_t r = 0; r < planted.traces.size(); ++r) {
      const auto file = folder_ / ("rank" + std::to_string(r) + ".json");
      EXPECT_TRUE(write_file_atomic(file, planted.traces[r]));
      files.push_back(file.string());
    }
    return files;
  }
  std::vector<ranks::Capture> read(const std::vector<std::string>& files) {
    auto job = read_ranks(files, classes_);
    EXPECT_TRUE(job) << job.error().to_string();
    return job ? std::move(job->captures) : std::vector<ranks::Capture>();
  }

  testing::TempDir folder_;
  kernels::Classifier classes_ = kernels::shipped_classifier().value();
};

TEST_F(RankFilesTest, AreReadInTheirOrderAndCompared) {
  std::vector<ranks::Capture> captures =
      read(write({.ranks = 5, .steps = 20, .seed = 3, .straggler = 4}));
  ASSERT_THAT(captures, SizeIs(5));
  for (std::size_t r = 0; r < 5; ++r) EXPECT_EQ(captures[r].rank, static_cast<std::int64_t>(r));
  EXPECT_TRUE(are_ranks(captures));
  EXPECT_EQ(ranks::analyse(captures).straggler(), 4);
}

TEST_F(RankFilesTest, AreRanksIfTheyShareCollectivesThoughTheySayNothing) {
  const std::vector<ranks::Capture> captures =
      read(write({.ranks = 2, .steps = 20, .names_groups = false, .states_rank = false}));
  EXPECT_TRUE(are_ranks(captures));
}

TEST_F(RankFilesTest, OfTwoProgramsAreNotRanks) {
  const testing::TempDir other;
  const std::string text = kGraphTrace;
  ASSERT_TRUE(write_file_atomic(other / "a.json", text));
  ASSERT_TRUE(write_file_atomic(other / "b.json", text));
  const std::vector<ranks::Capture> captures =
      read({(other / "a.json").string(), (other / "b.json").string()});
  EXPECT_FALSE(are_ranks(captures));
}

TEST_F(RankFilesTest, ThatCannotBeReadAreAnErrorWithTheirName) {
  std::vector<std::string> files = write({.ranks = 2, .steps = 2});
  files.push_back((folder_ / "rank9.json").string());
  const auto captures = read_ranks(files, classes_);
  ASSERT_FALSE(captures);
  EXPECT_EQ(captures.error().kind(), ErrorKind::NotFound);
  EXPECT_THAT(captures.error().to_string(), ::testing::HasSubstr("rank9.json"));
}

TEST_F(RankFilesTest, ACaptureOfOneProcessHasNoRanks) {
  const Timeline timeline = trace_in(folder_.path(), kGraphTrace);
  EXPECT_THAT(ranks::processes_as_ranks(timeline, classes_).captures, IsEmpty());
}

}  // namespace
}  // namespace profline::trace_report
