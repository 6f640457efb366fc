#include "comparison/run_measurements.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "comparison/testing_measurements.h"
#include "formats/json.h"
#include "records/document.h"
#include "records/range_use.h"
#include "records/rank_analysis.h"
#include "records/repeated_phase.h"
#include "records/request.h"
#include "records/run_record.h"
#include "records/server.h"
#include "testing/paths.h"
#include "testing/runs/load_run.h"
#include "testing/temp_dir.h"

namespace profline::comparison {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void write(const fs::path& file, const std::string& text) {
  ASSERT_TRUE(create_folders(file.parent_path()));
  ASSERT_TRUE(write_file_atomic(file, text));
}

void write_run(const fs::path& folder) {
  RunRecord record;
  record.id = folder.filename().string();
  record.state = RunState::Ok;
  record.device = "cuda:0";
  write(folder / "run.json", write_json(to_node(record)).value());
}

std::string request_lines() {
  Request request;
  request.ns = 27'000'000;
  request.new_tokens = 3;
  request.phases = {
      {"preprocess", 0, 1'000'000, {}, true},
      {"prefill", 1'000'000, 20'000'000, {}},
      {"decode", 21'000'000, 6'000'000, std::vector<std::int64_t>{2'000'000, 4'000'000}}};
  request.attributes = {{"image", Node::string("page-1")}};
  return to_json_line(request) + "\n";
}

const Series* find(const RunMeasurements& run, Family family, std::string_view name) {
  const auto found = std::find_if(run.series.begin(), run.series.end(), [&](const Series& one) {
    return one.family == family && one.short_name == name;
  });
  return found == run.series.end() ? nullptr : &*found;
}

RunMeasurements must_read(const fs::path& folder, const MeasurementOptions& options = {}) {
  const auto run = run::Run::open(folder);
  EXPECT_TRUE(run) << run.error().to_string();
  return run ? measurements_of(*run, options) : RunMeasurements{};
}

TEST(RunMeasurements, HoldWhatAnUnprofiledRunLeft) {
  const testing::TempDir folder;
  write_run(folder / "r1");
  write(folder / "r1/baseline/requests.jsonl", request_lines());
  write(folder / "r1/baseline/gpu.jsonl",
        "{\"at_ns\":1,\"sm_clock_mhz\":1900}\n{\"at_ns\":2,\"sm_clock_mhz\":null}\n"
        "{\"at_ns\":3,\"sm_clock_mhz\":2000}\n");
  write(folder / "r1/inputs.yaml", "images:\n- image: page-1\n  sha256: x\n");
  const RunMeasurements run = must_read(folder / "r1");
  EXPECT_EQ(run.run.id, "r1");
  EXPECT_EQ(run.run.state, "ok");
  EXPECT_EQ(run.run.sm_clock_mhz, 1950);
  EXPECT_EQ(run.new_tokens, 3U);
  ASSERT_NE(find(run, Family::Metric, "token_ms"), nullptr);
  EXPECT_THAT(find(run, Family::Metric, "token_ms")->units, ElementsAre(3));
  EXPECT_THAT(run.notes, IsEmpty());
  EXPECT_TRUE(run.inputs);
  EXPECT_FALSE(run.config);
}

TEST(RunMeasurements, KnowTheClocksOfTheMeasuredRunOnly) {
  const testing::TempDir folder;
  write_run(folder / "r1");
  write(folder / "r1/baseline/requests.jsonl", request_lines());
  write(folder / "r1/baseline/gpu.jsonl",
        "{\"at_ns\":0,\"monotonic_ns\":100,\"sm_clock_mhz\":1900}\n"
        "{\"at_ns\":200,\"monotonic_ns\":300,\"sm_clock_mhz\":1200}\n");
  write(folder / "r1/baseline/repeated_phases.json",
        to_document(RepeatedPhases{{{"decode", 200, 400, 1, 9}}}).value());
  EXPECT_EQ(must_read(folder / "r1").run.sm_clock_mhz, 1900);
}

TEST(RunMeasurements, OfSeveralRanksHaveAValuePerRank) {
  const testing::TempDir folder;
  write_run(folder / "r1");
  RankAnalysis analysis;
  for (std::int64_t rank = 0; rank < 3; ++rank) {
    RankRow row;
    row.rank = rank;
    row.time.wall_ns = 1'000'000'000;
    row.time.exposed_ns = rank * 100'000'000;
    row.matched = rank == 2 ? 0 : 10;
    row.waited_ns = 50'000'000;
    analysis.ranks.push_back(row);
  }
  RankStraggler late;
  late.rank = 2;
  late.evidence = "the last in 9 of 10 collectives";
  analysis.stragglers.push_back(late);
  write(folder / "r1/rank_analysis.json", to_document(analysis).value());
  const RunMeasurements run = must_read(folder / "r1");
  const Series* exposed = find(run, Family::Rank, "exposed_communication");
  ASSERT_NE(exposed, nullptr);
  EXPECT_THAT(exposed->units, ElementsAre(1e-6, 10, 20));
  EXPECT_THAT(exposed->keys, ElementsAre("rank 0", "rank 1", "rank 2"));
  const Series* wait = find(run, Family::Rank, "collective_wait_ms");
  ASSERT_NE(wait, nullptr);
  EXPECT_THAT(wait->units, ElementsAre(5, 5));
  EXPECT_THAT(run.notes, ElementsAre("r1: rank 2 is late: the last in 9 of 10 collectives"));
}

std::string many_requests(std::uint64_t count, std::int64_t first_prefill_ms) {
  std::string lines;
  for (std::uint64_t i = 0; i < count; ++i) {
    Request request;
    request.id = i;
    request.ns = (i == 0 ? first_prefill_ms : 20) * 1'000'000;
    request.phases = {{"prefill", 0, request.ns, {}}};
    lines += to_json_line(request) + "\n";
  }
  return lines;
}

TEST(RunMeasurements, AreOfTheSteadyPart) {
  const testing::TempDir folder;
  write_run(folder / "r1");
  write(folder / "r1/baseline/requests.jsonl", many_requests(10, 400));
  const RunMeasurements run = must_read(folder / "r1");
  EXPECT_EQ(run.requests, 10U);
  EXPECT_EQ(run.steady_requests, 9U);
  EXPECT_EQ(run.steadiness, statistics::Steadiness::Steady);
  EXPECT_EQ(find(run, Family::Metric, "prefill_ms")->units, std::vector<double>(9, 20.0));
  EXPECT_THAT(find(run, Family::Metric, "prefill_ms")->left_out, ElementsAre("id 0\n0"));
}

TEST(RunMeasurements, AreOfEverythingIfARunIsTooShortToTell) {
  const testing::TempDir folder;
  write_run(folder / "r1");
  write(folder / "r1/baseline/requests.jsonl", many_requests(4, 400));
  const RunMeasurements run = must_read(folder / "r1");
  EXPECT_EQ(run.steadiness, statistics::Steadiness::TooShort);
  EXPECT_THAT(find(run, Family::Metric, "prefill_ms")->units, ElementsAre(400, 20, 20, 20));
}

/// A series of these inputs, with other ones left out.
Series series_with(std::vector<std::string> keys, std::vector<double> units,
                   std::vector<std::string> left_out = {}) {
  Series series;
  series.name = "prefill_ms";
  series.keys = std::move(keys);
  series.units = std::move(units);
  series.left_out = std::move(left_out);
  return series;
}

TEST(PairedUnits, LeaveOutAnInputThatIsNotSteadyInOneOfTheRuns) {
  const Series a = series_with({"p3", "p2"}, {3, 2}, {"p1"});
  const Series b = series_with({"p1", "p2", "p3"}, {10, 20, 30});
  const PairedUnits paired = pair_units({{&a}, {&b}}, true);
  EXPECT_TRUE(paired.paired);
  EXPECT_EQ(paired.a, (statistics::RunUnits{{2, 3}}));
  EXPECT_EQ(paired.b, (statistics::RunUnits{{20, 30}}));
}

TEST(PairedUnits, AreNotPairedIfTooFewInputsAreSteadyInAllRuns) {
  const Series a = series_with({"p2"}, {2}, {"p1", "p3"});
  const Series b = series_with({"p1", "p2", "p3"}, {10, 20, 30});
  const PairedUnits paired = pair_units({{&a}, {&b}}, true);
  EXPECT_FALSE(paired.paired);
  EXPECT_EQ(paired.a, (statistics::RunUnits{{2}}));
  EXPECT_EQ(paired.b, (statistics::RunUnits{{10, 20, 30}}));
  const Series other = series_with({"p2", "p4"}, {2, 4});
  EXPECT_FALSE(pair_units({{&a}, {&other}}, true).paired) << "other inputs";
}

TEST(RunMeasurements, HoldTheWallTimeOfAUsersCommand) {
  const testing::TempDir folder;
  write_run(folder / "r1");
  write(folder / "r1/baseline/process.json",
        R"({"schema": "profline.process/1", "wall_ns": 2500000})");
  const RunMeasurements run = must_read(folder / "r1");
  ASSERT_EQ(run.series.size(), 1U);
  EXPECT_EQ(run.series.front().name, "wall_ms");
  EXPECT_THAT(run.series.front().units, ElementsAre(2.5));
}

TEST(RunMeasurements, HoldKernelsLaunchByLaunch) {
  const testing::TempDir folder;
  write_run(folder / "r1");
  fs::create_directories(folder / "r1/nsys");
  fs::copy_file(testing::source_dir() / "tests/golden/nsys/2025.3-decode/input.sqlite",
                folder / "r1/nsys/run.sqlite");
  NsysRanges ranges;
  ranges.captures.emplace_back();
  ranges.captures.back().name = "run";
  ranges.captures.back().sqlite = "run.sqlite";
  write(folder / "r1/nsys/ranges.json", to_document(ranges).value());
  fs::create_directories(folder / "r1/torch_profiler");
  fs::copy_file(testing::source_dir() / "tests/golden/trace/kineto-torch-2.11-h200.json.gz",
                folder / "r1/torch_profiler/trace.json");
  const RunMeasurements run = must_read(folder / "r1");
  EXPECT_THAT(run.notes, IsEmpty());
  // Six kernels in each of 20 steps, two of them in two shapes; see the golden's expected.txt.
  std::uint64_t launches = 0;
  std::set<std::string> identities;
  for (const Series& series : run.series) {
    if (series.family != Family::Kernel) continue;
    EXPECT_TRUE(identities.insert(series.name + series.shape).second);
    EXPECT_THAT(series.shape, HasSubstr("grid "));
    EXPECT_EQ(series.unit, "us");
    EXPECT_LE(series.units.size(), 32U);
    launches += *series.calls;
  }
  EXPECT_EQ(launches, 120U);
  const Series* norm = find(run, Family::Kernel, "reduce_kernel<NormTwoOps>");
  ASSERT_NE(norm, nullptr);
  EXPECT_EQ(norm->calls, 20U);
  const Series* mm = find(run, Family::Operator, "aten::mm");
  ASSERT_NE(mm, nullptr);
  EXPECT_EQ(mm->calls, 40U);
  EXPECT_EQ(mm->units.size(), 32U) << "neighbours are not independent";

  const RunMeasurements quick = must_read(folder / "r1", {.captures = false});
  EXPECT_THAT(quick.series, IsEmpty());
}

TEST(RunMeasurements, TellWhatCannotBeRead) {
  const testing::TempDir folder;
  write_run(folder / "r1");
  write(folder / "r1/baseline/requests.jsonl", "{\"image\":1}\n");
  write(folder / "r1/env.json", "{");
  write(folder / "r1/torch_profiler/trace.json", "not a trace");
  const RunMeasurements run = must_read(folder / "r1");
  EXPECT_THAT(run.series, IsEmpty());
  ASSERT_EQ(run.notes.size(), 3U);
  EXPECT_THAT(run.notes[0], HasSubstr("r1: "));
  EXPECT_THAT(run.notes[0], HasSubstr("env.json:1:2"));
  EXPECT_THAT(run.notes[1], HasSubstr("baseline/requests.jsonl:1"));
  EXPECT_THAT(run.notes[2], HasSubstr("trace.json"));
}

TEST(RunsIn, AreTheFolderItselfOrThoseInIt) {
  const testing::TempDir folder;
  write_run(folder / "b");
  write_run(folder / "a");
  fs::create_directories(folder / "empty");
  fs::create_directory_symlink(folder / "b", folder / "latest");
  EXPECT_THAT(runs_in(folder / "b").value(), ElementsAre(folder / "b"));
  EXPECT_THAT(runs_in(folder.path()).value(), ElementsAre(folder / "a", folder / "b"));
  EXPECT_THAT(runs_in(folder / "latest").value(), ElementsAre(folder / "latest"));
  const auto none = runs_in(folder / "empty");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().to_string(),
            "'" + (folder / "empty").string() +
                "' contains no run: neither it nor a folder in it has a run.json");
  const auto nowhere = runs_in(folder / "nowhere");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(nowhere.error().to_string(), "'" + (folder / "nowhere").string() +
                                             "' is not a folder: give that of a run, or one "
                                             "that contains several");
}

