#include "analysis/roofline/counted_kernel.h"

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

TEST(KernelMeans, MayBeDistinguishedByTheRangesOfTheirLaunches) {
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

using ::testing::HasSubstr;

/// One kernel's sections, as on ncu's details page.
CounterReport details() {
  CounterReport report;
  ProfiledKernel kernel;
  kernel.name = report.names.id_of("void gemm<float, 8>(float*)");
  kernel.process = 7;
  kernel.process_name = report.names.id_of("app");
  kernel.device_name = report.names.id_of("NVIDIA H200");
  kernel.compute_capability = report.names.id_of("9.0");
  kernel.shape.grid = {4, 27, 1};
  kernel.shape.block = {384, 1, 1};
  const auto add = [&](std::string_view section, std::string_view name, std::string_view unit,
                       double value) {
    kernel.counters.push_back(
        {report.names.id_of(name), report.names.id_of(section), report.names.id_of(unit), value});
  };
  add("SOL", "Compute (SM) Throughput", "%", 8.81);
  add("SOL", "DRAM Throughput", "%", 46.51);
  add("SOL", "Memory Throughput", "%", 50.5);
  add("SOL", "Duration", "ns", 7872);
  add("Memory", "Memory Throughput", "byte/s", 2.2e12);
  add("Memory", "L2 Hit Rate", "%", 33);
  add("Occupancy", "Achieved Occupancy", "%", 12.5);
  report.kernels.push_back(std::move(kernel));
  return report;
}

std::vector<CountedKernel> rows_of(const CounterReport& report) {
  std::vector<CountedKernel> rows;
  for (KernelMean& mean : mean_kernels(report)) {
    rows.push_back(make_row(report, std::move(mean), "kernel_0001", {}, {}));
  }
  return rows;
}

TEST(KernelTables, HaveTheColumnsOfThePredecessorWithUnitsRight) {
  const CounterReport report = details();
  std::vector<CountedKernel> rows = rows_of(report);
  rows[0].kernel_class = "gemm";
  EXPECT_EQ(metrics_summary_csv(rows),
            "kernel_id,kernel_name,display_name,grid_size,block_size,device,cc,process,process_id,"
            "sm_throughput_pct,dram_throughput_pct,mem_throughput_pct,l1tex_throughput_pct,"
            "l2_throughput_pct,duration_us,mem_busy_pct,max_bandwidth_pct,memory_throughput_gbs,"
            "l1tex_hit_rate_pct,l2_hit_rate_pct,achieved_occupancy_pct,theoretical_occupancy_pct,"
            "classification,roofline_ai_flops_per_byte,roofline_flops_per_s,kernel_class,bound,"
            "launches,attainable_flops_per_s,dram_bytes,l2_bytes,floor_us\n"
            "kernel_0001,\"void gemm<float, 8>(float*)\",\"void gemm<float, 8>(float*)\","
            "\"(4, 27, 1)\",\"(384, 1, 1)\",NVIDIA H200,9.0,app,7,8.81,46.51,50.5,,,7.872,,,2200,,"
            "33,12.5,,memory_bound,,,gemm,latency,1,,17318400,,\n");
  EXPECT_EQ(classification_summary_csv(rows),
            "kernel_id,classification\nkernel_0001,memory_bound\n");
}

TEST(KernelTables, HaveEveryCounterInItsBaseUnit) {
  const CounterReport report = details();
  const std::string text = all_metrics_csv(report, rows_of(report));
  EXPECT_THAT(text, HasSubstr("kernel_id,section,metric_name,value,unit\n"));
  EXPECT_THAT(text, HasSubstr("kernel_0001,SOL,Memory Throughput,50.5,%\n"));
  EXPECT_THAT(text, HasSubstr("kernel_0001,Memory,Memory Throughput,2200000000000,byte/s\n"));
}

TEST(KernelTables, PutEveryKernelIntoOneBin) {
  const CounterReport report = details();
  std::vector<CountedKernel> rows = rows_of(report);
  rows.push_back(rows[0]);
  rows[1].metrics[0] = 18.81;
  const std::string text = histograms_csv(rows);
  EXPECT_THAT(text, HasSubstr("sm_throughput_pct,8.81,9.81,1\n"));
  EXPECT_THAT(text, HasSubstr(",18.81,1\n"));
  EXPECT_THAT(text, HasSubstr("dram_throughput_pct,46.51,46.51,2\n")) << "all alike";
}

TEST(KernelTables, QuoteNamesThatWouldBeCells) {
  CounterReport report = details();
  report.kernels[0].name = report.names.id_of("evil\",=cmd()\nname");
  EXPECT_THAT(metrics_summary_csv(rows_of(report)), HasSubstr("\"evil\"\",=cmd()\nname\""));
}

}  // namespace
}  // namespace profline::roofline
