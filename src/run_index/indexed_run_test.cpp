#include "run_index/indexed_run.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "records/rank_analysis.h"
#include "records/request.h"
#include "run_index/testing_runs.h"
#include "testing/runs/load_run.h"
#include "testing/temp_dir.h"

namespace profline::run_index {
namespace {

IndexedRun must_read(const std::filesystem::path& root, const std::string& folder) {
  auto run = read_indexed_run(root, folder);
  EXPECT_TRUE(run) << run.error().to_string();
  return run ? std::move(*run) : IndexedRun{};
}

TEST(IndexedRun, IsWhatListsShow) {
  const testing::TempDir root;
  TestRun{.device = "cuda:0", .second = 7}.write(root / "r1");
  const IndexedRun run = must_read(root.path(), "r1");
  EXPECT_EQ(run.id, "r1");
  EXPECT_EQ(run.folder, "r1");
  EXPECT_EQ(run.experiment, "demo");
  EXPECT_EQ(run.state, "ok");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.model, "tiny");
  EXPECT_EQ(run.device_name, "NVIDIA H200");
  EXPECT_EQ(run.started, "2026-11-15T10:00:07.000Z");
  ASSERT_NE(run.find_metric("token_ms"), nullptr);
  EXPECT_EQ(*run.find_metric("token_ms"), (IndexedMetric{"token_ms", "ms", 2, 1}));
  EXPECT_EQ(run.find_metric("sam"), nullptr);
  EXPECT_EQ(run.program, "");
  EXPECT_EQ(run.disturbance, 0);
}

TEST(IndexedRun, HasTheFiguresOfSteadyRequests) {
  const testing::TempDir root;
  TestRun{}.write(root / "r1");
  EXPECT_EQ(must_read(root.path(), "r1").steadiness, "too-short");
  std::string lines;
  for (std::uint64_t i = 0; i < 11; ++i) {
    Request request;
    request.id = i;
    request.ns = i == 0 ? 400'000'000 : 20'000'000;
    lines += to_json_line(request) + "\n";
  }
  ASSERT_TRUE(write_file_atomic(root / "r1/baseline/requests.jsonl", lines));
  const IndexedRun run = must_read(root.path(), "r1");
  EXPECT_EQ(run.steadiness, "steady");
  EXPECT_EQ(run.metrics, (std::vector<IndexedMetric>{{"request_ms", "ms", 20, 10}}));
}

TEST(IndexedRun, OfSeveralRanksHasWhatTheirReportsSay) {
  const testing::TempDir root;
  TestRun{}.write(root / "r1");
  RankAnalysis analysis;
  analysis.exposed_share = 0.125;
  analysis.skew = {.collectives = 80, .median_ns = 2'500'000, .p90_ns = 0, .max_ns = 0};
  analysis.ranks.resize(4);
  RankStraggler late;
  late.rank = 3;
  analysis.stragglers.push_back(late);
  ASSERT_TRUE(
      write_file_atomic(root / "r1/rank_analysis.json", to_document(analysis).value_or("")));
  const IndexedRun run = must_read(root.path(), "r1");
  ASSERT_NE(run.find_metric("late_rank"), nullptr);
  EXPECT_EQ(*run.find_metric("late_rank"), (IndexedMetric{"late_rank", "", 3, 80}));
  ASSERT_NE(run.find_metric("exposed_communication"), nullptr);
  EXPECT_EQ(*run.find_metric("exposed_communication"),
            (IndexedMetric{"exposed_communication", "%", 12.5, 4}));
  ASSERT_NE(run.find_metric("collective_skew_ms"), nullptr);
  EXPECT_EQ(*run.find_metric("collective_skew_ms"),
            (IndexedMetric{"collective_skew_ms", "ms", 2.5, 80}));
}

TEST(IndexedRun, OfAUsersProgramHasItsNameAndWallTime) {
  const testing::TempDir root;
  TestRun{}.write(root / "r1");
  std::filesystem::remove(root / "r1/baseline/requests.jsonl");
  ASSERT_TRUE(write_file_atomic(root / "r1/config.resolved.json",
                                R"({"model": {"name": "deepseek_ocr"}, "pipeline": {"workload": )"
                                R"({"command": ["python3", "work/train.py", "--fast"]}}})"));
  ASSERT_TRUE(write_file_atomic(root / "r1/baseline/process.json",
                                R"({"schema": "profline.process/1", "wall_ns": 2500000})"));
  const IndexedRun run = must_read(root.path(), "r1");
  EXPECT_EQ(run.model, "");
  EXPECT_EQ(run.program, "train.py");
  EXPECT_EQ(run.metrics, (std::vector<IndexedMetric>{{"wall_ms", "ms", 2.5, 1}}));
  ASSERT_TRUE(write_file_atomic(root / "r1/config.resolved.json",
                                R"({"model": {"name": "deepseek_ocr"}, "pipeline": {"workload": )"
                                R"({"command": null, "module": "pkg.train"}}})"));
  EXPECT_EQ(must_read(root.path(), "r1").program, "pkg.train");
}

TEST(IndexedRun, HasTheFingerprintOfWhatItMeasured) {
  const testing::TempDir root;
  TestRun{.second = 1, .token_ms = 2}.write(root / "a");
  TestRun{.experiment = "other name", .second = 2, .token_ms = 3}.write(root / "b");
  TestRun{.model = "large"}.write(root / "c");
  TestRun{.device = "cuda:0"}.write(root / "d");
  TestRun{}.write(root / "e");
  ASSERT_TRUE(write_file_atomic(root / "e/inputs.yaml", "images: [{image: x, sha256: y}]\n"));
  const std::string fingerprint = must_read(root.path(), "a").fingerprint;
  EXPECT_EQ(fingerprint.size(), 16U);
  EXPECT_EQ(must_read(root.path(), "b").fingerprint, fingerprint);
  for (const char* other : {"c", "d", "e"}) {
    EXPECT_NE(must_read(root.path(), other).fingerprint, fingerprint) << other;
  }
}

TEST(IndexedRun, HasTheConfigurationOfItsWorkload) {
  const testing::TempDir root;
  const auto configuration = [&](const char* config) {
    TestRun{}.write(root / "r");
    EXPECT_TRUE(write_file_atomic(root / "r/config.resolved.json", config));
    return must_read(root.path(), "r").configuration;
  };
  const std::string first = configuration(
      R"({"device":"cuda:0","infer":{"max_new_tokens":64},"pipeline":{"workload":{"cwd":"/a"}}})");
  EXPECT_EQ(first.size(), 16U);
  EXPECT_EQ(configuration(R"({"device":"cuda:1","infer":{"max_new_tokens":64},"experiment":"x",)"
                          R"("pipeline":{"workload":{"cwd":"/b"},"nsys":{"samples":2}}})"),
            first)
      << "where it ran and what else was captured is not part of the work";
  EXPECT_NE(configuration(R"({"infer":{"max_new_tokens":128},"pipeline":{"workload":{}}})"), first);
  EXPECT_EQ(configuration("{ torn"), "");
}

TEST(IndexedRun, OfAUsersProgramHasTheCommitOfItsSource) {
  const testing::TempDir root;
  TestRun{}.write(root / "own");
  TestRun{}.write(root / "program");
  ASSERT_TRUE(write_file_atomic(root / "program/config.resolved.json",
                                R"({"pipeline": {"workload": {"command": ["./bench"]}}})"));
  const auto write_commits = [&](const std::string& folder, const std::string& commit) {
    ASSERT_TRUE(
        write_file_atomic(root / folder / "env.json",
                          R"({"schema":"profline.env/1","source_commit":")" + commit + "\"}"));
    auto record = parse_json(*read_file(root / folder / "run.json"), "run.json");
    ASSERT_TRUE(record);
    record->as_map().set("commit", Node::string("proflines"));
    ASSERT_TRUE(write_file_atomic(root / folder / "run.json", *write_json(*record)));
  };
  write_commits("own", "source");
  write_commits("program", "source");
  EXPECT_EQ(must_read(root.path(), "own").commit, "proflines");
  const IndexedRun run = must_read(root.path(), "program");
  EXPECT_EQ(run.commit, "source");
  write_commits("program", "");
  EXPECT_EQ(must_read(root.path(), "program").commit, "");
  EXPECT_NE(must_read(root.path(), "program").fingerprint, run.fingerprint);
}

