// `profline report RUN` on a recorded run: tests/golden/report/cpu-tiny.

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/digests.h"
#include "base/files.h"
#include "formats/json.h"
#include "run_folder.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

namespace profline::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Report : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::copy(testing::source_dir() / "tests/golden/report/cpu-tiny/run",
                          folder_ / "run", std::filesystem::copy_options::recursive);
  }
  Outcome run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "report");
    return run_profline_in(folder_.path(), std::move(arguments));
  }
  const testing::TempDir& folder() const { return folder_; }

 private:
  testing::TempDir folder_;
};

TEST_F(Report, WritesTheReportAgainAndPrintsTheVerdict) {
  const Outcome outcome = run({"run"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, StartsWith("Phase sam is host-bound: "));
  EXPECT_THAT(outcome.out,
              HasSubstr("run/summary.json\nrun/report.md\nrun/operators.md\n"
                        "run/kernels.md\nrun/stakeholder_summary.md\nrun/report.html\n"));
  EXPECT_TRUE(std::filesystem::exists(folder() / "run/report.md"));
  EXPECT_TRUE(std::filesystem::exists(folder() / "run/report.html"));
}

TEST_F(Report, IsWhatTheRunsRecordSaysOfIt) {
  ASSERT_TRUE(write_file_atomic(folder() / "run/report.md", "of another release"));
  ASSERT_TRUE(write_file_atomic(folder() / "run/notes.txt", "the user's own"));
  ASSERT_EQ(run({"run"}).code, 0);
  std::vector<std::string> digested;
  for (const ArtifactRecord& artifact : record_of(folder() / "run").artifacts) {
    digested.push_back(artifact.path.string());
    EXPECT_EQ(artifact.sha256, sha256_file(folder() / "run" / artifact.path).value_or(""));
  }
  EXPECT_THAT(digested, ElementsAre("kernels.md", "operators.md", "report.html", "report.md",
                                    "stakeholder_summary.md", "summary.json"));
}

TEST_F(Report, LeavesTheRecordOfARunThatGoesOn) {
  const std::filesystem::path file = folder() / "run/run.json";
  std::string text = read_file(file).value();
  const std::size_t at = text.find(R"("state": "ok")");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 13, R"("state": "running")");
  ASSERT_TRUE(write_file_atomic(file, text));
  EXPECT_EQ(run({"run"}).code, 0);
  EXPECT_EQ(read_file(file).value(), text);
}

TEST_F(Report, AsJson) {
  const Outcome outcome = run({"run", "--format", "json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto document = parse_json(outcome.out, "stdout");
  ASSERT_TRUE(document) << document.error().to_string();
  EXPECT_EQ(document->find("schema")->as_string(), "profline.report/1");
  EXPECT_EQ(document->find("files")->as_list().size(), 6U);
}

TEST_F(Report, AFolderThatIsNoRunIsAbsent) {
  EXPECT_EQ(run({"nowhere"}).code, 3);
  const Outcome outcome = run({"run/baseline"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("run/baseline/run.json"));
  EXPECT_FALSE(std::filesystem::exists(folder() / "run/baseline/report.md"));
}

TEST_F(Report, TakesOneRun) {
  const Outcome outcome = run({});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("'profline report RUN' takes one run's folder"));
  EXPECT_EQ(run({"run", "run"}).code, 2);
}

/// PROFLINE_UPDATE_GOLDEN=1 rewrites the reports of the example.
TEST(RecordedExample, HasTheReportsThatProflineWrites) {
  const std::filesystem::path example = testing::source_dir() / "docs/examples/h200";
  const testing::TempDir folder;
  std::filesystem::copy(example, folder / "h200", std::filesystem::copy_options::recursive);
  const Outcome outcome = run_profline_in(folder.path(), {"report", "h200"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char* name :
       {"summary.json", "report.md", "operators.md", "kernels.md", "stakeholder_summary.md"}) {
    SCOPED_TRACE(name);
    const std::string made = read_file(folder / "h200" / name).value_or("");
    if (std::getenv("PROFLINE_UPDATE_GOLDEN") != nullptr) {
      ASSERT_TRUE(write_file_atomic(example / name, made));
    }
    // Thousands of lines: which file differs is enough.
    EXPECT_TRUE(made == read_file(example / name).value_or("")) << "report makes another file";
  }
}

}  // namespace
}  // namespace profline::e2e
