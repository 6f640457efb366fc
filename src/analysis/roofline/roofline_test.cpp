#include "analysis/roofline/roofline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::roofline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

settings::Ceilings h200() {
  settings::Ceilings ceilings;
  ceilings.device = "NVIDIA H200";
  ceilings.bytes_per_second = 4.8e12;
  ceilings.rates = {{Cores::Tensor, Precision::Bf16, Accumulation::Fp32, 989.5e12},
                    {Cores::Vector, Precision::Fp32, Accumulation::Fp32, 67e12}};
  return ceilings;
}

Measurement gemm(double operations, double bytes, double time_ns) {
  Measurement measured;
  measured.time_ns = Quantity{time_ns, "t"};
  measured.dram_bytes = Quantity{bytes, "b"};
  measured.work = {{Cores::Tensor, Precision::Bf16, Accumulation::Fp32, operations, "o", false}};
  measured.counted_operations = true;
  return measured;
}

// A product of 2 x 8192^3 operations; 0.8 of the peak.
TEST(RooflinePoint, OfALargeProductIsUnderTheFlatPart) {
  const double operations = 2.0 * 8192 * 8192 * 8192;
  const double time_ns = operations / (0.8 * 989.5e12) * 1e9;
  const Point point = place(gemm(operations, 4e8, time_ns), h200());
  EXPECT_DOUBLE_EQ(*point.operations_per_second, 0.8 * 989.5e12);
  EXPECT_DOUBLE_EQ(*point.intensity, operations / 4e8);
  EXPECT_DOUBLE_EQ(*point.attainable_operations_per_second, 989.5e12);
  EXPECT_DOUBLE_EQ(*point.floor_ns, time_ns * 0.8);
  EXPECT_NEAR(*point.compute_share, 0.8, 1e-12);
  EXPECT_EQ(point.bound, Bound::Compute);
  EXPECT_THAT(point.evidence,
              ElementsAre("compute 80.0 % (of datasheet peak operations)", HasSubstr("memory ")));
}

TEST(RooflinePoint, OfAVectorProductIsUnderTheSlope) {
  // One FLOP per byte at 90 % of the bandwidth.
  const Point point = place(gemm(4.32e9, 4.32e9, 1e6), h200());
  EXPECT_DOUBLE_EQ(*point.intensity, 1);
  EXPECT_DOUBLE_EQ(*point.attainable_operations_per_second, 4.8e12);
  EXPECT_NEAR(*point.memory_share, 0.9, 1e-12);
  EXPECT_EQ(point.bound, Bound::Memory);
}

TEST(RooflinePoint, FarFromBothRoofsWaits) {
  Measurement measured = gemm(1e6, 1e6, 1e4);
  measured.waves = 0.25;
  measured.occupancy_pct = 12.5;
  const Point point = place(measured, h200());
  EXPECT_EQ(point.bound, Bound::Latency);
  EXPECT_THAT(point.evidence, ElementsAre("compute 0.01 % (of datasheet peak operations)",
                                          "memory 2.1 % (of datasheet peak DRAM bandwidth)",
                                          "the grid is 0.25 waves: it does not fill the device",
                                          "occupancy 12.5 %"));
}

TEST(RooflinePoint, NearBothRoofsIsMixed) {
  // 206 FLOP per byte, where the two parts meet.
  const Point point = place(gemm(0.9 * 989.5e9, 0.9 * 4.8e9, 1e6), h200());
  EXPECT_EQ(point.bound, Bound::Mixed);
}

TEST(RooflinePoint, TakesWhatNcuMeasuredWhereThatIsMore) {
  Measurement measured = gemm(1e6, 1e6, 1e4);
  measured.sm_pct = 20;
  measured.memory_pct = 94;  // L2, or shared memory: the DRAM is idle
  const Point point = place(measured, h200());
  EXPECT_EQ(point.bound, Bound::Memory);
  EXPECT_THAT(point.evidence, ElementsAre("compute 20.0 % (sm__throughput)",
                                          "memory 94.0 % (gpu__compute_memory_throughput)"));
}

TEST(RooflinePoint, OfSeveralPrecisionsHasThePeakOfTheMixture) {
  Measurement measured = gemm(989.5e9, 1e6, 1e7);  // 1 ms of tensor cores
  measured.work.push_back({Cores::Vector, Precision::Fp32, Accumulation::Fp32, 134e9, "v", false});
  const Point point = place(measured, h200());  // and 2 ms of the others, meanwhile
  EXPECT_NEAR(*point.floor_ns, 2e6, 1e-3);
  EXPECT_NEAR(*point.peak_operations_per_second, (989.5e9 + 134e9) / 2e-3, 1);
}

TEST(RooflinePoint, IsUnknownRatherThanWrong) {
  EXPECT_EQ(place(Measurement(), h200()).bound, Bound::Unknown);
  const Point no_device = place(gemm(1e9, 1e6, 1e6), settings::Ceilings());
  EXPECT_EQ(no_device.bound, Bound::Unknown);
  EXPECT_EQ(no_device.floor_ns, std::nullopt);
  EXPECT_EQ(no_device.operations_per_second, 1e12);
  EXPECT_THAT(no_device.evidence, ElementsAre("compute not known", "memory not known"));
  Measurement int4 = gemm(1e9, 1e6, 1e6);
  int4.work[0].precision = Precision::Int4;
  const Point point = place(int4, h200());
  EXPECT_EQ(point.attainable_operations_per_second, std::nullopt);
  EXPECT_THAT(point.evidence[0], "NVIDIA H200 has no ceiling for int4 on its tensor cores");
}

TEST(RooflinePoint, OfACopyHasNoIntensityButABound) {
  Measurement copy = gemm(0, 4.5e9, 1e6);
  copy.work.clear();
  const Point point = place(copy, h200());
  EXPECT_EQ(point.operations, 0);
  EXPECT_EQ(point.bound, Bound::Memory);
  EXPECT_EQ(point.attainable_operations_per_second, std::nullopt);
}

TEST(MarginRule, IsThePredecessors) {
  EXPECT_EQ(classify_by_margin(22.5, 54.4), MarginClass::MemoryBound);
  EXPECT_EQ(classify_by_margin(41.5, 8.1), MarginClass::ComputeBound);
  EXPECT_EQ(classify_by_margin(36.8, 37.3), MarginClass::Balanced);
  EXPECT_EQ(classify_by_margin(10, 5), MarginClass::Balanced) << "the margin itself is balanced";
  EXPECT_EQ(classify_by_margin(10, 5, 4.9), MarginClass::ComputeBound);
  EXPECT_EQ(classify_by_margin(std::nullopt, 5), MarginClass::Unknown);
  EXPECT_EQ(to_text(MarginClass::MemoryBound), "memory_bound");
}

}  // namespace
}  // namespace profline::roofline
