#include <gtest/gtest.h>

#include "summary/internal/parts.h"

namespace profline::summary {
namespace {

/// indexSelectSmallIndex on an H200, as ncu recorded it: its data comes from the L2 cache, so the
/// busiest part of the memory system is far busier than DRAM.
NcuKernel cached_kernel() {
  NcuKernel kernel;
  kernel.device_name = "NVIDIA H200";
  kernel.duration_ns = 1'000;
  kernel.roofline.operations = 1e6;
  kernel.roofline.dram_bytes = 626e6;
  kernel.roofline.bytes_per_second = 0.626e12;
  kernel.roofline.memory_share = 0.32;
  kernel.counters = {{"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "%", 32},
                     {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "%", 13}};
  return kernel;
}

run::Run run_with(std::vector<NcuKernel> kernels, std::string ceilings_source = "") {
  NcuKernels table;
  table.kernels = std::move(kernels);
  table.ceilings_source = std::move(ceilings_source);
  run::Run run{RunRecord()};
  run.keep(run::kNcuKernels, std::move(table));
  return run;
}

TEST(MemoryRoof, IsTheBandwidthOfTheDeviceTableThatFloorsWereComputedWith) {
  NcuKernel compute = cached_kernel();
  compute.roofline.peak_operations_per_second = 1e12;
  compute.roofline.operations = 1e9;
  compute.roofline.floor_ns = 1e6;  // by operations: says nothing of memory
  NcuKernel kernel = cached_kernel();
  kernel.roofline.peak_operations_per_second = 1e15;
  kernel.roofline.floor_ns = 626e6 / 4.8e12 * 1e9;
  const run::Run run = run_with({compute, kernel}, "its datasheet");
  const auto roof = memory_roof(run, {});
  ASSERT_TRUE(roof);
  EXPECT_DOUBLE_EQ(roof->bytes_per_second, 4.8e12);
  EXPECT_EQ(roof->from, "the bandwidth of NVIDIA H200 (its datasheet)");
  EXPECT_EQ(roof->source, "ncu/kernels.json");
}

TEST(MemoryRoof, IsTheOneOfStaticAnalysisWhereThereIsOne) {
  StaticCosts costs;
  costs.ceilings.device = "NVIDIA H200";
  costs.ceilings.source = "its datasheet";
  costs.ceilings.bytes_per_second = 4.8e12;
  run::Run run = run_with({cached_kernel()});
  run.keep(kStaticCosts, costs);
  const auto roof = memory_roof(run, {});
  ASSERT_TRUE(roof);
  EXPECT_EQ(roof->bytes_per_second, 4.8e12);
  EXPECT_EQ(roof->source, "static_analysis/static_compute.json");
}

TEST(MemoryRoof, OfACpuIsTheOneThatItsPhasesAreComparedWith) {
  std::vector<PhaseSummary> phases(2);  // the first has no cost
  SummaryCost cost;
  cost.bytes = 1e6;
  cost.memory_ns = 1e5;
  cost.ceilings = "measured on this CPU";
  cost.source = "baseline/metrics.json";
  phases.back().cost = cost;
  const auto roof = memory_roof(run::Run{RunRecord()}, phases);
  ASSERT_TRUE(roof);
  EXPECT_DOUBLE_EQ(roof->bytes_per_second, 1e10);
  EXPECT_EQ(roof->from, "measured on this CPU");
  EXPECT_EQ(roof->source, "baseline/metrics.json");
}

TEST(MemoryRoof, OfADeviceThatIsNotInTheTableFollowsFromItsDramCounters) {
  NcuKernel streaming = cached_kernel();  // its percentage is the least rounded one
  streaming.roofline.bytes_per_second = 2.902e12;
  streaming.counters.back().value = 60.48;
  const auto roof = memory_roof(run_with({cached_kernel(), streaming}), {});
  ASSERT_TRUE(roof);
  EXPECT_NEAR(roof->bytes_per_second, 4.798e12, 1e9);
  EXPECT_EQ(roof->from, "what ncu's DRAM throughput counters imply; the device table has no entry");
}

TEST(MemoryRoof, IsNotGuessedFromSharesThatIncludeCaches) {
  NcuKernel kernel = cached_kernel();
  kernel.counters.pop_back();
  EXPECT_FALSE(memory_roof(run_with({kernel}), {}));
  EXPECT_FALSE(memory_roof(run::Run{RunRecord()}, {}));
}

}  // namespace
}  // namespace profline::summary
