// Captures of several ranks: `profline trace` on many files and on one with several processes, and
// `profline ranks` on a run.

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/json.h"
#include "formats/sqlite.h"
#include "profline_binary.h"
#include "records/rank_analysis.h"
#include "records/run_record.h"
#include "testing/captures/nsys_export.h"
#include "testing/captures/planted_ranks.h"
#include "testing/temp_dir.h"

namespace profline::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// Rank 1 of 3 is late, and clocks are seconds apart.
profline::testing::PlantedTraces three_ranks() {
  profline::testing::PlantedRanks options;
  options.ranks = 3;
  options.steps = 15;
  options.straggler = 1;
  options.ahead_ns = {0, 11'560'000'000, -2'000'000'000};
  return profline::testing::planted_traces(options);
}

void write_traces(const fs::path& folder, const std::string& before, const std::string& after) {
  const auto planted = three_ranks();
  std::vector<std::pair<std::string, std::string>> files;
  for (std::size_t r = 0; r < planted.traces.size(); ++r) {
    files.emplace_back(before + std::to_string(r) + after, planted.traces[r]);
  }
  write_files(folder, files);
}

RankAnalysis analysis_in(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  auto analysis = from_document<RankAnalysis>(outcome.out, "stdout");
  EXPECT_TRUE(analysis) << analysis.error().to_string();
  return analysis ? *std::move(analysis) : RankAnalysis();
}

TEST(TraceRanks, SeveralTracesAreOneTableAcrossRanks) {
  const profline::testing::TempDir folder;
  write_traces(folder.path(), "rank", ".json");
  const std::vector<std::string> files = {"rank2.json", "rank0.json", "rank1.json"};
  std::vector<std::string> words = {"trace"};
  words.insert(words.end(), files.begin(), files.end());
  const Outcome text = run_profline_in(folder.path(), words);
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(StartsWith("3 ranks  numbered by the captures themselves\n"),
                              HasSubstr("  Rank 1 is late: the last in "),
                              HasSubstr("it computes for"), HasSubstr("\nphases  "),
                              HasSubstr("\ncollectives  "), Not(HasSubstr("operators"))));
  words.insert(words.end(), {"--format", "json"});
  const RankAnalysis analysis = analysis_in(run_profline_in(folder.path(), words));
  EXPECT_EQ(analysis.straggler(), 1);
  ASSERT_EQ(analysis.ranks.size(), 3U);
  EXPECT_EQ(analysis.ranks[0].rank, 2) << "in the order given";
  EXPECT_EQ(analysis.ranks[0].clock.state, ClockState::Reference);
  ASSERT_TRUE(analysis.ranks[2].clock.ahead_ns);
  EXPECT_NEAR(static_cast<double>(*analysis.ranks[2].clock.ahead_ns), 13.56e9, 50'000);
}

TEST(TraceRanks, EachOnItsOwnOnRequestOrWithOptionsAboutOne) {
  const profline::testing::TempDir folder;
  write_traces(folder.path(), "rank", ".json");
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--ranks", "no"}, {"--range", "backward"}}) {
    std::vector<std::string> words = {"trace", "rank0.json", "rank1.json"};
    words.insert(words.end(), options.begin(), options.end());
    const Outcome text = run_profline_in(folder.path(), words);
    EXPECT_EQ(text.code, 0) << text.err;
    EXPECT_THAT(text.out, AllOf(HasSubstr("rank0.json\n  Kineto"), HasSubstr("rank1.json\n"),
                                Not(HasSubstr("is late"))));
  }
}

