#include "pipeline/gpu_watch.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "run/artifacts.h"
#include "run/run.h"
#include "testing/paths.h"
#include "testing/pipeline/recorded_stage_run.h"
#include "testing/processes/fake_processes.h"
#include "testing/temp_dir.h"

namespace profline::pipeline {
namespace {

class GpuWatch : public ::testing::Test {
 protected:
  GpuWatch() {
    setup_.settings.device = {.kind = settings::Device::Kind::Cuda, .index = 0};
    gpu::Driver driver;
    driver.devices.emplace_back();
    driver.devices.back().index = 0;
    driver.devices.back().uuid = "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f";
    tools_.driver = std::move(driver);
  }
  static std::string fake_nvml() {
    return (testing::binary_dir() / "fake_tools/libnvidia-ml.so.1").string();
  }

  RunSetup setup_;
  Toolbox tools_;
  testing::FakeProcesses processes_;
  testing::RecordedStageRun run_{processes_};
};

TEST_F(GpuWatch, WritesWhatItSampled) {
  const testing::TempDir folder;
  const auto sampler = watch_gpu({setup_, tools_}, run_, fake_nvml());
  ASSERT_TRUE(sampler);
  ASSERT_TRUE(create_folders(folder / "baseline"));
  ASSERT_TRUE(write_readings(sampler.get(), folder / "baseline"));
  const run::Run run = run::Run::with_record(folder.path(), {});
  const auto& readings = run.get(run::kGpuReadings);
  ASSERT_TRUE(readings) << readings.why_not;
  ASSERT_FALSE(readings->empty());
  EXPECT_DOUBLE_EQ(readings->front().energy_j.value_or(0), 5'000'000);
  EXPECT_TRUE(readings->front().monotonic_ns);
  EXPECT_TRUE(run_.findings().empty());
}

TEST_F(GpuWatch, IsAbsentWithoutAGpu) {
  setup_.settings.device = {.kind = settings::Device::Kind::Cpu, .index = {}};
  EXPECT_FALSE(watch_gpu({setup_, tools_}, run_, fake_nvml()));
  EXPECT_TRUE(run_.findings().empty());
  const testing::TempDir folder;
  EXPECT_TRUE(write_readings(nullptr, folder.path()));
  EXPECT_FALSE(std::filesystem::exists(folder / "gpu.jsonl"));
}

TEST_F(GpuWatch, ReportsThatThereIsNoNvml) {
  EXPECT_FALSE(watch_gpu({setup_, tools_}, run_, "/nowhere/libnvidia-ml.so.1"));
  ASSERT_EQ(run_.findings().size(), 1U);
  EXPECT_EQ(run_.findings().front().code, "gpu_not_sampled");
}

}  // namespace
}  // namespace profline::pipeline
