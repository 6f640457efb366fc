#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "summary/internal/parts.h"
#include "summary/summarise.h"
#include "testing/runs/recorded_run.h"
#include "testing/temp_dir.h"

namespace profline::summary {
namespace {

using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

KernelRows rows_of(const testing::TestRun& run) {
  const testing::TempDir folder;
  run.write(folder.path());
  const auto artifacts = run::Run::open(folder.path());
  EXPECT_TRUE(artifacts) << artifacts.error().to_string();
  return artifacts ? kernel_rows(*artifacts, phase_tree(*artifacts)) : KernelRows();
}

TEST(KernelRows, JoinsWhatThreeToolsSawOfTheSameKernels) {
  const KernelRows rows = rows_of(testing::h200_run());
  ASSERT_THAT(rows.kernels, SizeIs(6));
  EXPECT_THAT(rows.join.apart, IsEmpty());
  EXPECT_THAT(rows.kernels, Each(Field(&SummaryKernel::lacks, "")));
  EXPECT_DOUBLE_EQ(rows.join.with_counters.value_or(0), 1);
  EXPECT_DOUBLE_EQ(rows.join.with_operators.value_or(0), 1);
  EXPECT_EQ(rows.join.launches, 120U);
  const SummaryKernel& first = rows.kernels.front();
  EXPECT_EQ(first.short_name, "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT");
  EXPECT_EQ(first.time->launches, 20U);
  EXPECT_EQ(first.operators.front().name, "aten::mm");
  EXPECT_EQ(first.phases.front().name, "decode");
  EXPECT_TRUE(first.counters->roofline.memory_share);
}

TEST(KernelRows, AKernelThatOneToolDidNotSeeSaysSo) {
  testing::TestRun run = testing::h200_run();
  const std::string gone = run.ncu_kernels->kernels.front().name;
  run.ncu_kernels->kernels.erase(run.ncu_kernels->kernels.begin());
  NcuKernel stranger = run.ncu_kernels->kernels.front();
  stranger.printed_name = "never_launched";
  run.ncu_kernels->kernels.push_back(stranger);
  const KernelRows rows = rows_of(run);
  EXPECT_LT(*rows.join.with_counters, 1);
  ASSERT_THAT(rows.kernels, SizeIs(7));
  for (const SummaryKernel& kernel : rows.kernels) {
    EXPECT_EQ(kernel.lacks == "not profiled by ncu", kernel.name == gone) << kernel.name;
  }
  EXPECT_EQ(rows.kernels.back().short_name, "never_launched");
  EXPECT_FALSE(rows.kernels.back().time);
  EXPECT_THAT(rows.join.apart,
              ::testing::ElementsAre("never_launched: not in nsys' capture; not in the torch "
                                     "profiler's trace (ncu profiled 1 launch)"));
}

TEST(KernelRows, LeavesOutWhatTheWorkloadDoesBeforeItMeasures) {
  testing::TestRun run = testing::h200_run();
  KernelUse warm = run.nsys_kernels->kernels.front();
  warm.ranges = {"warmup"};
  warm.launches = 3;
  warm.total_ns = 1000;
  KernelUse loading = warm;
  loading.ranges.clear();
  run.nsys_kernels->kernels.push_back(warm);
  run.nsys_kernels->kernels.push_back(loading);
  const KernelRows rows = rows_of(run);
  EXPECT_EQ(rows.join.launches, 120U);
  EXPECT_EQ(rows.join.outside_launches, 6U);
  EXPECT_DOUBLE_EQ(rows.join.outside_ns, 2000);
  EXPECT_EQ(rows.kernels.front().time->launches, 20U);
}

TEST(KernelRows, OnlyTheTorchProfilerSawHaveTheUsersClasses) {
  testing::TestRun run = testing::h200_run();
  run.nsys_kernels.reset();
  run.ncu_kernels.reset();
  const testing::TempDir folder;
  run.write(folder.path());
  const std::string rules =
      R"({"schema": "profline.kernel_classes/1", "rules": [{"class": "mine", "matches": ["."]}]})";
  ASSERT_TRUE(write_file_atomic(folder / "kernel_classes.json", rules));
  const auto opened = run::Run::open(folder.path());
  ASSERT_TRUE(opened) << opened.error().to_string();
  const KernelRows rows = kernel_rows(*opened, phase_tree(*opened));
  ASSERT_THAT(rows.kernels, Not(IsEmpty()));
  EXPECT_THAT(rows.kernels, Each(Field(&SummaryKernel::kernel_class, "mine")));
}

TEST(KernelRows, AnUnreadableFileOfClassesIsListedAsAbsent) {
  const testing::TempDir folder;
  testing::h200_run().write(folder.path());
  const auto listed = [&]() -> std::string {
    const auto opened = run::Run::open(folder.path());
    for (const SummaryAbsent& absent : summary::summarise(opened.value()).absent) {
      if (absent.file == "kernel_classes.json") return absent.why;
    }
    return "not listed";
  };
  EXPECT_EQ(listed(), "not listed");  // without rules there is no file
  ASSERT_TRUE(write_file_atomic(folder / "kernel_classes.json", "{}\n"));
  EXPECT_EQ(listed(),
            R"(kernel_classes.json must begin with "schema": "profline.kernel_classes/1")");
  const std::string rules =
      R"({"schema": "profline.kernel_classes/1", "rules": [{"class": "mine", "matches": ["("]}]})";
  ASSERT_TRUE(write_file_atomic(folder / "kernel_classes.json", rules));
  EXPECT_THAT(listed(), StartsWith("kernel class 'mine': '(' is not a regular expression: "));
}

TEST(KernelRows, WithoutARangeIsAllThereIs) {
  testing::TestRun run = testing::h200_run();
  for (KernelUse& kernel : run.nsys_kernels->kernels) kernel.ranges.clear();
  const KernelRows rows = rows_of(run);
  EXPECT_EQ(rows.join.launches, 120U);
  EXPECT_EQ(rows.join.outside_launches, 0U);
}

TEST(KernelRows, KernelsThatCannotBeDistinguishedAreNotJoined) {
  testing::TestRun run = testing::h200_run();
  // nsys has two shapes, ncu none: its row may belong to either.
  KernelUse other = run.nsys_kernels->kernels.front();
  other.grid = {7, 1, 1};
  run.nsys_kernels->kernels.push_back(other);
  for (NcuKernel& kernel : run.ncu_kernels->kernels) {
    if (kernel.printed_name == other.printed_name) kernel.grid.clear();
  }
  const KernelRows rows = rows_of(run);
  int apart = 0;
  for (const SummaryKernel& kernel : rows.kernels) {
    if (kernel.lacks.find("agree in name and shape") == std::string::npos) continue;
    ++apart;
    EXPECT_FALSE(kernel.time && kernel.counters);
  }
  EXPECT_EQ(apart, 3);
  EXPECT_THAT(rows.join.apart, SizeIs(1));
}

TEST(KernelRows, WorkThatTwoCapturesShowCountsOnce) {
  testing::TestRun run = testing::h200_run();
  NsysCapture all = run.nsys_ranges->captures.front();
  all.name = "run";
  all.range = "";
  run.nsys_ranges->captures.push_back(all);
  const std::size_t count = run.nsys_kernels->kernels.size();
  for (std::size_t i = 0; i < count; ++i) {
    KernelUse again = run.nsys_kernels->kernels[i];
    again.capture = "run";
    run.nsys_kernels->kernels.push_back(again);
    again.capture = "decode.2";  // the second time that the range opened: other work
    again.launches = 1;
    run.nsys_kernels->kernels.push_back(again);
  }
  NsysCapture second = run.nsys_ranges->captures.front();
  second.name = "decode.2";
  run.nsys_ranges->captures.push_back(second);
  const KernelRows rows = rows_of(run);
  EXPECT_EQ(rows.join.launches, 120U + 6U);
  EXPECT_THAT(rows.kernels, SizeIs(6));
}

TEST(KernelRows, BoundsOfAPhaseAreWeightedByTime) {
  const KernelRows rows = rows_of(testing::h200_run());
  const auto bounds = bounds_of(rows, "decode");
  ASSERT_TRUE(bounds);
  EXPECT_NEAR(bounds->counted_ns(), rows.join.total_ns, 1e-6);
  EXPECT_NEAR(bounds->all_ns, rows.join.total_ns, 1e-6);
  EXPECT_FALSE(bounds_of(rows, "sam"));
}

}  // namespace
}  // namespace profline::summary
