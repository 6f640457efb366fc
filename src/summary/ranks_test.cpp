#include "summary/ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "records/range_use.h"
#include "records/request.h"
#include "records/run_record.h"
#include "run/run.h"
#include "summary/summarise.h"
#include "testing/captures/nsys_export.h"
#include "testing/captures/planted_ranks.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

namespace profline::summary {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A run's folder, as the launcher of ranks leaves it.
class RanksOfRunTest : public ::testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) {
    const auto path = folder_ / file;
    ASSERT_TRUE(create_folders(path.parent_path()));
    ASSERT_TRUE(write_file_atomic(path, text));
  }
  void write_traces(const testing::PlantedRanks& options) {
    const testing::PlantedTraces planted = testing::planted_traces(options);
    for (std::size_t r = 0; r < planted.traces.size(); ++r) {
      write("torch_profiler/ranks/" + std::to_string(r) + "/trace.json", planted.traces[r]);
    }
  }
  run::Run run() const { return run::Run::with_record(folder_.path(), RunRecord()); }

  testing::TempDir folder_;
};

TEST_F(RanksOfRunTest, AreComparedFromTheFoldersOfTheRanks) {
  write_traces({.ranks = 3, .steps = 20, .seed = 2, .straggler = 1, .states_rank = false});
  write("ranks.json", R"({"schema": "profline.ranks/1", "launcher": "srun", "n": 4, "ranks": [
    {"rank": 0, "node": "n1", "why": ""}, {"rank": 1, "node": "n2", "why": ""},
    {"rank": 2, "node": "n2", "why": ""}, {"rank": 3, "node": "n3", "why": "exit code 7"}]})");
  const auto analysis = ranks_of(run());
  ASSERT_TRUE(analysis);
  EXPECT_EQ(analysis->captured_by, "torch_profiler");
  EXPECT_EQ(analysis->ranks_from, "the folders of the ranks");
  ASSERT_EQ(analysis->ranks.size(), 3U);
  EXPECT_EQ(analysis->ranks[1].source, "torch_profiler/ranks/1/trace.json");
  EXPECT_EQ(analysis->ranks[1].node, "n2");
  EXPECT_EQ(analysis->straggler(), 1);
  EXPECT_EQ(analysis->world_size, 4U);
  EXPECT_THAT(analysis->notes, Contains("rank 3 on node n3: exit code 7"));
}

TEST_F(RanksOfRunTest, ACaptureThatCannotBeReadIsANote) {
  write_traces({.ranks = 3, .steps = 20, .seed = 2, .straggler = 1});
  write("torch_profiler/ranks/2/trace.json", "not a trace");
  const auto analysis = ranks_of(run());
  ASSERT_TRUE(analysis);
  EXPECT_EQ(analysis->ranks.size(), 2U);
  EXPECT_THAT(analysis->notes, Contains(StartsWith("torch_profiler/ranks/2/trace.json: ")));
}

TEST_F(RanksOfRunTest, OfSeveralCapturesPerRankTheFirstIsCompared) {
  const auto capture =
      read_file(testing::source_dir() / "tests/golden/nsys/2025.3-decode/input.sqlite");
  ASSERT_TRUE(capture);
  for (const char* rank : {"0", "1"}) {
    for (const char* file : {"run.1.sqlite", "run.2.sqlite"}) {
      write(std::string("nsys/ranks/") + rank + "/" + file, *capture);
    }
  }
  const auto analysis = ranks_of(run());
  ASSERT_TRUE(analysis);
  EXPECT_EQ(analysis->captured_by, "nsys");
  ASSERT_EQ(analysis->ranks.size(), 2U);
  EXPECT_EQ(analysis->ranks[1].source, "nsys/ranks/1/run.1.sqlite");
  EXPECT_THAT(analysis->notes,
              Contains("nsys made several captures per rank; the first one of each is compared"));
}

TEST_F(RanksOfRunTest, ARunWithOneRankHasNone) {
  write_traces({.ranks = 1, .steps = 2});
  EXPECT_EQ(ranks_of(run()), std::nullopt);
}

