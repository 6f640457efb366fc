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
using profline::testing::nsys_global_tid;
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

/// Two processes with a GPU each; the second arrives 2 ms late in each all-reduce.
void write_two_processes(const fs::path& path) {
  auto database = sqlite::Database::open_read_write(path, sqlite::Create::Yes);
  ASSERT_TRUE(database);
  ASSERT_TRUE(
      profline::testing::create_nsys_tables(*database, profline::testing::NsysRelease::Y2025));
  const auto run = [&](const std::string& sql) {
    const Result<void> done = database->execute(sql);
    EXPECT_TRUE(done) << done.error().to_string();
  };
  run("INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel'), (2, 'gemm<float>'), (3, 'gemm'), "
      "(4, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL')");
  constexpr std::int64_t kMs = 1'000'000;
  for (int process = 0; process < 2; ++process) {
    std::int64_t correlation = 0;
    const auto kernel = [&](std::int64_t start, std::int64_t end, int name, int stream) {
      ++correlation;
      run("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, "
          "correlationId, nameId, returnValue) VALUES (" +
          std::to_string(start - 5000) + "," + std::to_string(start - 1000) + ",0," +
          std::to_string(nsys_global_tid(10 + process, 1)) + "," + std::to_string(correlation) +
          ",1,0)");
      run("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, "
          "correlationId, globalPid, demangledName, shortName, registersPerThread, gridX, gridY, "
          "gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory, "
          "localMemoryPerThread, localMemoryTotal, gridId) VALUES (" +
          std::to_string(start) + "," + std::to_string(end) + "," + std::to_string(process) +
          ",1," + std::to_string(stream) + "," + std::to_string(correlation) + "," +
          std::to_string(nsys_global_tid(10 + process, 0)) + "," + std::to_string(name) + "," +
          std::to_string(name) + ",40,4,1,1,128,1,1,0,0,0,0,1)");
    };
    for (int step = 0; step < 10; ++step) {
      const std::int64_t at = kMs + step * 10 * kMs;
      const std::int64_t late = process == 1 ? 2 * kMs : 0;
      kernel(at, at + 5 * kMs + late, 2, 7);
      kernel(at + 5 * kMs + late, at + 8 * kMs + step % 3 * 1000, 4, 20);
    }
  }
}

TEST(TraceRanks, ProcessesOfOneSqliteFileFollowItsPage) {
  const profline::testing::TempDir folder;
  write_two_processes(folder / "server.sqlite");
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
