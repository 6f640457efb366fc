// `profline compare`: two runs or two folders of runs, to a verdict and an exit code.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "made_runs.h"
#include "profline_binary.h"
#include "testing/temp_dir.h"
#include "workload_binary.h"

namespace profline::e2e {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Compare : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const MadeRun& run) const { run.write(folder_ / name); }

  testing::TempDir folder_;
};

const Node* row_of(const Node& document, std::string_view name) {
  for (const Node& row : document.find("rows")->as_list()) {
    if (row.find("name")->as_string() == name) return &row;
  }
  return nullptr;
}

TEST_F(Compare, FailsForARegression) {
  write("a/r1", {.id = "r1", .token_ms = 2.0, .seed = 1});
  write("b/r2", {.id = "r2", .token_ms = 2.2, .seed = 2});
  const auto compare = [&](const std::string& a, const std::string& b,
                           const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"compare", path(a), path(b), "--run-spread", "2%"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_profline(arguments);
  };
  const Outcome outcome = compare("a/r1", "b/r2");
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(
      outcome.out,
      AllOf(StartsWith("A  " + path("a/r1") + ", 'demo', cuda:0\nB  " + path("b/r2") +
                       ", 'demo', cuda:0\n"),
            HasSubstr("inputs       the same\n"), HasSubstr("SLOWER"), HasSubstr("tokens_per_s"),
            HasSubstr("according to --run-spread, two runs differ by up to 2 %"),
            Not(HasSubstr("\x1b"))));
  EXPECT_EQ(compare("b/r2", "a/r1").code, 0) << "faster is no failure";
  EXPECT_EQ(compare("a/r1", "b/r2", {"--fail-on", "never"}).code, 0);
  EXPECT_EQ(compare("a/r1", "b/r2", {"--threshold", "15%"}).code, 0) << "up to 15 % is no matter";
}

TEST_F(Compare, LeadsWithWhatGotSlower) {
  // Prefill is unchanged, so requests slow down by less than tokens.
  write("a", {.id = "a", .token_ms = 2.0, .deviation = 0.000001, .seed = 1});
  write("b", {.id = "b", .token_ms = 4.0, .deviation = 0.000001, .seed = 2});
  const Outcome outcome = run_profline({"compare", path("a"), path("b"), "--run-spread", "0.1%"});
  EXPECT_THAT(outcome.out,
              HasSubstr("\n4 SLOWER (request_ms +20.5 %, decode_ms +100.0 %, token_ms +100.0 % and "
                        "1 more), 2 SAME\n"));
  EXPECT_LT(outcome.out.find("tokens_per_s\n"), outcome.out.find("prefill_ms\n"));
}

TEST_F(Compare, OfOneRunASideDecidesNothingWhereNoSpreadIsKnown) {
  write("a/r1", {.id = "r1", .token_ms = 2.0, .deviation = 0.001, .seed = 1});
  write("b/r2", {.id = "r2", .token_ms = 1.7, .deviation = 0.001, .seed = 2});
  const Outcome outcome = run_profline({"compare", path("a/r1"), path("b/r2")});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(
      outcome.out,
      AllOf(HasSubstr("\n6 UNDECIDED\nno verdict: too few runs to know the run-to-run spread; "
                      "compare folders with several runs each\n"),
            HasSubstr("run-to-run spread: not known; 2 % between two runs is assumed, as is "
                      "usual on a GPU\n"),
            Not(HasSubstr("FASTER"))));
}

TEST_F(Compare, OfOneRunASideDecidesNothingBelowTheSpreadOfRuns) {
  const auto started = [](int i) { return "2026-11-15T10:00:" + std::to_string(10 + i) + ".000Z"; };
  write("a/r1",
        {.id = "r1", .started = started(1), .token_ms = 2.0, .deviation = 0.001, .seed = 1});
  write("a/r2",
        {.id = "r2", .started = started(2), .token_ms = 2.03, .deviation = 0.001, .seed = 2});
  const auto verdict = [&](const std::string& a, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"compare", path(a),    path("a/r2"), "--format",
                                          "json",    "--metric", "token_ms"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run_profline(arguments);
    const auto document = parse_json(outcome.out, "out");
    EXPECT_TRUE(document) << outcome.err;
    const Node* row = row_of(*document, "token_ms");
    const Node* withheld = row->find("withheld");
    return row->find("verdict")->as_string() + ": " +
           (withheld == nullptr ? "" : withheld->as_string());
  };
  EXPECT_EQ(verdict("a/r1"), "UNDECIDED: too few runs to know the run-to-run spread");
  EXPECT_EQ(verdict("a/r1", {"--run-spread", "0.1%"}), "SLOWER: ");
  EXPECT_EQ(verdict("a/r1", {"--run-spread", "10%"}), "UNDECIDED: ");
  // Neighbouring runs that measured the same thing, r2 among them, and hardly differ.
  for (int i = 3; i <= 8; ++i) {
    const std::string id = "r" + std::to_string(i);
    write("a/" + id, {.id = id,
                      .started = started(i),
                      .token_ms = 2.0 + 0.0005 * i,
                      .deviation = 0.001,
                      .seed = i});
  }
  EXPECT_EQ(verdict("a/r1"), "UNDECIDED: " + path("a/r1") +
                                 " is the first run after a pause, which is often slower");
  EXPECT_EQ(verdict("a/r3"), "UNDECIDED: ") << "r2 is one of them";
  EXPECT_EQ(verdict("a/r3", {"--threshold", "5%"}), "SAME: ");
  write("a/r9", {.id = "r9", .started = started(9), .token_ms = 2.0, .stall = 20});
  EXPECT_EQ(verdict("a/r9"), "UNDECIDED: " + path("a/r9") + " was disturbed");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a/runs.sqlite")) << "it only looked";
}