/// Requests of a rank: a step, in which it computes and then waits for the others.
std::string requests_of(std::int64_t late_ns) {
  std::string lines;
  for (std::uint64_t i = 0; i < 8; ++i) {
    Request request;
    request.id = i;
    request.source = RequestSource::Nvtx;
    request.start_ns = static_cast<std::int64_t>(i) * 10'000'000;
    request.ns = 9'000'000;
    const auto add = [&](const char* path, std::int64_t start_ns, std::int64_t ns) {
      Phase phase;
      phase.path = path;
      phase.start_ns = start_ns;
      phase.ns = ns;
      request.phases.push_back(phase);
    };
    add("forward", 0, 5'000'000 + late_ns);
    add("allreduce", 5'000'000 + late_ns, 4'000'000 - late_ns);
    lines += to_json_line(request) + "\n";
  }
  return lines;
}

TEST_F(RanksOfRunTest, WithoutProfilersComeFromTheirRequests) {
  for (int rank = 0; rank < 4; ++rank) {
    write("baseline/ranks/" + std::to_string(rank) + "/requests.jsonl",
          requests_of(rank == 2 ? 2'000'000 : 0));
  }
  // A profiler that recorded nothing of the collectives does not count.
  for (const char* rank : {"0", "2"}) {
    write(std::string("torch_profiler/ranks/") + rank + "/trace.json",
          R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1,
              "ts": 1, "dur": 1}]})");
  }
  const auto analysis = ranks_of(run());
  ASSERT_TRUE(analysis);
  EXPECT_EQ(analysis->captured_by, "baseline");
  EXPECT_EQ(analysis->straggler(), 2);
  EXPECT_EQ(analysis->stragglers.front().cause, "compute");
  const RunSummary summary = summarise(run());
  ASSERT_TRUE(summary.ranks);
  EXPECT_THAT(summary.verdict, HasSubstr("Rank 2 is late: "));
}

TEST_F(RanksOfRunTest, ComeFromTheStageThatShowsEnoughCollectives) {
  for (int rank = 0; rank < 3; ++rank) {
    write("baseline/ranks/" + std::to_string(rank) + "/requests.jsonl",
          requests_of(rank == 2 ? 2'000'000 : 0));
  }
  write_traces({.ranks = 3, .steps = 1, .collectives_per_step = 1});
  const auto analysis = ranks_of(run());
  ASSERT_TRUE(analysis);
  EXPECT_EQ(analysis->captured_by, "baseline") << "one collective per trace says nothing";
  EXPECT_EQ(analysis->straggler(), 2);
  write_traces({.ranks = 3, .steps = 5, .collectives_per_step = 1});
  EXPECT_EQ(ranks_of(run())->captured_by, "torch_profiler");
}

TEST_F(RanksOfRunTest, MissThoseThatTheLauncherStartedAndNobodyCaptured) {
  const testing::PlantedTraces planted = testing::planted_traces(
      {.ranks = 2, .steps = 20, .seed = 2, .names_groups = false, .states_rank = false});
  write("torch_profiler/ranks/0/trace.json", planted.traces[0]);
  write("torch_profiler/ranks/2/trace.json", planted.traces[1]);
  EXPECT_GT(ranks_of(run())->classes.transfer, 0U);
  write("ranks.json", R"({"schema": "profline.ranks/1", "launcher": "srun", "n": 4, "ranks": []})");
  const auto analysis = ranks_of(run());
  ASSERT_TRUE(analysis);
  EXPECT_EQ(analysis->world_size, 4U);
  EXPECT_EQ(analysis->classes.transfer, 0U);
  EXPECT_THAT(analysis->notes, Contains(StartsWith("2 of 4 ranks were captured")));
}

