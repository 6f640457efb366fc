#include "settings/hardware.h"

#include <map>

#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/yaml.h"
#include "testing/paths.h"

namespace profline::settings {
namespace {

Result<Hardware> shipped_hardware() {
  const auto path = profline::testing::source_dir() / "conf/hardware/devices.yaml";
  const std::string text = PL_TRY(read_file(path));
  return read_hardware(PL_TRY(parse_yaml(text, "devices.yaml")));
}

TEST(Hardware, HasTheDevicesThatPeopleProfileOn) {
  const auto hardware = shipped_hardware();
  ASSERT_TRUE(hardware) << hardware.error().to_string();
  for (const char* name :
       {"NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-80GB", "NVIDIA A100-PCIE-40GB",
        "NVIDIA A100 80GB PCIe", "NVIDIA H100 80GB HBM3", "NVIDIA H100 PCIe", "NVIDIA H100 NVL",
        "NVIDIA H200", "NVIDIA B200", "NVIDIA L4", "NVIDIA L40S", "NVIDIA GeForce RTX 3090",
        "NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 5090"}) {
    EXPECT_NE(hardware->find(name), nullptr) << name;
  }
}

TEST(Hardware, TakesNoDeviceForAnother) {
  const auto hardware = shipped_hardware();
  ASSERT_TRUE(hardware) << hardware.error().to_string();
  for (const char* name : {"", "NVIDIA", "NVIDIA H100", "NVIDIA L40", "NVIDIA GeForce RTX 3090 Ti",
                           "NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA GeForce RTX 5090 D"}) {
    EXPECT_EQ(hardware->find(name), nullptr) << name;
  }
}

/// A published rate is twice `half`, up to the rounding of datasheets.
void expect_twice(const std::optional<double>& rate, double half) {
  constexpr double kRounding = 0.03;
  EXPECT_NEAR(rate.value_or(2 * half) / half, 2, 2 * kRounding);
}

// A sparse figure among dense ones is twice what its neighbours allow.
TEST(Hardware, HasDenseRatesOnly) {
  const auto hardware = shipped_hardware();
  ASSERT_TRUE(hardware) << hardware.error().to_string();
  for (const DeviceLimits& device : hardware->devices) {
    ASSERT_FALSE(device.names.empty());
    SCOPED_TRACE(device.names.front());
    const TensorRates& tensor = device.tensor_tflops;
    ASSERT_TRUE(tensor.tf32 && tensor.bf16 && tensor.fp16 && tensor.int8);
    EXPECT_EQ(tensor.bf16, tensor.fp16);
    expect_twice(tensor.bf16, *tensor.tf32);
    expect_twice(tensor.fp8, *tensor.bf16);
    expect_twice(tensor.fp16_fast, *tensor.fp16);
    expect_twice(tensor.fp8_fast, tensor.fp8.value_or(*tensor.int8));
    expect_twice(tensor.int8, tensor.fp16_fast.value_or(*tensor.fp16));
    expect_twice(tensor.fp4, tensor.fp8_fast.value_or(tensor.fp8.value_or(1)));
    ASSERT_TRUE(device.vector_tflops.fp32);
    EXPECT_LE(device.vector_tflops.fp64.value_or(0), *device.vector_tflops.fp32);
    EXPECT_LE(*device.vector_tflops.fp32, *tensor.tf32);
    EXPECT_FALSE(device.source.empty());
  }
}

TEST(Hardware, TellsOfANameThatIsThereTwiceAndOfFiguresThatAreMissing) {
  const auto twice = read_hardware(
      *parse_yaml("devices:\n"
                  "- {names: [X], memory_gb: 1, bandwidth_gb_per_s: 1, source: s}\n"
                  "- {names: [Y, X], memory_gb: 1, bandwidth_gb_per_s: 1, source: s}\n",
                  "d.yaml"));
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().to_string(), "d.yaml:2:1: devices: has 'X' twice");
  const auto missing =
      read_hardware(*parse_yaml("devices: [{names: [X], memory_gb: 0}]", "d.yaml"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().to_string(),
            "d.yaml:1:11: devices.0: missing key 'bandwidth_gb_per_s' (a number > 0)\n"
            "d.yaml:1:11: devices.0: missing key 'source' (a string)\n"
            "d.yaml:1:35: devices.0.memory_gb: must be a number > 0, not 0");
}

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
  const auto ceilings =
      ceilings_with(ceilings_of(card()),
                    environment({{"MFU_PEAK_TFLOPS", "100"}, {"MEM_BANDWIDTH_GBS", "900.5"}}));
  ASSERT_TRUE(ceilings) << ceilings.error().to_string();
  EXPECT_EQ(ceilings->rate(Cores::Tensor, Precision::Bf16), 100e12);
  EXPECT_EQ(ceilings->bytes_per_second, 900.5e9);
  EXPECT_EQ(ceilings->source, "a whitepaper; MFU_PEAK_TFLOPS; MEM_BANDWIDTH_GBS");
  EXPECT_EQ(ceilings->peak_name(), "peak");
}

TEST(Ceilings, OfAnUnknownDeviceAreWhatTheEnvironmentSaysOrNone) {
  const auto none = ceilings_with(Ceilings(), environment({}));
  ASSERT_TRUE(none);
  EXPECT_EQ(none->bytes_per_second, std::nullopt);
  EXPECT_EQ(none->rate(Cores::Tensor, Precision::Bf16), std::nullopt);
  const auto some = ceilings_with(Ceilings(), environment({{"MEM_BANDWIDTH_GBS", "1"}}));
  ASSERT_TRUE(some);
  EXPECT_EQ(some->bytes_per_second, 1e9);
  EXPECT_EQ(some->source, "MEM_BANDWIDTH_GBS");
}

TEST(Ceilings, RefuseAnEnvironmentThatIsNoNumber) {
  for (const char* text : {"0", "-1", "fast", "1e", "100 TFLOPS", "inf", "nan"}) {
    const auto ceilings = ceilings_with(Ceilings(), environment({{"MFU_PEAK_TFLOPS", text}}));
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
