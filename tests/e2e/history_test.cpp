// `profline compare --history`: the newest run against those before it, and its output for CI.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "made_runs.h"
#include "profline_binary.h"
#include "testing/temp_dir.h"

namespace profline::e2e {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// One run per commit, one per hour.
class History : public ::testing::Test {
 protected:
  /// `token_ms` of each, with 0.5 % of noise between runs.
  void add(int run, double token_ms, const std::string& experiment = "nightly") {
    const double between[] = {0.1, -0.4, 0.6, -0.2, 0.3, -0.7, 0.0, 0.5, -0.1, 0.2, -0.5};
    MadeRun{.id = fmt::format("r{:02}", run),
            .experiment = experiment,
            .started = fmt::format("2026-11-{:02}T{:02}:00:00.000Z", 10 + run / 24, run % 24),
            .commit = fmt::format("c0ffee{:02}", run),
            .token_ms = token_ms * (1 + between[run % 11] / 100),
            .images = 10,
            .seed = run}
        .write(root() / fmt::format("r{:02}", run));
  }
  std::filesystem::path root() const { return folder_ / "tmp/profile-output"; }
  Outcome compare(std::vector<std::string> more, std::map<std::string, std::string> env = {}) {
    more.insert(more.begin(), "compare");
    Command command;
    command.cwd = folder_.path();
    command.env = std::move(env);
    return run_profline(std::move(more), command);
  }
  std::string file(const std::string& name) const {
    return read_file(folder_ / name).value_or("absent");
  }