TEST(SeriesGroups, JoinByNameAndShapeAndOrderCapturesByTime) {
  RunMeasurements a = measured_run("a", {1, 2});
  RunMeasurements b = measured_run("b", {1, 2});
  add_kernel(a, "short", {1});
  add_kernel(a, "long", {100});
  add_kernel(b, "longest", {1000});
  add_kernel(b, "short", {2});
  add_kernel(b, "short", {3});
  b.series.back().shape = "grid 8,1,1 block 128,1,1";
  const std::vector<RunMeasurements> side_a = {a};
  const std::vector<RunMeasurements> side_b = {b};
  const auto groups = group_series(side_a, side_b);
  std::vector<std::string> names;
  names.reserve(groups.size());
  for (const SeriesGroup& group : groups) {
    names.push_back(group.any().short_name + " " + std::to_string(group.a.size()) +
                    std::to_string(group.b.size()));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"token_ms 11", "longest 01", "long 10", "short 01",
                                             "short 11"}));
}

TEST(RunMeasurements, OfALoadAreThoseOfItsSteadyRequests) {
  const testing::TempDir folder;
  testing::LoadRun({.slo = {.ttft_ms = 60.0, .tpot_ms = 10.0}}).write(folder / "r1");
  const RunMeasurements run = must_read(folder / "r1");
  EXPECT_TRUE(run.is_load);
  EXPECT_EQ(run.run.device, "") << "the client does not know where the model ran";
  EXPECT_EQ(run.load_tokens, 32);
  std::vector<std::string> names;
  for (const Series& series : run.series) names.push_back(series.name);
  EXPECT_THAT(names,
              ElementsAre("ttft_ms", "tpot_ms", "itl_ms", "e2e_ms", "ttft_p99_ms", "tpot_p99_ms",
                          "requests_per_s", "output_tokens_per_s", "goodput_per_s"));
  EXPECT_EQ(find(run, Family::Metric, "ttft_ms")->units.size(), run.steady_requests);
  EXPECT_EQ(find(run, Family::Metric, "goodput_per_s")->better, statistics::Better::Higher);
  EXPECT_EQ(run.disturbance, 0);
  EXPECT_THAT(run.notes, IsEmpty());
}

