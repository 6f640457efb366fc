#include "records/counters.h"

#include <gtest/gtest.h>

namespace profline {
namespace {

TEST(Counters, AreFoundByNameAndWhereTwoSectionsUseALabelBySection) {
  CounterReport report;
  const Names::Id label = report.names.id_of("Memory Throughput");
  const Names::Id percent = report.names.id_of("%");
  const Names::Id rate = report.names.id_of("byte/s");
  ProfiledKernel kernel;
  kernel.counters = {{label, report.names.id_of("Speed Of Light"), percent, 46.5},
                     {label, report.names.id_of("Memory"), rate, 2.2e12}};
  ASSERT_NE(report.find(kernel, "Memory Throughput"), nullptr);
  EXPECT_EQ(report.find(kernel, "Memory Throughput")->value, 46.5);
  ASSERT_NE(report.find(kernel, "Memory Throughput", "Memory"), nullptr);
  EXPECT_EQ(report.find(kernel, "Memory Throughput", "Memory")->value, 2.2e12);
  EXPECT_EQ(report.find(kernel, "Memory Throughput", "Occupancy"), nullptr);
  EXPECT_EQ(report.find(kernel, "Duration"), nullptr);
}

TEST(Counters, OfAnotherReportComeWithTheirNames) {
  CounterReport report;
  report.names.id_of("something else first");
  report.reading.used = 2;
  report.reading.skip("no number", "row 3");
  CounterReport other;
  other.reading.used = 1;
  other.reading.skip("no number", "row 9");
  ProfiledKernel kernel;
  kernel.name = other.names.id_of("gemm");
  kernel.ranges = {{0, other.names.id_of("decode")}};
  kernel.counters = {{other.names.id_of("dram__bytes.sum"), 0, other.names.id_of("byte"), 64}};
  kernel.texts = {{other.names.id_of("device"), 0, other.names.id_of("NVIDIA H200")}};
  other.kernels = {kernel};
  report.append(other);
  ASSERT_EQ(report.kernels.size(), 1U);
  const ProfiledKernel& taken = report.kernels[0];
  EXPECT_EQ(report.names.text(taken.name), "gemm");
  EXPECT_EQ(report.names.text(taken.ranges[0].name), "decode");
  EXPECT_EQ(report.names.text(taken.texts[0].text), "NVIDIA H200");
  ASSERT_NE(report.find(taken, "dram__bytes.sum"), nullptr);
  EXPECT_EQ(report.find(taken, "dram__bytes.sum")->value, 64);
  EXPECT_EQ(report.reading.used, 3U);
  ASSERT_EQ(report.reading.skipped.size(), 1U);
  EXPECT_EQ(report.reading.skipped[0], (Reading::Skipped{"no number", 2, "row 3"}));
}

}  // namespace
}  // namespace profline
