#include <cstdlib>
#include <utility>

#include <gtest/gtest.h>

#include "testing/paths.h"
#include "tools/gpu/driver.h"

namespace profline::gpu {
namespace {

constexpr const char* kUuid = "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f";

std::string fake_nvml() {
  return (profline::testing::binary_dir() / "fake_tools/libnvidia-ml.so.1").string();
}

TEST(Nvml, ReportsWhatTheDeviceReports) {
  const auto nvml = Nvml::open(kUuid, fake_nvml());
  ASSERT_TRUE(nvml) << nvml.error().to_string();
  GpuState expected;
  expected.sm_clock_mhz = 1980;
  expected.memory_clock_mhz = 3201;
  expected.power_mw = 312'500;
  expected.power_instant_mw = 345'600;
  expected.temperature_c = 41;
  expected.memory_used_bytes = 10'000'000'000U;
  expected.throttle_reasons = 4;
  expected.energy_mj = 5'000'000'000U;
  EXPECT_EQ(nvml->state(), expected);
}

/// The state that a device with a fault reports, and the next one.
std::pair<GpuState, GpuState> states_with(const char* fault) {
  setenv("FAKE_NVML", fault, 1);
  const auto nvml = Nvml::open(kUuid, fake_nvml());
  std::pair<GpuState, GpuState> states;
  EXPECT_TRUE(nvml);
  if (nvml) {
    states.first = nvml->state();
    states.second = nvml->state();
  }
  unsetenv("FAKE_NVML");
  return states;
}

TEST(Nvml, WhatAnOlderDeviceDoesNotReportIsAbsent) {
  EXPECT_EQ(states_with("no_energy").first.energy_mj, std::nullopt);
  EXPECT_EQ(states_with("no_energy").first.power_instant_mw, 345'600U);
  for (const char* fault : {"no_instant_power", "no_fields"}) {
    const GpuState state = states_with(fault).first;
    EXPECT_EQ(state.power_instant_mw, std::nullopt) << fault;
    EXPECT_EQ(state.power_mw, 312'500U) << fault;
    EXPECT_NE(state.energy_mj, std::nullopt) << fault;
  }
}

TEST(Nvml, ACounterThatGoesBackIsReportedAsItIs) {
  const auto [before, after] = states_with("reset");
  ASSERT_TRUE(before.energy_mj && after.energy_mj);
  EXPECT_LT(*after.energy_mj, *before.energy_mj);
}

TEST(Nvml, AnotherUuidIsAnotherDevice) {
  const auto nvml = Nvml::open("GPU-ff", fake_nvml());
  ASSERT_FALSE(nvml);
  EXPECT_EQ(nvml.error().to_string(), "NVML has no device GPU-ff: error 6");
  EXPECT_EQ(nvml.error().kind(), ErrorKind::NotFound);
}

TEST(Nvml, WithoutTheLibraryIsAnError) {
  const auto nvml = Nvml::open(kUuid, "/nowhere/libnvidia-ml.so.1");
  ASSERT_FALSE(nvml);
  EXPECT_EQ(nvml.error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(nvml.error().to_string().substr(0, 9), "no NVML: ");
}

TEST(GpuSampler, LooksAtTheBeginningAndAtTheEnd) {
  auto nvml = Nvml::open(kUuid, fake_nvml());
  ASSERT_TRUE(nvml);
  // Only the first and the last sample fit, so the test does not depend on timing.
  GpuSampler sampler(std::move(*nvml), std::chrono::hours(1));
  const std::vector<GpuSample> samples = sampler.stop();
  ASSERT_GE(samples.size(), 1U);
  ASSERT_LE(samples.size(), 2U);
  EXPECT_EQ(samples.back().state.power_mw, 312'500U);
  EXPECT_LE(samples.front().at, samples.back().at);
}

TEST(GpuSampler, WritesOneLineALook) {
  GpuSample sample;
  sample.at = std::chrono::nanoseconds(5);
  sample.monotonic = std::chrono::nanoseconds(1005);
  sample.state.power_mw = 7;
  EXPECT_EQ(
      to_jsonl({sample}),
      R"({"at_ns":5,"monotonic_ns":1005,"sm_clock_mhz":null,"memory_clock_mhz":null,)"
      R"("power_mw":7,"power_instant_mw":null,"temperature_c":null,"gpu_utilisation_pct":null,"memory_used_bytes":null,)"
      R"("throttle_reasons":null,"energy_mj":null})"
      "\n");
}

}  // namespace
}  // namespace profline::gpu
