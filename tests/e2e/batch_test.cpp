// infer.batch_size: several images of the built-in model as one request.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "testing/temp_dir.h"
#include "workload_binary.h"

namespace profline::e2e {
namespace {

using ::testing::HasSubstr;

Node document(const std::filesystem::path& file) {
  const auto text = read_file(file);
  auto node = text ? parse_json(*text, file.string()) : Result<Node>(text.error());
  EXPECT_TRUE(node) << node.error().to_string();
  return node ? std::move(*node) : Node::map();
}

const Node& phase_named(const Node& summary, std::string_view name) {
  for (const Node& phase : summary.find("phases")->as_list()) {
    if (phase.find("name")->as_string() == name) return phase;
  }
  ADD_FAILURE() << "no phase " << name;
  static const Node none;
  return none;
}

TEST(Batch, RunsThroughAllStagesAndCountsEachStepOnce) {
  if (!has_workload()) GTEST_SKIP() << "profline-workload is not built here";
  const testing::TempDir folder;
  const Outcome run = run_profline_in(
      folder.path(), {"demo", "-q", "device=cpu", "infer.batch_size=2", "dataset.pages=5",
                      "dataset.page_sizes=[96x64,300x200]", "infer.max_new_tokens=6",
                      "pipeline.nsys.enable=false", "hydra.run.dir=run"});
  ASSERT_EQ(run.code, 0) << run.err;
  const Node summary = document(folder / "run/summary.json");
  const Node& request = *summary.find("request");
  EXPECT_EQ(request.find("unit")->as_string(), "batch");
  EXPECT_EQ(request.find("requests")->as_int(), 3);
  const Node& decode = phase_named(summary, "decode");
  EXPECT_EQ(decode.find("unit")->as_string(), "step");
  // The tiny model never ends by itself: in each step, a batch of two makes two tokens.
  const double steps_per_s = 1e9 / decode.find("mean_ns")->as_float();
  const double tokens_per_s = request.find("tokens_per_second")->as_float();
  EXPECT_GT(tokens_per_s, 1.2 * steps_per_s);
  EXPECT_LT(tokens_per_s, 2.3 * steps_per_s);
  EXPECT_EQ(decode.find_path("cost.shapes")->as_string(), "each image's own");
  EXPECT_GT(decode.find_path("cost.floor_ns")->as_float(), 0);
  const Node compute = document(folder / "run/static_analysis/static_compute.json");
  EXPECT_EQ(compute.find_path("request.batch")->as_int(), 2);
  EXPECT_FALSE(compute.find("traced")->is_null());
  const std::string report = read_file(folder / "run/report.md").value_or("");
  EXPECT_THAT(report, HasSubstr("3 batches, of which the longest sequences have"));
  EXPECT_THAT(read_file(folder / "run/report.html").value_or(""), HasSubstr("measured batches"));
  const std::string torch =
      read_file(folder / "run/torch_profiler/workload/requests.jsonl").value_or("");
  EXPECT_THAT(torch, HasSubstr("\"batch\":2"));
}

TEST(Batch, IsRefusedWithTheFastEngineBeforeAnythingRuns) {
  const testing::TempDir folder;
  for (const char* command : {"run", "plan"}) {
    const Outcome outcome = run_profline_in(
        folder.path(),
        {command, "--config-name", "demo", "infer.batch_size=4", "pipeline.workload.engine=fast"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err,
              "profline: override 2:1:26: pipeline.workload.engine: must be eager or auto when "
              "infer.batch_size is 4: the fast engine generates one image at a time\n"
              "  pipeline.workload.engine=fast\n"
              "                           ^\n");
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Batch, IsThatOfTheStaticAnalysis) {
  const testing::TempDir folder;
  const auto analysed = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {
        "analyze",  "--format",   "json", "model/deepseek_ocr/arch@model=deepseek_ocr.random",
        "--device", "NVIDIA H200"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run_profline_in(folder.path(), std::move(arguments));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return parse_json(outcome.out, "analyze").value();
  };
  const Node one = analysed({});
  const Node eight = analysed({"infer.batch_size=8"});
  EXPECT_EQ(eight.find_path("request.batch")->as_int(), 8);
  EXPECT_EQ(eight.find_path("stages.decode.flops")->as_int(),
            8 * one.find_path("stages.decode.flops")->as_int());
  EXPECT_EQ(eight.find_path("kv_cache_bytes")->as_int(),
            8 * one.find_path("kv_cache_bytes")->as_int());
  // All weights once, and 35 of 64 experts per layer instead of 6.
  const auto weights = [](const Node& result) {
    return static_cast<double>(result.find_path("stages.decode.weight_bytes")->as_int());
  };
  EXPECT_NEAR(weights(eight) / weights(one), 2.9, 0.1);
  EXPECT_EQ(analysed({"infer.batch_size=8", "--batch", "4"}).find_path("request.batch")->as_int(),
            4)
      << "the command line wins";
}

}  // namespace
}  // namespace profline::e2e