TEST(IndexedRun, NeedsRunJsonOnly) {
  const testing::TempDir root;
  TestRun{}.write(root / "r1");
  for (const char* file : {"config.resolved.json", "env.json", "baseline/requests.jsonl"}) {
    ASSERT_TRUE(write_file_atomic(root / "r1" / file, "{ torn"));
  }
  const IndexedRun run = must_read(root.path(), "r1");
  EXPECT_EQ(run.model, "");
  EXPECT_TRUE(run.metrics.empty());
  std::filesystem::remove(root / "r1/run.json");
  EXPECT_FALSE(read_indexed_run(root.path(), "r1"));
}

TEST(IndexedRun, OfALoadHasWhatItsClientMeasured) {
  const testing::TempDir root;
  testing::LoadRun made;
  made.write(root / "r1");
  const IndexedRun run = must_read(root.path(), "r1");
  EXPECT_EQ(run.model, "tiny-llama");
  EXPECT_EQ(run.device, "") << "the client does not know where the model ran";
  EXPECT_EQ(run.steadiness, "steady");
  ASSERT_NE(run.find_metric("ttft_ms"), nullptr);
  EXPECT_NEAR(run.find_metric("ttft_ms")->value, made.load.metrics.ttft.p50->value, 1e-3);
  ASSERT_NE(run.find_metric("output_tokens_per_s"), nullptr);
  EXPECT_EQ(run.find_metric("output_tokens_per_s")->unit, "tokens/s");
  made.load.model.clear();
  made.write(root / "r2");
  EXPECT_EQ(must_read(root.path(), "r2").model, "http://127.0.0.1:8000");
}

}  // namespace
}  // namespace profline::run_index
