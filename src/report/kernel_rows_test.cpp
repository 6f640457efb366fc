#include "summary/kernel_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "report/write_reports.h"
#include "summary/phases.h"
#include "summary/summarise.h"
#include "testing/runs/recorded_run.h"
#include "testing/temp_dir.h"

namespace profline::report {
namespace {

using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

summary::KernelRows rows_of(const testing::TestRun& run) {
  const testing::TempDir folder;
  run.write(folder.path());
  const auto artifacts = run::Run::open(folder.path());
  EXPECT_TRUE(artifacts) << artifacts.error().to_string();
  return artifacts ? summary::kernel_rows(*artifacts, summary::phase_tree(*artifacts))
                   : summary::KernelRows();
}

TEST(KernelRows, JoinsWhatThreeToolsSawOfTheSameKernels) {
  const summary::KernelRows rows = rows_of(testing::h200_run());
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
  const summary::KernelRows rows = rows_of(run);
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
  const summary::KernelRows rows = rows_of(run);
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
  const summary::KernelRows rows = summary::kernel_rows(*opened, summary::phase_tree(*opened));
  ASSERT_THAT(rows.kernels, Not(IsEmpty()));
  EXPECT_THAT(rows.kernels, Each(Field(&SummaryKernel::kernel_class, "mine")));
}

TEST(KernelRows, WithoutARangeIsAllThereIs) {
  testing::TestRun run = testing::h200_run();
  for (KernelUse& kernel : run.nsys_kernels->kernels) kernel.ranges.clear();
  const summary::KernelRows rows = rows_of(run);
  EXPECT_EQ(rows.join.launches, 120U);
  EXPECT_EQ(rows.join.outside_launches, 0U);
}

TEST(KernelRows, KernelsThatCannotBeToldApartAreNotJoined) {
  testing::TestRun run = testing::h200_run();
  // Two shapes in nsys' table, none in ncu's: its row may be of either.
  KernelUse other = run.nsys_kernels->kernels.front();
  other.grid = {7, 1, 1};
  run.nsys_kernels->kernels.push_back(other);
  for (NcuKernel& kernel : run.ncu_kernels->kernels) {
    if (kernel.printed_name == other.printed_name) kernel.grid.clear();
  }
  const summary::KernelRows rows = rows_of(run);
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
  const summary::KernelRows rows = rows_of(run);
  EXPECT_EQ(rows.join.launches, 120U + 6U);
  EXPECT_THAT(rows.kernels, SizeIs(6));
}

TEST(KernelRows, BoundsOfAStageAreWeightedByTime) {
  const summary::KernelRows rows = rows_of(testing::h200_run());
  const auto bounds = summary::bounds_of(rows, "decode");
  ASSERT_TRUE(bounds);
  EXPECT_NEAR(bounds->counted_ns(), rows.join.total_ns, 1e-6);
  EXPECT_NEAR(bounds->all_ns, rows.join.total_ns, 1e-6);
  EXPECT_FALSE(summary::bounds_of(rows, "sam"));
}

/// The page without code and escaped characters: what is left may be markup.
std::string markup_of(const std::string& page) {
  std::string rest;
  for (std::size_t i = 0; i < page.size(); ++i) {
    if (page[i] == '\\') {
      ++i;
      continue;
    }
    if (page[i] != '`') {
      rest += page[i];
      continue;
    }
    const std::size_t end = std::min(page.find_first_not_of('`', i), page.size());
    const std::string fence = page.substr(i, end - i);
    std::size_t close = page.find(fence, end);
    while (close != std::string::npos && page[close + fence.size()] == '`') {
      close = page.find(fence, page.find_first_not_of('`', close));
    }
    EXPECT_NE(close, std::string::npos) << "code that never ends: " << page.substr(i, 80);
    if (close == std::string::npos) return rest;
    EXPECT_EQ(page.substr(i, close - i).find('\n'), std::string::npos);
    i = close + fence.size() - 1;
  }
  return rest;
}

TEST(KernelRows, NamesAreNeverMarkup) {
  const std::string hostile = "evil|`x` <script>alert(1)</script> [a](http://b)\n# heading *x*";
  testing::TestRun run = testing::h200_run();
  run.nsys_kernels->kernels.front().printed_name = hostile;
  run.ncu_kernels->kernels.front().evidence = {hostile};
  run.nsys_ranges->captures.front().losses = {hostile};
  run.run.experiment = hostile;
  run.stage("nsys").findings = {{Severity::Warning, "code", hostile, hostile}};
  run.stage("nsys").limits = {hostile};
  const testing::TempDir folder;
  run.write(folder.path());
  const auto opened = run::Run::open(folder.path());
  ASSERT_TRUE(opened) << opened.error().to_string();
  ASSERT_TRUE(write_reports(*opened, summary::summarise(*opened)));
  for (const char* page : {"report.md", "kernels.md", "operators.md", "stakeholder_summary.md"}) {
    SCOPED_TRACE(page);
    const std::string text = markup_of(testing::text_of(folder / page));
    EXPECT_THAT(text, Not(HasSubstr("\n# heading")));
    EXPECT_THAT(text, Not(HasSubstr("<")));
    EXPECT_THAT(text, Not(HasSubstr("](http")));
    EXPECT_THAT(text, Not(HasSubstr("://")));
  }
  const std::string kernels = testing::text_of(folder / "kernels.md");
  EXPECT_THAT(kernels, HasSubstr("``evil\\|`x`"));
}

}  // namespace
}  // namespace profline::report