TEST_F(Compare, TakesFoldersOfRuns) {
  for (int i = 1; i <= 4; ++i) {
    const std::string id = "r" + std::to_string(i);
    const std::string started = "2026-11-15T10:00:0" + std::to_string(i);
    write("a/" + id, {.id = id, .started = started, .token_ms = 2.0 + 0.002 * i, .seed = i});
    write("b/" + id, {.id = id, .started = started, .token_ms = 2.0 + 0.002 * i, .seed = 10 + i});
  }
  const Outcome outcome =
      run_profline({"compare", path("a"), path("b"), "--threshold", "5%", "--format", "json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("{\n  \"schema\": \"profline.comparison/2\",\n"));
  const auto document = parse_json(outcome.out, "out");
  ASSERT_TRUE(document);
  EXPECT_EQ(document->find("a")->as_list().size(), 4U);
  const Node* row = row_of(*document, "token_ms");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->find("verdict")->as_string(), "SAME");
  EXPECT_TRUE(row->find("paired")->as_bool());
  EXPECT_EQ(row->find_path("a.runs")->as_int(), 3) << "the first run of the series is left out";
  EXPECT_EQ(row->find_path("b.runs")->as_int(), 4);
  EXPECT_EQ(document->find("notes")->as_list().front().as_string(),
            path("a/r1") + " is left out: it is the first run after a pause");
}

TEST_F(Compare, SaysThatInputsDiffer) {
  write("a", {.id = "a"});
  write("b", {.id = "b", .seed = 2, .digest = "y"});
  const Outcome outcome = run_profline({"compare", path("a"), path("b")});
  EXPECT_THAT(
      outcome.out,
      HasSubstr("the sides read different inputs (40 changed, 0 only in A, 0 only in B), so "
                "their times are not for the same work\n"));
}

TEST_F(Compare, WritesPagesOfWhateverNamesThereAre) {
  const std::string hostile = "<script>alert(1)</script>|\n# x\x1b[31m\u202E";
  write("a", {.id = "a", .experiment = hostile});
  write("b", {.id = "b", .experiment = hostile, .seed = 2, .digest = hostile});
  const Outcome outcome = run_profline(
      {"compare", path("a"), path("b"), "--markdown", path("c.md"), "--html", path("c.html")});
  EXPECT_NE(outcome.code, -1);
  const std::string html = read_file(folder_ / "c.html").value_or("");
  const std::string markdown = read_file(folder_ / "c.md").value_or("");
  EXPECT_THAT(html, StartsWith("<!doctype html>"));
  EXPECT_THAT(markdown, StartsWith("### profline compare: "));
  for (const std::string& text : {outcome.out, html, markdown}) {
    EXPECT_THAT(text, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\u202E")), HasSubstr("u202e")));
  }
  EXPECT_THAT(html, Not(HasSubstr("<script")));
}

TEST_F(Compare, RefusesWhatItCannotUse) {
  write("a", {});
  std::filesystem::create_directories(folder_ / "empty");
  struct Case {
    std::vector<std::string> arguments;
    int code;
    std::string message;
  };
  const Case cases[] = {
      {{"compare", path("a")},
       2,
       "'profline compare RUN_A RUN_B' takes two folders of runs, not 1"},
      {{"compare", path("a"), path("nowhere")},
       3,
       "'" + path("nowhere") +
           "' is not a folder: give that of a run, or one that contains several"},
      {{"compare", path("empty"), path("a")},
       3,
       "'" + path("empty") + "' contains no run: neither it nor a folder in it has a run.json"},
      {{"compare", path("a"), path("a"), "--threshold", "3"},
       2,
       "--threshold takes a share below 100 %, as in 3% or 0.03, not '3'"},
      {{"compare", path("a"), path("a"), "--metric", "token_m"},
       3,
       "--metric: neither side has 'token_m' (did you mean 'token_ms'?)"},
  };
  for (const Case& c : cases) {
    const Outcome outcome = run_profline(c.arguments);
    EXPECT_EQ(outcome.code, c.code);
    EXPECT_EQ(outcome.err, "profline: " + c.message + "\n");
    EXPECT_EQ(outcome.out, "");
  }
}

TEST_F(Compare, ComparesRealRuns) {
  if (!has_workload()) GTEST_SKIP() << "profline-workload is not built here";
  for (const std::string name : {"a", "b"}) {
    const Outcome run = run_profline_in(
        folder_.path(),
        {"demo", "-q", "device=cpu", "pipeline.workload.threads=1", "dataset.pages=3",
         "dataset.page_sizes=[96x64]", "infer.max_new_tokens=4", "pipeline.nsys.enable=false",
         "pipeline.static_analysis.enable=false", "hydra.run.dir=" + name});
    ASSERT_EQ(run.code, 0) << run.err;
  }
  const Outcome outcome =
      run_profline({"compare", path("a"), path("b"), "--format", "json", "--fail-on", "never"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto document = parse_json(outcome.out, "out");
  ASSERT_TRUE(document);
  EXPECT_TRUE(document->find_path("differences.same_inputs")->as_bool());
  EXPECT_TRUE(document->find_path("differences.config")->as_list().empty());
  for (const char* name : {"request_ms", "token_ms", "sam", "lm", "aten::mm"}) {
    const Node* row = row_of(*document, name);
    ASSERT_NE(row, nullptr) << name;
    EXPECT_TRUE(row->find("verdict")->is_string()) << name;
  }
}

}  // namespace
}  // namespace profline::e2e
