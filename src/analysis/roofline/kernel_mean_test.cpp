#include "analysis/roofline/kernel_mean.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::roofline {
namespace {

using ::testing::ElementsAre;

struct Given {
  std::uint64_t id;
  std::string_view kernel;
  std::uint32_t blocks;
  std::vector<std::pair<std::string_view, double>> counters;
};

CounterReport report_of(const std::vector<Given>& launches) {
  CounterReport report;
  for (const Given& given : launches) {
    ProfiledKernel kernel;
    kernel.id = given.id;
    kernel.name = report.names.id_of(given.kernel);
    kernel.shape.grid = {given.blocks, 1, 1};
    for (const auto& [name, value] : given.counters) {
      kernel.counters.push_back({report.names.id_of(name), 0, 0, value});
    }
    report.kernels.push_back(std::move(kernel));
    ++report.reading.used;
  }
  return report;
}

TEST(KernelMeans, AreOfLaunchesWithTheSameNameAndShape) {
  const CounterReport report = report_of({{0, "gemm", 4, {{"a", 1}, {"b", 10}}},
                                          {1, "copy", 4, {{"a", 7}}},
                                          {2, "gemm", 4, {{"a", 3}}},
                                          {3, "gemm", 8, {{"a", 100}}}});
  const std::vector<KernelMean> means = mean_kernels(report);
  ASSERT_EQ(means.size(), 3U);
  EXPECT_EQ(means[0].launches, 2U);
  EXPECT_EQ(report.find(means[0].kernel, "a")->value, 2);
  EXPECT_EQ(report.find(means[0].kernel, "b")->value, 10) << "of the launches that have it";
  EXPECT_EQ(report.find(means[2].kernel, "a")->value, 100);
}

TEST(KernelMeans, MayBeToldApartByTheRangesOfTheirLaunches) {
  CounterReport report = report_of({{0, "gemm", 4, {{"a", 1}}}, {1, "gemm", 4, {{"a", 3}}}});
  report.kernels[1].ranges = {{0, report.names.id_of("decode"), RangeKind::PushPop}};
  EXPECT_EQ(mean_kernels(report).size(), 1U);
  const std::vector<KernelMean> means = mean_kernels(report, {.by_ranges = true});
  ASSERT_EQ(means.size(), 2U);
  EXPECT_EQ(report.find(means[1].kernel, "a")->value, 3);
}

TEST(MergedReports, HaveTheCountersOfBothForOneLaunch) {
  CounterReport into = report_of({{0, "gemm", 4, {{"a", 1}}}, {1, "copy", 4, {{"a", 2}}}});
  CounterReport more =
      report_of({{1, "copy", 4, {{"a", 99}, {"b", 5}}}, {2, "norm", 4, {{"b", 6}}}});
  more.reading.skip("torn", "line 3");
  more.reading.notes = {"ncu warns: x"};
  merge_into(into, more);
  ASSERT_EQ(into.kernels.size(), 3U);
  EXPECT_EQ(into.find(into.kernels[1], "a")->value, 2) << "what is there stays";
  EXPECT_EQ(into.find(into.kernels[1], "b")->value, 5);
  EXPECT_EQ(into.names.text(into.kernels[2].name), "norm");
  EXPECT_EQ(into.reading.events(), 5U);
  EXPECT_THAT(into.reading.notes, ElementsAre("ncu warns: x"));
}

}  // namespace
}  // namespace profline::roofline
