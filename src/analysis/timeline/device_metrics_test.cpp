#include "analysis/timeline/device_metrics.h"

#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "testing/captures/timeline_builder.h"
#include "testing/captures/zoo.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"
#include "tools/nsys/sqlite_reader.h"

namespace profline::timeline {
namespace {

using testing::TimelineBuilder;

/// Samples every 10 ns from 0 to 1000: DRAM is read at half of the peak from 200 to 400.
GpuSamples half_busy() {
  GpuSamples samples;
  for (std::int64_t when_ns = 0; when_ns <= 1000; when_ns += 10) {
    samples.when_ns.push_back(when_ns);
    const bool reads = when_ns > 200 && when_ns <= 400;
    samples.values[static_cast<std::size_t>(GpuMetric::DramRead)].push_back(reads ? 0.5F : 0);
    samples.values[static_cast<std::size_t>(GpuMetric::DramWrite)].push_back(0);
    samples.values[static_cast<std::size_t>(GpuMetric::SmActive)].push_back(reads ? 1 : 0);
  }
  return samples;
}

Timeline sampled(GpuSamples samples) {
  TimelineBuilder builder;
  const RowIndex thread = builder.thread(1, 1);
  const RowIndex stream = builder.stream(0, 7);
  builder.range({100, 250, "decode", thread});
  const auto call = builder.call({110, 112, thread});
  builder.work({200, 280, stream, call}).work({320, 400, stream, call});
  Timeline timeline = builder.window(0, 1000).build();
  timeline.gpu_samples.push_back(std::move(samples));
  Gpu gpu;
  gpu.memory_bytes_per_second = 4e12;
  timeline.gpus.push_back(std::move(gpu));
  return timeline;
}

TEST(DeviceMetrics, AreMeansOverAnyTime) {
  const Timeline timeline = sampled(half_busy());
  const MetricIntegrals integrals(timeline);
  EXPECT_EQ(integrals.period_ns(0), 10);
  const auto half = integrals.over(0, {{305, 495}});
  ASSERT_TRUE(half);
  EXPECT_NEAR(*half->dram_read, 0.25, 1e-6);
  EXPECT_NEAR(*half->sm_active, 0.5, 1e-6);
  EXPECT_EQ(half->tensor_active, std::nullopt) << "not sampled";
  EXPECT_EQ(half->covered_ns, 190);
  EXPECT_EQ(half->samples, 19U);
  EXPECT_NEAR(*half->dram_bytes, 0.25 * 4e12 * 190e-9, 1);
  const auto parts = integrals.over(0, {{305, 400}, {400, 495}});
  EXPECT_NEAR(*parts->dram_read, 0.25, 1e-6);
  EXPECT_FALSE(integrals.over(0, {{300, 330}})) << "too few samples";
  EXPECT_FALSE(integrals.over(1, {{0, 1000}})) << "not sampled";
}

TEST(DeviceMetrics, OfARangeAreThoseOfItsWork) {
  const Timeline timeline = sampled(half_busy());
  const MetricIntegrals integrals(timeline);
  const auto ranges = range_metrics(timeline, Attribution::of(timeline), integrals);
  ASSERT_EQ(ranges.size(), 1U);
  const auto& [key, metrics] = *ranges.begin();
  EXPECT_EQ(std::get<0>(key), "decode");
  EXPECT_NEAR(*metrics.dram_read, 0.5, 1e-6) << "from 200 to 400, although the range ends at 250";
}

TEST(DeviceMetrics, CountTimeOnceIfRangesOfOneLabelOverlap) {
  TimelineBuilder builder;
  const RowIndex stream = builder.stream(0, 7);
  for (const std::int64_t tid : {1, 2}) {  // two threads run requests at the same time
    const RowIndex thread = builder.thread(1, tid);
    builder.range({100, 250, "decode", thread});
    const auto call = builder.call({110, 112, thread});
    builder.work({200, 400, stream, call});
  }
  Timeline timeline = builder.window(0, 1000).build();
  timeline.gpu_samples.push_back(half_busy());
  timeline.gpus.emplace_back().memory_bytes_per_second = 4e12;
  const MetricIntegrals integrals(timeline);
  const auto ranges = range_metrics(timeline, Attribution::of(timeline), integrals);
  ASSERT_EQ(ranges.size(), 1U);
  const DeviceMetrics& metrics = ranges.begin()->second;
  EXPECT_EQ(metrics.covered_ns, 200);
  EXPECT_NEAR(*metrics.dram_bytes, 0.5 * 4e12 * 200e-9, 1);
}

TEST(DeviceMetrics, ReportMissingSamplesAndOtherPrograms) {
  GpuSamples samples = half_busy();
  const auto drop = [&](auto& values) {
    if (!values.empty()) values.erase(values.begin() + 31, values.begin() + 36);
  };
  for (auto& values : samples.values) drop(values);
  drop(samples.when_ns);  // 310 to 350
  const Timeline timeline = sampled(std::move(samples));
  const MetricIntegrals integrals(timeline);
  const auto metrics = integrals.over(0, {{200, 400}});
  ASSERT_TRUE(metrics);
  EXPECT_EQ(metrics->gap_ns, 60);
  EXPECT_EQ(metrics->covered_ns, 140);
  EXPECT_NEAR(*metrics->dram_read, 0.5, 1e-6) << "of the covered time";
  EXPECT_NEAR(active_without_work(timeline, 0, integrals).value_or(-1), 0, 1e-6);

  GpuSamples busy = half_busy();
  for (float& share : busy.values[static_cast<std::size_t>(GpuMetric::SmActive)]) share = 0.75F;
  const Timeline shared = sampled(std::move(busy));
  EXPECT_NEAR(active_without_work(shared, 0, MetricIntegrals(shared)).value_or(-1), 0.75, 1e-6);
}

TEST(DeviceMetrics, OfTheRecordedFastDecodeAgreeWithTheModel) {
  const testing::TempDir folder;
  const auto file = folder / "capture.sqlite";
  const auto bytes = testing::unzipped(testing::source_dir() /
                                       "tests/golden/nsys/2025.3-fast-decode/input.sqlite.gz");
  ASSERT_TRUE(bytes);
  ASSERT_TRUE(write_file_atomic(file, *bytes));
  const Result<Timeline> timeline = nsys::read_sqlite(file);
  ASSERT_TRUE(timeline) << timeline.error().to_string();
  ASSERT_EQ(timeline->gpu_samples.size(), 1U);
  EXPECT_EQ(timeline->gpu_samples[0].of(GpuMetric::NvlinkSend).size(), 0U);
  const MetricIntegrals integrals(*timeline);
  EXPECT_NEAR(static_cast<double>(integrals.period_ns(0)), 100e3, 1e3);
  const auto ranges = range_metrics(*timeline, Attribution::of(*timeline), integrals);
  const auto decode = ranges.find({"decode", 0, 0});
  ASSERT_NE(decode, ranges.end());
  EXPECT_NEAR(*decode->second.sm_active, 0.85, 0.01);
  EXPECT_NEAR(*decode->second.tensor_active, 0.01, 0.005);
  EXPECT_EQ(decode->second.gap_ns, 0);
  // Weights and KV cache of a token are 1.171 GB by the static model.
  ASSERT_TRUE(decode->second.dram_bytes);
  EXPECT_NEAR(*decode->second.dram_bytes / 255, 1.171e9, 0.05 * 1.171e9);
}

}  // namespace
}  // namespace profline::timeline
