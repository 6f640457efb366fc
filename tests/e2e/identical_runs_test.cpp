// `profline compare` on recorded runs of the same thing: tests/golden/identical_runs.

#include <filesystem>
#include <map>

#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "profline_binary.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

namespace profline::e2e {
namespace {

constexpr int kRuns = 12;

class IdenticalRuns : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int run = 1; run <= kRuns; ++run) {
      const auto samples =
          read_file(testing::source_dir() / "tests/golden/identical_runs" / (name(run) + ".jsonl"));
      ASSERT_TRUE(samples) << samples.error().to_string();
      const std::string minute = "2026-11-16T10:" + name(run);
      write_files(folder_ / name(run),
                  {{"baseline/samples.jsonl", *samples},
                   {"inputs.yaml", "images: [{image: page-0001, sha256: x}]\n"},
                   {"config.resolved.json", R"({"model": {"name": "tiny"}, "device": "cpu"})"},
                   {"run.json", R"({"schema": "profline.run/1", "id": ")" + name(run) +
                                    R"(", "state": "ok", "device": "cpu", "host": "here", )" +
                                    R"("started": ")" + minute + R"(:01.000Z", "ended": ")" +
                                    minute + R"(:03.000Z"})"}});
    }
  }
  static std::string name(int run) { return (run < 10 ? "0" : "") + std::to_string(run); }

  /// The number of rows with each verdict, and with each reason for having none.
  std::map<std::string, int> verdicts(const std::string& a, const std::string& b) const {
    const Outcome outcome = run_profline({"compare", (folder_ / a).string(), (folder_ / b).string(),
                                          "--format", "json", "--fail-on", "never"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const auto document = parse_json(outcome.out, "out");
    EXPECT_TRUE(document);
    std::map<std::string, int> counts;
    if (!document) return counts;
    for (const Node& row : document->find("rows")->as_list()) {
      ++counts[row.find("verdict")->as_string()];
      if (const Node* withheld = row.find("withheld")) ++counts[withheld->as_string()];
    }
    return counts;
  }

  testing::TempDir folder_;
};

TEST_F(IdenticalRuns, AreNotCalledDifferent) {
  int same = 0;
  int rows = 0;
  for (int run = 2; run < kRuns; ++run) {
    SCOPED_TRACE(run);
    auto first = verdicts("01", name(run));
    EXPECT_EQ(first["UNDECIDED"], 10);
    EXPECT_EQ(
        first[(folder_ / "01").string() + " is the first run after a pause, which is often slower"],
        10);
    auto next = verdicts(name(run), name(run + 1));
    EXPECT_EQ(next["FASTER"] + next["SLOWER"], 0);
    same += next["SAME"];
    rows += next["SAME"] + next["UNDECIDED"];
  }
  EXPECT_EQ(rows, 100);
  EXPECT_GE(same, 20) << "they are the same, and agree well enough to show it";
}

TEST_F(IdenticalRuns, AreNotCalledAnythingWhereTheyLieApart) {
  std::filesystem::create_directories(folder_ / "apart");
  std::filesystem::rename(folder_ / "01", folder_ / "apart/01");
  std::filesystem::create_directories(folder_ / "else");
  std::filesystem::rename(folder_ / "02", folder_ / "else/02");
  EXPECT_EQ(verdicts("apart/01", "else/02")["UNDECIDED"], 10);
}

TEST_F(IdenticalRuns, AreTheSameInFoldersOfSeveral) {
  for (int run = 1; run <= kRuns; ++run) {
    const std::string side = run % 2 == 0 ? "even" : "odd";
    std::filesystem::create_directories(folder_ / side);
    std::filesystem::rename(folder_ / name(run), folder_ / side / name(run));
  }
  auto found = verdicts("odd", "even");
  EXPECT_EQ(found["FASTER"] + found["SLOWER"], 0);
  EXPECT_GE(found["SAME"], 5);
}

}  // namespace
}  // namespace profline::e2e