TEST(TraceRanks, AFileIsGivenOnce) {
  const profline::testing::TempDir folder;
  write_traces(folder.path(), "rank", ".json");
  for (const char* again : {"rank0.json", "./rank0.json"}) {
    const Outcome outcome =
        run_profline_in(folder.path(), {"trace", "rank0.json", "rank1.json", again});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.err,
              std::string("profline: '") + again + "' is given twice: name each capture once\n");
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(TraceRanks, ProcessesOfOneSqliteFileFollowItsPage) {
  const profline::testing::TempDir folder;
  ASSERT_TRUE(profline::testing::write_server_workers(folder / "server.sqlite", {}));
  const Outcome text = run_profline_in(folder.path(), {"trace", "server.sqlite"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(StartsWith("server.sqlite\n"),
                              HasSubstr("2 ranks  numbered by the order of the processes' devices"),
                              HasSubstr("Rank 1 is late: the last in 10 of 10 collectives")));
  const Outcome only = run_profline_in(folder.path(), {"trace", "server.sqlite", "--ranks", "no"});
  EXPECT_THAT(only.out, Not(HasSubstr("2 ranks")));
  const Outcome table =
      run_profline_in(folder.path(), {"trace", "server.sqlite", "--ranks", "yes"});
  EXPECT_THAT(table.out, StartsWith("2 ranks  "));
  const Outcome json =
      run_profline_in(folder.path(), {"trace", "server.sqlite", "--format", "json"});
  const auto document = parse_json(json.out, "trace");
  ASSERT_TRUE(document);
  EXPECT_EQ(document->find("schema")->as_string(), "profline.trace/1");
  EXPECT_EQ(document->find("ranks")->find("ranks")->as_list().size(), 2U);
}

TEST(TraceRanks, AHelperProcessDoesNotHideTheOthers) {
  const profline::testing::TempDir folder;
  ASSERT_TRUE(
      profline::testing::write_server_workers(folder / "server.sqlite", {.has_helper = true}));
  const Outcome text = run_profline_in(folder.path(), {"trace", "server.sqlite"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("2 ranks  numbered by the order of the processes' devices"),
                              HasSubstr("Rank 1 is late: the last in 10 of 10 collectives"),
                              HasSubstr("process 12 in server.sqlite shares fewer than 5")));
}

TEST(TraceRanks, OfSeveralSqliteFilesAreTheirProcesses) {
  const profline::testing::TempDir folder;
  ASSERT_TRUE(profline::testing::write_server_workers(folder / "a.sqlite",
                                                      {.late = -1, .has_helper = true}));
  ASSERT_TRUE(profline::testing::write_server_workers(folder / "b.sqlite", {.first_pid = 30}));
  const Outcome text = run_profline_in(folder.path(), {"trace", "a.sqlite", "b.sqlite"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(StartsWith("4 ranks  numbered by the order in which they were given"),
                              HasSubstr("Rank 3 is late: the last in 10 of 10 collectives"),
                              HasSubstr("process 12 in a.sqlite shares fewer than 5")));
}

TEST(TraceRanks, OfARunComeFromItsFolders) {
  const profline::testing::TempDir folder;
  RunRecord record;
  record.id = "r1";
  record.state = RunState::Ok;
  write_files(folder.path(), {{"r1/run.json", write_json(to_node(record)).value()}});
  const Outcome none = run_profline_in(folder.path(), {"ranks", "r1"});
  EXPECT_EQ(none.code, 3);
  EXPECT_EQ(none.err,
            "profline: run r1 has no captures of two ranks or more; 'profline trace FILE...' "
            "compares captures that were made elsewhere\n");
  write_traces(folder / "r1", "torch_profiler/ranks/", "/trace.json");
  const Outcome text = run_profline_in(folder.path(), {"ranks", "r1"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out,
              AllOf(StartsWith("3 ranks  numbered by the folders of the ranks, captured by "
                               "torch_profiler\n"),
                    HasSubstr("Rank 1 is late: ")));
  EXPECT_EQ(
      analysis_in(run_profline_in(folder.path(), {"ranks", "r1", "--format", "json"})).straggler(),
      1);
  const Outcome report = run_profline_in(folder.path(), {"report", "r1"});
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_THAT(report.out, HasSubstr("rank_analysis.json"));
  EXPECT_EQ(run_profline_in(folder.path(), {"ranks"}).code, 2);
}

}  // namespace
}  // namespace profline::e2e
