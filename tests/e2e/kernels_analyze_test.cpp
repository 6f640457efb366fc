// `profline kernels analyze`: what bounds the kernels that ncu captured.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "profline_binary.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

namespace profline::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

void copy_golden(const std::string& name, const std::filesystem::path& to) {
  std::filesystem::create_directories(to.parent_path());
  std::filesystem::copy_file(testing::source_dir() / "tests/golden/ncu" / name / "input.csv", to);
}

Node analysed_kernels(const std::filesystem::path& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"kernels", "analyze", "--format", "json"});
  const Outcome outcome = run_profline_in(folder, std::move(arguments));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  auto document = parse_json(outcome.out, "kernels");
  EXPECT_TRUE(document) << document.error().to_string();
  return document ? std::move(*document) : Node();
}

std::vector<std::string> column(const Node& document, std::string_view key) {
  std::vector<std::string> values;
  for (const Node& kernel : document.find("kernels")->as_list()) {
    values.push_back(kernel.find(key)->as_string());
  }
  return values;
}

// 2^22 threads with 64 multiply-adds each, and a product of 2048^3: the counters say so.
TEST(KernelsAnalyze, CountsTheWorkThatWasDone) {
  const testing::TempDir folder;
  copy_golden("2025.3-raw-known-work", folder.path() / "ncu/raw.csv");
  const Node result = analysed_kernels(folder.path(), {"ncu"});
  ASSERT_TRUE(result.is_map());
  std::vector<double> flops;
  std::vector<std::string> kinds;
  for (const Node& kernel : result.find("kernels")->as_list()) {
    flops.push_back(kernel.find("flops")->as_float());
    const Node& work = kernel.find("work")->as_list().at(0);
    kinds.push_back(work.find("cores")->as_string() + ' ' + work.find("precision")->as_string());
  }
  constexpr double kThreads = 1 << 22;
  EXPECT_THAT(flops, ElementsAre(kThreads * 64 * 2, kThreads * 64 * 2, kThreads * 64 * 4,
                                 2.0 * 2048 * 2048 * 2048));
  EXPECT_THAT(kinds, ElementsAre("vector fp32", "vector fp64", "vector fp16", "tensor bf16"));
  EXPECT_THAT(column(result, "bound"), ElementsAre("latency", "compute", "latency", "compute"));
  EXPECT_EQ(column(result, "class")[3], "gemm");
  const Node& gemm = result.find("kernels")->as_list()[3];
  EXPECT_NEAR(gemm.find("attainable_flops_per_second")->as_float(), 989.5e12, 1e6);
}

TEST(KernelsAnalyze, OfADecodeStepFindsTheGridsTooSmall) {
  const testing::TempDir folder;
  copy_golden("2025.3-raw-kernels", folder.path() / "raw.csv");
  const Node result = analysed_kernels(folder.path(), {"raw.csv"});
  EXPECT_THAT(column(result, "class"),
              ElementsAre("gemm", "elementwise", "gemm", "gemm", "reduction", "elementwise"));
  EXPECT_THAT(
      column(result, "classification"),
      ElementsAre("memory_bound", "balanced", "memory_bound", "balanced", "balanced", "balanced"));
  const Node& gemm = result.find("kernels")->as_list()[0];
  EXPECT_EQ(gemm.find("flops")->as_float(), 141'557'760);
  EXPECT_NEAR(gemm.find("dram_bytes")->as_float(), 17'549'312, 1);
  EXPECT_NEAR(gemm.find("intensity")->as_float(), 8.066, 0.001);
  EXPECT_EQ(gemm.find("evidence")->as_list().back().as_string(),
            "the grid is 0.82 waves: it does not fill the device");
}

TEST(KernelsAnalyze, ReadsFoldersOfCapturesAndWritesTheTables) {
  const testing::TempDir folder;
  copy_golden("2025.3-raw-kernels", folder.path() / "run/kernel_0001_ab/ncu.metrics.csv");
  copy_golden("2025.3-details-range", folder.path() / "run/kernel_0002_cd/ncu.details.csv");
  write_files(folder.path(),
              {{"run/kernel_0003_ef/ncu.details.csv", "==WARNING== No kernels were profiled.\n"},
               {"names.yaml",
                "- raw_name: nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT\n"
                "  friendly_name: up projection\n"}});
  const Outcome outcome =
      run_profline_in(folder.path(), {"kernels", "analyze", "run", "--kernel-desc", "names.yaml"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("up projection"));
  EXPECT_THAT(outcome.out, HasSubstr("kernel_0002_cd"));
  EXPECT_THAT(outcome.err,
              HasSubstr("kernel_0003_ef: run/kernel_0003_ef/ncu.details.csv: nothing to read: ncu "
                        "says 'No kernels were profiled.'\n"));
  for (const char* name : {"metrics_summary.csv", "classification_summary.csv",
                           "all_metrics_long.csv", "histograms.csv"}) {
    const auto text = read_file(folder.path() / "run/analysis" / name);
    ASSERT_TRUE(text) << name;
    EXPECT_GT(text->size(), 100U) << name;
  }
  const auto classes = read_file(folder.path() / "run/analysis/classification_summary.csv");
  EXPECT_THAT(*classes, StartsWith("kernel_id,classification\nkernel_0001_ab,memory_bound\n"));
  EXPECT_THAT(*classes, HasSubstr("kernel_0003_ef,unknown\n"));
}

TEST(KernelsAnalyze, SaysWhatIsWrong) {
  const testing::TempDir folder;
  write_files(folder.path(), {{"empty/readme.txt", "x"}, {"x.csv", "a,b\n1,2\n"}});
  const auto failure = [&](std::vector<std::string> arguments, int code) {
    arguments.insert(arguments.begin(), {"kernels", "analyze"});
    const Outcome outcome = run_profline_in(folder.path(), std::move(arguments));
    EXPECT_EQ(outcome.code, code);
    return outcome.err;
  };
  EXPECT_EQ(
      failure({}, 2),
      "profline: 'kernels analyze' needs one folder of captured kernels or one file from ncu\n");
  EXPECT_EQ(failure({"none"}, 3), "profline: cannot read none: no such file\n");
  EXPECT_EQ(failure({"empty"}, 3),
            "profline: no captured kernels in empty: no kernel_* folders, CSV files from ncu or "
            ".ncu-rep\n");
  EXPECT_THAT(failure({"x.csv"}, 2), StartsWith("profline: x.csv: no table of ncu's in it: "));
  EXPECT_EQ(failure({"x.csv", "--classify-margin", "-1"}, 2),
            "profline: --classify-margin must be a number >= 0, not '-1'\n");
}

}  // namespace
}  // namespace profline::e2e