TEST(RunMeasurements, OfAServerHaveItsQueueAndItsSteps) {
  const testing::TempDir folder;
  const std::filesystem::path run = folder / "r1";
  testing::LoadRun({.slo = {.ttft_ms = 60.0, .tpot_ms = 10.0}}).write(run);
  std::filesystem::create_directories(run / "baseline/load");
  std::filesystem::create_directories(run / "nsys");
  for (const char* file : {"load.json", "requests.jsonl"}) {
    std::filesystem::rename(run / file, run / "baseline/load" / file);
  }
  ServerRecord server;
  server.stage = "baseline";
  server.first_token.emplace();
  server.first_token->queue_ns = 40e6;
  ASSERT_TRUE(write_file_atomic(run / "baseline/server.json", *to_document(server)));
  server.first_token.reset();
  ServerStepKind decode;
  decode.kind = "decode";
  decode.batch = 8;
  decode.count = 50;
  decode.median_ns = 34e6;
  decode.total_ns = 1.7e9;
  ServerStepKind idle = decode;
  idle.kind = "idle";
  server.stage = "nsys";
  server.steps = ServerSteps{"vLLM", "run.sqlite", "", {decode, idle}};
  server.window.emplace();
  server.gpu_busy_share = 0.72;
  server.cost.emplace();
  server.cost->throughput = 0.93;
  server.cost->stall_open_ms = 12;
  server.cost->stall_close_ms = 40;
  ASSERT_TRUE(write_file_atomic(run / "nsys/server.json", *to_document(server)));
  const RunMeasurements found = must_read(run);
  const Series* queue = find(found, Family::Metric, "server_queue_ms");
  ASSERT_NE(queue, nullptr);
  EXPECT_THAT(queue->units, ElementsAre(40));
  EXPECT_EQ(find(found, Family::Metric, "server_prefill_ms"), nullptr);
  const Series* steps = find(found, Family::Step, "decode at batch 8");
  ASSERT_NE(steps, nullptr);
  EXPECT_THAT(steps->units, ElementsAre(34000));
  EXPECT_EQ(steps->calls, 50U);
  EXPECT_EQ(find(found, Family::Step, "idle at batch 8"), nullptr);
  EXPECT_THAT(find(found, Family::Step, "GPU busy (nsys)")->units, ElementsAre(72));
  EXPECT_THAT(find(found, Family::Step, "tokens/s kept (nsys)")->units, ElementsAre(93));
  EXPECT_THAT(find(found, Family::Step, "longest pause (nsys)")->units, ElementsAre(40));
  EXPECT_EQ(find(found, Family::Step, "GPU busy (nsys)")->better, statistics::Better::Higher);
}

TEST(RunMeasurements, OfALoadSayWhatItsClientDidToThem) {
  const testing::TempDir folder;
  testing::LoadRun made({.rate = 25, .lateness_ms = 2.5});
  made.load.limit = LoadLimit::Client;
  made.load.limit_reason = "its event loop hardly ever waited";
  made.write(folder / "r1");
  EXPECT_THAT(
      must_read(folder / "r1").notes,
      ElementsAre("20261118-100000: the client was the bottleneck, so the server may be faster: "
                  "its event loop hardly ever waited",
                  "20261118-100000: the client's own error could change some latencies by "
                  "more than 5 %; its report marks them"));
}

}  // namespace
}  // namespace profline::comparison
