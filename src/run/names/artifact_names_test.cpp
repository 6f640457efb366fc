#include "run/names/artifact_names.h"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace profline::run {
namespace {

TEST(ArtifactNames, PathsAreMadeOfFolderAndFile) {
  EXPECT_STREQ(paths::kBaselineMetrics, "baseline/metrics.json");
  EXPECT_STREQ(paths::kNsysKernels, "nsys/kernels.json");
  EXPECT_STREQ(paths::kNcuKernels, "ncu/kernels.json");
  EXPECT_STREQ(paths::kCompressedTorchTrace, "torch_profiler/trace.json.gz");
}

TEST(ArtifactNames, NamesAreUsedLikeLiterals) {
  EXPECT_EQ(std::filesystem::path("run") / stages::kNsys / files::kRanges, "run/nsys/ranges.json");
  EXPECT_EQ("see " + std::string(files::kReport), "see report.md");
}

}  // namespace
}  // namespace profline::run
