#include "analysis/static_model/cost.h"

#include <gtest/gtest.h>

namespace profline::static_model {
namespace {

settings::Ceilings device() {
  settings::Ceilings ceilings;
  ceilings.device = "a GPU";
  ceilings.bytes_per_second = 1e12;
  ceilings.rates = {
      {settings::Cores::Tensor, settings::Precision::Bf16, settings::Accumulation::Fp32, 100e12}};
  return ceilings;
}

OperatorCost operator_cost(std::uint64_t flops, std::uint64_t weights, std::uint64_t activations) {
  OperatorCost cost;
  cost.flops = flops;
  cost.weight_bytes = weights;
  cost.activation_bytes = activations;
  return cost;
}

const NumberFormat kBf16 = *number_format("bf16");

TEST(Count, StaysAtTheTop) {
  const Count most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(most + 1, most);
  EXPECT_EQ(Count(1ULL << 40) * Count(1ULL << 40), most);
  EXPECT_FALSE((Count(1ULL << 40) * Count(1ULL << 40)).is_exact());
  EXPECT_EQ(Count::of(-5), Count());
  EXPECT_EQ(Count(6) * Count(7), Count(42));
}

TEST(Floor, IsTheLargerTimeOperatorByOperator) {
  PhaseCost phase;
  phase.operators = {operator_cost(200'000'000, 1'000'000, 5'000'000),   // 2 us of 1
                     operator_cost(100'000'000, 3'000'000, 1'000'000)};  // 1 us of 3
  const Floor floor = floor_of(phase, kBf16, device());
  EXPECT_DOUBLE_EQ(*floor.compute_ns, 3000);
  EXPECT_DOUBLE_EQ(*floor.memory_ns, 4000);
  EXPECT_DOUBLE_EQ(*floor.floor_ns, 5000) << "more than either sum: operators run one by one";
  EXPECT_DOUBLE_EQ(*floor.unfused_ns, 6000 + 4000);
}

TEST(Floor, IsOfReadsWhereTheirRateWasMeasured) {
  settings::Ceilings measured = device();
  measured.read_bytes_per_second = 0.5e12;  // writes reached more
  EXPECT_EQ(floor_of(operator_cost(0, 1'000'000, 0), kBf16, measured).memory_ns, 2000);
  PhaseCost phase;
  phase.operators = {operator_cost(0, 250'000'000, 0)};
  EXPECT_DOUBLE_EQ(*utilisation(phase, 1e6, kBf16, measured).bandwidth, 0.5);
}

TEST(Floor, IsUnknownRatherThanWrong) {
  const OperatorCost cost = operator_cost(100, 100, 0);
  EXPECT_EQ(floor_of(cost, kBf16, settings::Ceilings()).floor_ns, std::nullopt);
  EXPECT_EQ(floor_of(cost, *number_format("fp8"), device()).floor_ns, std::nullopt);
  EXPECT_EQ(floor_of(cost, *number_format("fp8"), device()).memory_ns, 0.1);
  // What computes nothing needs no peak.
  EXPECT_EQ(floor_of(operator_cost(0, 1000, 0), *number_format("fp8"), device()).floor_ns, 1);
}

TEST(Utilisation, IsWhatAMeasuredTimeMakesOfTheDevice) {
  PhaseCost phase;
  phase.operators = {operator_cost(50'000'000'000, 250'000'000, 0)};  // 500 us, 250 us
  const Utilisation used = utilisation(phase, 1e6, kBf16, device());
  EXPECT_DOUBLE_EQ(*used.mfu, 0.5);
  EXPECT_DOUBLE_EQ(*used.bandwidth, 0.25);
  EXPECT_DOUBLE_EQ(*used.of_floor, 0.5);
  EXPECT_EQ(utilisation(phase, 0, kBf16, device()).mfu, std::nullopt);
  EXPECT_EQ(utilisation(phase, 1e6, kBf16, settings::Ceilings()).mfu, std::nullopt);
}

TEST(Intensity, IsByWhatMustMove) {
  EXPECT_DOUBLE_EQ(*intensity(operator_cost(600, 200, 999)), 3);
  EXPECT_EQ(intensity(operator_cost(600, 0, 999)), std::nullopt);
}

TEST(NumberFormats, AreKnownByBothNames) {
  EXPECT_EQ(number_format("bfloat16"), number_format("bf16"));
  EXPECT_EQ(number_format("fp32")->bytes, 4U);
  EXPECT_EQ(number_format("fp32")->cores, settings::Cores::Vector);
  EXPECT_EQ(number_format("tf32")->bytes, 4U);
  EXPECT_EQ(number_format("fp8")->bytes, 1U);
  EXPECT_EQ(number_format("fp7"), std::nullopt);
}

TEST(Requests, DecodeHalfWayThroughTheAnswerByDefault) {
  EXPECT_EQ((Request{.prompt_tokens = 913, .new_tokens = 64}.decode_context()), 945U);
  EXPECT_EQ((Request{.prompt_tokens = 913, .new_tokens = 64, .context = 7}.decode_context()), 7U);
}

}  // namespace
}  // namespace profline::static_model
