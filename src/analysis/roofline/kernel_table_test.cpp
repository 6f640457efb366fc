#include "analysis/roofline/kernel_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::roofline {
namespace {

using ::testing::HasSubstr;

/// What ncu's sections say of one kernel, as the details page has it.
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

std::vector<KernelRow> rows_of(const CounterReport& report) {
  std::vector<KernelRow> rows;
  for (KernelMean& mean : mean_kernels(report)) {
    rows.push_back(make_row(report, std::move(mean), "kernel_0001", {}, {}));
  }
  return rows;
}

TEST(KernelTables, HaveTheColumnsOfThePredecessorWithUnitsRight) {
  const CounterReport report = details();
  std::vector<KernelRow> rows = rows_of(report);
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
  std::vector<KernelRow> rows = rows_of(report);
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
