#include "settings/ceilings.h"

#include <map>

#include <gtest/gtest.h>

namespace profline::settings {
namespace {

DeviceLimits card() {
  DeviceLimits limits;
  limits.names = {"NVIDIA GeForce RTX 4090"};
  limits.bandwidth_gb_per_s = 1008;
  limits.tensor_tflops.bf16 = 165.2;
  limits.tensor_tflops.fp16 = 165.2;
  limits.tensor_tflops.fp16_fast = 330.3;
  limits.vector_tflops.fp32 = 82.6;
  limits.source = "a whitepaper";
  return limits;
}

Environment environment(std::map<std::string, std::string, std::less<>> variables) {
  return [variables = std::move(variables)](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

TEST(Ceilings, ArePerCoreAndPrecision) {
  const Ceilings ceilings = ceilings_of(card());
  EXPECT_EQ(ceilings.device, "NVIDIA GeForce RTX 4090");
  EXPECT_EQ(ceilings.bytes_per_second, 1.008e12);
  EXPECT_EQ(ceilings.rate(Cores::Tensor, Precision::Bf16), 165.2e12);
  EXPECT_EQ(ceilings.rate(Cores::Vector, Precision::Fp32), 82.6e12);
  EXPECT_EQ(ceilings.rate(Cores::Tensor, Precision::Fp64), std::nullopt);
}

TEST(Ceilings, OfFastAccumulationAreTheOrdinaryOnesWhereItIsNotFaster) {
  const Ceilings ceilings = ceilings_of(card());
  EXPECT_EQ(ceilings.rate(Cores::Tensor, Precision::Fp16), 165.2e12);
  EXPECT_EQ(ceilings.rate(Cores::Tensor, Precision::Fp16, Accumulation::Fast), 330.3e12);
  EXPECT_EQ(ceilings.rate(Cores::Tensor, Precision::Bf16, Accumulation::Fast), 165.2e12);
}

TEST(Ceilings, GiveWayToTheEnvironment) {
  const DeviceLimits limits = card();
  const auto ceilings = ceilings_with(
      &limits, environment({{"MFU_PEAK_TFLOPS", "100"}, {"MEM_BANDWIDTH_GBS", "900.5"}}));
  ASSERT_TRUE(ceilings) << ceilings.error().to_string();
  EXPECT_EQ(ceilings->rate(Cores::Tensor, Precision::Bf16), 100e12);
  EXPECT_EQ(ceilings->bytes_per_second, 900.5e9);
  EXPECT_EQ(ceilings->source, "a whitepaper; MFU_PEAK_TFLOPS; MEM_BANDWIDTH_GBS");
}

TEST(Ceilings, OfAnUnknownDeviceAreWhatTheEnvironmentSaysOrNone) {
  const auto none = ceilings_with(nullptr, environment({}));
  ASSERT_TRUE(none);
  EXPECT_EQ(none->bytes_per_second, std::nullopt);
  EXPECT_EQ(none->rate(Cores::Tensor, Precision::Bf16), std::nullopt);
  const auto some = ceilings_with(nullptr, environment({{"MEM_BANDWIDTH_GBS", "1"}}));
  ASSERT_TRUE(some);
  EXPECT_EQ(some->bytes_per_second, 1e9);
  EXPECT_EQ(some->source, "MEM_BANDWIDTH_GBS");
}

TEST(Ceilings, RefuseAnEnvironmentThatIsNoNumber) {
  for (const char* text : {"0", "-1", "fast", "1e", "100 TFLOPS", "inf", "nan"}) {
    const auto ceilings = ceilings_with(nullptr, environment({{"MFU_PEAK_TFLOPS", text}}));
    ASSERT_FALSE(ceilings) << text;
    EXPECT_EQ(ceilings.error().to_string(),
              "environment variable MFU_PEAK_TFLOPS must be a number above 0, not '" +
                  std::string(text) + "'");
  }
}

TEST(Ceilings, NamePrecisions) {
  EXPECT_EQ(to_text(Precision::Bf16), "bf16");
  EXPECT_EQ(to_text(precision_of(Dtype::Fp32)), "fp32");
  EXPECT_EQ(to_text(Cores::Tensor), "tensor");
}

}  // namespace
}  // namespace profline::settings
