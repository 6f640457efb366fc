// profline-workload as a replaceable program: a config in, files out.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "testing/temp_dir.h"
#include "workload_binary.h"

namespace profline::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Workload : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_workload()) GTEST_SKIP() << "profline-workload is not built here";
  }

  Outcome run(const std::string& config, std::vector<std::string> arguments) {
    write_files(folder_.path(), {{"config.json", config}});
    arguments.insert(arguments.end(), {"--config", "config.json", "--out", "out"});
    return run_workload_in(folder_.path(), std::move(arguments));
  }
  std::filesystem::path out(const char* name) const { return folder_ / "out" / name; }
  const testing::TempDir& folder() const { return folder_; }

 private:
  testing::TempDir folder_;
};

TEST_F(Workload, MeasuresAndReportsItsProgress) {
  const Outcome outcome = run(tiny_config({}), {"--mode", "baseline"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("1/1 images (100 %)"));
  for (const char* name : {"requests.jsonl", "metrics.json", "texts.jsonl", "workload.json"}) {
    EXPECT_TRUE(std::filesystem::exists(out(name))) << name;
  }
  const auto metrics = parse_json(read_file(out("metrics.json")).value_or(""), "metrics.json");
  ASSERT_TRUE(metrics) << metrics.error().to_string();
  EXPECT_EQ(metrics->find_path("ceilings.source")->as_string(), "measured on this CPU");
}

TEST_F(Workload, RunsTheDummyNetworkUnderItsOwnProfiler) {
  const Outcome outcome = run(dummy_config({}), {"--mode", "torch_profiler", "--quiet"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto operators = read_file(out("operators.md"));
  ASSERT_TRUE(operators) << operators.error().to_string();
  EXPECT_THAT(*operators, HasSubstr("| residual | 1 |"));
  EXPECT_THAT(*operators, HasSubstr("| block.conv1 | 3 |"));
}

TEST_F(Workload, ABadConfigIsReportedAtItsPlace) {
  const Outcome broken = run("{\"device\": ", {});
  EXPECT_EQ(broken.code, 2);
  EXPECT_THAT(broken.err, StartsWith("profline-workload: config.json:1:12: "));
  const Outcome unknown = run(R"({"device": "cpu", "modle": 1})", {});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(unknown.err,
            "profline-workload: config.json:1:19: unknown key 'modle' (did you mean 'model'?)\n");
  EXPECT_FALSE(std::filesystem::exists(folder() / "out"));
}

TEST_F(Workload, Fp16OnACpuIsContradictory) {
  std::string config = tiny_config({});
  const std::string dtype = "\"dtype\": \"fp32\"";
  const std::size_t at = config.find(dtype);
  ASSERT_NE(at, std::string::npos);
  config.replace(at, dtype.size(), "\"dtype\": \"fp16\"");
  const Outcome outcome = run(config, {});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err,
              HasSubstr("model.dtype: must be bf16 or fp32 when device is cpu, not fp16\n"));
}

TEST_F(Workload, WithoutWeightsNamesThePresetsThatNeedNone) {
  const Outcome outcome =
      run(tiny_config({"model.init=weights", "model.variant=full", "model.path=models/none"}), {});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("models/none'; without weights take "
                                     "model/deepseek_ocr/arch@model=deepseek_ocr.random (full "
                                     "size) or deepseek_ocr.tiny\n"));
}

TEST_F(Workload, UsageErrorsAreOneLine) {
  const Outcome mode = run(tiny_config({}), {"--mode", "fast"});
  EXPECT_EQ(mode.code, 2);
  EXPECT_EQ(mode.err,
            "profline-workload: --mode: must be one of baseline, profiled, torch_profiler, "
            "direct_inference, static_trace, not 'fast'\n");
  const Outcome missing = run_workload_in(folder().path(), {"--out", "out"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_EQ(missing.err, "profline-workload: --config must be given\n");
  const Outcome absent = run_workload_in(folder().path(), {"--config", "no.json", "--out", "out"});
  EXPECT_EQ(absent.code, 3);
  EXPECT_EQ(absent.err, "profline-workload: cannot read no.json: no such file\n");
}

}  // namespace
}  // namespace profline::e2e
