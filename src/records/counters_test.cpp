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

}  // namespace
}  // namespace profline