TEST_F(RanksOfRunTest, ClocksOfDifferentMachinesHaveNoCommonOrigin) {
  for (int rank = 0; rank < 4; ++rank) {
    write("baseline/ranks/" + std::to_string(rank) + "/requests.jsonl",
          requests_of(rank == 2 ? 2'000'000 : 0));
  }
  const auto record = [&](const char* host) {
    write("ranks.json",
          std::string(R"({"schema": "profline.ranks/1", "launcher": "srun", "n": 4, "ranks": [)") +
              R"({"rank": 0, "host": "a"}, {"rank": 1, "host": "a"}, {"rank": 2, "host": ")" +
              host + R"("}, {"rank": 3, "host": "a"}]})");
  };
  record("a");
  EXPECT_EQ(ranks_of(run())->ranks[1].clock.ahead_ns, 0);
  record("b");
  const auto analysis = ranks_of(run());
  ASSERT_TRUE(analysis);
  EXPECT_EQ(analysis->straggler(), 2);
  for (const RankRow& row : analysis->ranks) {
    EXPECT_EQ(row.clock.ahead_ns, std::nullopt) << "uptimes of machines say nothing";
  }
}

TEST_F(RanksOfRunTest, AreTheWorkersOfAServerInItsCapture) {
  ASSERT_TRUE(create_folders(folder_ / "nsys"));
  ASSERT_TRUE(testing::write_server_workers(folder_ / "nsys/run.sqlite", {.has_helper = true}));
  NsysRanges ranges;
  ranges.tool = "nsys 2025.3";
  ranges.captures.emplace_back();
  ranges.captures.back().name = "run";
  ranges.captures.back().sqlite = "run.sqlite";
  ranges.captures.back().devices.resize(2);
  ranges.captures.back().devices[1].device = 1;
  write("nsys/ranges.json", to_document(ranges).value());
  const auto analysis = ranks_of(run());
  ASSERT_TRUE(analysis);
  EXPECT_EQ(analysis->captured_by, "nsys");
  EXPECT_EQ(analysis->ranks_from, "the order of the processes' devices");
  EXPECT_EQ(analysis->ranks.size(), 2U) << "the helper is not a rank";
  EXPECT_EQ(analysis->straggler(), 1);
  EXPECT_THAT(analysis->notes,
              Contains("process 12 in nsys/run.sqlite shares fewer than 5 collectives with others, "
                       "so it is not compared as a rank"));
}

TEST_F(RanksOfRunTest, AreTheWorkersOfAServerWithATraceEach) {
  const testing::PlantedTraces planted =
      testing::planted_traces({.ranks = 3, .steps = 20, .seed = 2, .straggler = 1});
  write("torch_profiler/trace.json", planted.traces[0]);
  write("torch_profiler/kineto_77.json", planted.traces[1]);
  write("torch_profiler/kineto_78.json", planted.traces[2]);
  write("torch_profiler/kineto_60.json",
        R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 60, "tid": 1,
            "ts": 1, "dur": 1}]})");
  write("torch_profiler/traces.json", R"({"schema": "profline.traces/1", "traces": []})");
  const auto analysis = ranks_of(run());
  ASSERT_TRUE(analysis);
  EXPECT_EQ(analysis->captured_by, "torch_profiler");
  EXPECT_EQ(analysis->ranks_from, "the captures themselves");
  EXPECT_EQ(analysis->ranks.size(), 3U) << "process 60 communicates with nobody";
  EXPECT_EQ(analysis->straggler(), 1);
  EXPECT_THAT(analysis->notes,
              Contains(HasSubstr("in torch_profiler/kineto_60.json shares fewer")));
  // An engine's own traces are kept beside the one that the stage shows.
  write("torch_profiler/engine/w0.pt.trace.json", planted.traces[0]);
  write("torch_profiler/engine/w1.pt.trace.json", planted.traces[1]);
  EXPECT_EQ(ranks_of(run())->ranks.size(), 2U);
}

TEST_F(RanksOfRunTest, ProcessesThatCommunicateWithNobodyAreNotRanks) {
  const char* trace = R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm",
      "pid": 60, "tid": 1, "ts": 1, "dur": 1}]})";
  write("torch_profiler/trace.json", trace);
  write("torch_profiler/kineto_77.json", trace);
  EXPECT_EQ(ranks_of(run()), std::nullopt);
}

}  // namespace
}  // namespace profline::summary