  testing::TempDir folder_;
};

TEST_F(History, FindsAStepOfThreePercentWithItsCommit) {
  for (int run = 0; run < 16; ++run) add(run, 2);
  for (int run = 16; run < 24; ++run) add(run, 2.06);
  const Outcome text = compare({"--history", "30", "--metric", "token_ms"});
  EXPECT_EQ(text.code, 1) << text.err;
  EXPECT_THAT(text.out,
              HasSubstr("token_ms  SLOWER since r16 (2026-11-10T16:00:00.000Z, commit c0ffee16 "
                        "after c0ffee15): "));
  const Outcome json = compare({"--history", "30", "--metric", "token_ms", "--format", "json"});
  const auto document = parse_json(json.out, "out");
  ASSERT_TRUE(document) << json.out;
  EXPECT_EQ(document->find("schema")->as_string(), "profline.history/1");
  const Node& change = *document->find_path("metrics.0.changes.0");
  EXPECT_EQ(change.find("commit")->as_string(), "c0ffee16");
  EXPECT_EQ(change.find("verdict")->as_string(), "SLOWER");
  EXPECT_NEAR(change.find("change")->as_float(), 0.03, 0.006);
  EXPECT_EQ(compare({"--history", "30", "--fail-on", "never"}).code, 0);
}

TEST_F(History, OfTheSameThingHasNoRegression) {
  for (int run = 0; run < 24; ++run) add(run, 2);
  const Outcome found = compare({"--history", "20"});
  EXPECT_EQ(found.code, 0) << found.out;
  EXPECT_THAT(found.out, HasSubstr("no regression\n"));
  EXPECT_EQ(compare({"--history", "20", (root() / "r12").string()}).code, 0);
}

TEST_F(History, SeesAGrossChangeInTheNewestRunAlone) {
  for (int run = 0; run < 12; ++run) add(run, 2);
  add(12, 2.6);
  const Outcome found = compare({"--history", "20", "--metric", "token_ms"});
  EXPECT_EQ(found.code, 1);
  EXPECT_THAT(found.out, HasSubstr("token_ms  SLOWER: the newest run has 2."));
}

TEST_F(History, LeavesOutRunsOfOtherThings) {
  for (int run = 0; run < 12; ++run) add(run, 2);
  for (int run = 12; run < 20; ++run) add(run, 3, "other");
  add(20, 2);
  const Outcome found = compare({"--history", "20", "--format", "json"});
  EXPECT_EQ(found.code, 0) << found.out;
  const auto document = parse_json(found.out, "out");
  EXPECT_EQ(document->find_path("metrics.0.points")->as_list().size(), 13U);
}

TEST_F(History, SaysThatThereAreTooFewRuns) {
  for (int run = 0; run < 3; ++run) add(run, 2);
  const Outcome found = compare({"--history", "20"});
  EXPECT_EQ(found.code, 0);
  EXPECT_THAT(found.out, HasSubstr("2 comparable runs before the newest one: at least 4 are needed "
                                   "to tell a change from noise"));
  EXPECT_EQ(compare({"--history", "20", "--fail-on", "undecided"}).code, 1);
}

TEST_F(History, ReportsToContinuousIntegration) {
  for (int run = 0; run < 16; ++run) add(run, 2);
  for (int run = 16; run < 24; ++run) add(run, 2.2);
  ASSERT_TRUE(write_file_atomic(folder_ / "summary.md", "before\n"));
  const Outcome found = compare({"--history", "30", "--metric", "token_ms", "--junit", "junit.xml",
                                 "--markdown", "comment.md", "--github", "--format", "json"},
                                {{"GITHUB_STEP_SUMMARY", (folder_ / "summary.md").string()}});
  EXPECT_EQ(found.code, 1);
  EXPECT_TRUE(parse_json(found.out, "out"));
  EXPECT_THAT(found.err,
              HasSubstr("::error title=profline history%3A token_ms::SLOWER since r16 ("));
  EXPECT_THAT(file("junit.xml"),
              AllOf(HasSubstr("<testsuites tests=\"1\" failures=\"1\" skipped=\"0\" errors=\"0\">"),
                    HasSubstr("<failure message=\"SLOWER since r16 (")));
  EXPECT_THAT(file("comment.md"), HasSubstr("**Slower: token\\_ms**"));
  EXPECT_EQ(file("summary.md"), "before\n" + file("comment.md") + "\n");
}

TEST_F(History, OfAPairReportsToContinuousIntegrationToo) {
  for (int run = 0; run < 5; ++run) add(run, 2);
  for (int run = 5; run < 10; ++run) add(run, 3);
  const std::filesystem::path base = folder_ / "base";
  const std::filesystem::path head = folder_ / "head";
  for (int run = 0; run < 10; ++run) {
    std::filesystem::create_directories(run < 5 ? base : head);
    const std::string name = fmt::format("r{:02}", run);
    std::filesystem::rename(root() / name, (run < 5 ? base : head) / name);
  }
  const Outcome found = compare({"base", "head", "--junit", "junit.xml", "--github"});
  EXPECT_EQ(found.code, 1);
  EXPECT_THAT(found.err, HasSubstr("::error title=profline compare%3A token_ms::SLOWER: 2."));
  EXPECT_THAT(file("junit.xml"), HasSubstr("<testcase classname=\"profline compare.metric\" "
                                           "name=\"token_ms\">\n      <failure message=\"SLOWER"));
}

TEST_F(History, RefusesWhatItCannotDo) {
  add(0, 2);
  EXPECT_EQ(compare({"--history", "20", "r0", "r1"}).err,
            "profline: 'profline compare --history N' takes one run or folder of runs, not 2\n");
  EXPECT_EQ(compare({"--history", "20", "--html", "x.html"}).err,
            "profline: --html has no meaning with --history\n");
  EXPECT_EQ(compare({"--history", "0"}).code, 2);
  const Outcome unknown = compare({"--history", "20", "--metric", "joules"});
  EXPECT_EQ(unknown.code, 3);
  EXPECT_THAT(unknown.err, HasSubstr("no metric of r00 is called joules; it has request_ms, "));
  EXPECT_EQ(compare({"--history", "20", "nowhere"}).code, 3);
}

}  // namespace
}  // namespace profline::e2e
