#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/kernels/classify.h"
#include "stages/nsys/internal/captures.h"
#include "testing/captures/nsys_export.h"
#include "testing/captures/timeline_builder.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"
#include "tools/nsys/sqlite_reader.h"

namespace profline::stages::internal {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

NsysTables tables_of(const Timeline& timeline, std::span<const Request> requests,
                     const std::string& name) {
  const auto classifier = kernels::shipped_classifier();
  EXPECT_TRUE(classifier) << classifier.error().to_string();
  NsysTables tables;
  tables.ranges.tool = "nsys 2025.3.1";
  ReadCapture capture;
  capture.about.name = name;
  capture.timeline = &timeline;
  capture.requests = requests;
  add_capture(capture, *classifier, tables);
  finish(tables);
  return tables;
}

NsysTables tables_of(const std::filesystem::path& sqlite, std::span<const Request> requests,
                     const std::string& name = "run") {
  const auto timeline = nsys::read_sqlite(sqlite);
  EXPECT_TRUE(timeline) << timeline.error().to_string();
  return timeline ? tables_of(*timeline, requests, name) : NsysTables();
}

const RangeUse* find_range(const NsysTables& tables, std::string_view name) {
  for (const RangeUse& range : tables.ranges.ranges) {
    if (range.name == name) return &range;
  }
  return nullptr;
}

/// Wall time is assigned to the last nanosecond, in every range and for every device.
void expect_closed(const NsysTables& tables) {
  for (const RangeUse& range : tables.ranges.ranges) {
    for (const DeviceAccount& device : range.devices) {
      EXPECT_EQ(device.residual_ns, 0) << range.name;
      EXPECT_EQ(device.busy_ns + device.idle.sum_ns(), range.wall_ns) << range.name;
    }
  }
}

class NsysTablesOfALoop : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(testing::write_decode_loop(folder_ / "run.sqlite", {.kernels = 240}));
    tables_ = tables_of(folder_ / "run.sqlite", {});
  }

  testing::TempDir folder_;
  NsysTables tables_;
};

TEST_F(NsysTablesOfALoop, HaveEachLaunchInOneRow) {
  std::uint64_t calls = 0;
  std::int64_t total = 0;
  for (const KernelUse& kernel : tables_.kernels.kernels) {
    calls += kernel.launches;
    total += kernel.total_ns;
    EXPECT_LE(kernel.min_ns, kernel.max_ns);
    EXPECT_LE(static_cast<double>(kernel.min_ns), kernel.median_ns);
    EXPECT_EQ(kernel.grid.size(), 3U);
    EXPECT_THAT(kernel.kernel_class, Not(IsEmpty()));
  }
  EXPECT_EQ(calls, 240U);
  EXPECT_EQ(tables_.kernels.launches, 240U);
  EXPECT_EQ(tables_.kernels.total_ns, total);
}

TEST_F(NsysTablesOfALoop, NameTheStackOfRangesOfAKernel) {
  ASSERT_FALSE(tables_.kernels.kernels.empty());
  const std::vector<std::string>& ranges = tables_.kernels.kernels.front().ranges;
  ASSERT_GE(ranges.size(), 2U);
  EXPECT_EQ(ranges[0], "decode");
  EXPECT_EQ(ranges[1], "decode_step");
}

TEST_F(NsysTablesOfALoop, AssignAllOfWallTime) {
  expect_closed(tables_);
  const RangeUse* decode = find_range(tables_, "decode");
  ASSERT_NE(decode, nullptr);
  EXPECT_EQ(decode->instances, 1U);
  EXPECT_EQ(decode->tokens, 2U);
  EXPECT_EQ(decode->tokens_from, "decode_step");
  EXPECT_GT(decode->launches_per_token(), 100);
  const RangeUse* step = find_range(tables_, "decode_step");
  ASSERT_NE(step, nullptr);
  EXPECT_THAT(step->around, ElementsAre("decode"));
  EXPECT_EQ(step->instances, 2U);
}

TEST_F(NsysTablesOfALoop, GiveTheSpanFromFirstToLastActivityOfTheGpu) {
  ASSERT_EQ(tables_.ranges.captures.size(), 1U);
  const NsysCapture& capture = tables_.ranges.captures[0];
  ASSERT_EQ(capture.gpu_spans.size(), 1U);
  const GpuSpan& span = capture.gpu_spans[0];
  EXPECT_EQ(span.device, 0);
  EXPECT_EQ(span.busy_ns, capture.devices[0].busy_ns);
  EXPECT_GT(span.begin_ns, 0) << "the first launch comes before";
  EXPECT_LE(span.end_ns, capture.wall_ns);
  EXPECT_LE(span.busy_ns, span.length_ns());
}

/// Samples of a GPU every 10 ns from 0 to 2000; where it has work in this capture its SMs are
/// active, elsewhere as much as other programs keep them.
GpuSamples sampled(std::int32_t device, float by_others) {
  GpuSamples samples;
  samples.device = device;
  for (std::int64_t when_ns = 0; when_ns <= 2000; when_ns += 10) {
    const bool is_at_work = device == 0 && when_ns > 500 && when_ns <= 1500;
    samples.when_ns.push_back(when_ns);
    samples.values[static_cast<std::size_t>(GpuMetric::SmActive)].push_back(is_at_work ? 1
                                                                                       : by_others);
  }
  return samples;
}

GpuSamples without(GpuSamples samples, std::int64_t from_ns, std::int64_t to_ns) {
  GpuSamples kept;
  kept.device = samples.device;
  auto& values = kept.values[static_cast<std::size_t>(GpuMetric::SmActive)];
  for (std::size_t i = 0; i < samples.when_ns.size(); ++i) {
    if (samples.when_ns[i] > from_ns && samples.when_ns[i] < to_ns) continue;
    kept.when_ns.push_back(samples.when_ns[i]);
    values.push_back(samples.of(GpuMetric::SmActive)[i]);
  }
  return kept;
}

/// What a capture notes that has work on GPU 0 from 500 to 1500 ns of its 2000 ns.
std::vector<std::string> notes_on(std::vector<GpuSamples> samples) {
  testing::TimelineBuilder builder;
  const RowIndex thread = builder.thread(1, 1);
  const RowIndex stream = builder.stream(0, 7);
  builder.work({500, 1500, stream, builder.call({490, 495, thread})});
  Timeline timeline = builder.window(0, 2000).build();
  timeline.gpu_samples = std::move(samples);
  const NsysTables tables = tables_of(timeline, {}, "run");
  EXPECT_EQ(tables.ranges.captures.size(), 1U);
  return tables.ranges.captures.empty() ? std::vector<std::string>()
                                        : tables.ranges.captures[0].notes;
}

TEST(NsysSamples, WithoutGapsAndOtherProgramsNeedNoRemark) {
  EXPECT_THAT(notes_on({}), IsEmpty());
  EXPECT_THAT(notes_on({sampled(0, 0), sampled(1, 0)}), IsEmpty());
  EXPECT_THAT(notes_on({without(sampled(0, 0), 1700, 1900)}), IsEmpty())
      << "samples are missing only where it did not work";
}

TEST(NsysSamples, ThatAreMissingAreReported) {
  EXPECT_THAT(notes_on({without(sampled(0, 0), 800, 1000)}),
              ElementsAre("samples of GPU 0 are missing for 20.0 % of the time in which it "
                          "worked"));
}

TEST(NsysSamples, OfOtherProgramsAreReported) {
  EXPECT_THAT(notes_on({sampled(0, 0.25F)}),
              ElementsAre("the counters of GPU 0 include other programs: its SMs were active for "
                          "25.0 % of the time in which nothing of this capture ran"));
  EXPECT_THAT(notes_on({sampled(0, 0), sampled(1, 0.5F)}),
              ElementsAre("GPU 1, on which nothing of this capture ran, was active for 50.0 % of "
                          "the time: another program uses it"));
  EXPECT_THAT(notes_on({sampled(0, 0.005F), sampled(1, 0.005F)}), IsEmpty()) << "hardly at all";
}

TEST(NsysPage, SharesRangesOfSeveralDevicesOutAsAMean) {
  NsysTables tables;
  NsysCapture capture;
  capture.name = "run";
  capture.wall_ns = 2000;
  capture.gpu_spans = {{0, 0, 1000, 1000}, {1, 500, 1000, 400}};
  tables.ranges.captures.push_back(capture);
  RangeUse range;
  range.capture = "run";
  range.name = "decode";
  range.wall_ns = 1000;
  range.instances = 1;
  range.devices.resize(2);
  range.devices[0].busy_ns = 1000;
  range.devices[1].busy_ns = 900;
  range.devices[1].idle.launching_ns = 100;
  tables.ranges.ranges.push_back(range);
  EXPECT_THAT(kernels_page(tables),
              AllOf(HasSubstr("| `run` | 2.00 us | GPU 0 | 1.00 us | 1.00 us | 100.0 % | 50.0 % |\n"
                              "| `run` | 2.00 us | GPU 1 | 500 ns | 400 ns | 80.0 % | 20.0 % |\n"),
                    HasSubstr("| `run` | `decode` | 1 | 1.00 us | 95.0 % | 0 | – | 0.0 % | 5.0 % | "
                              "0.0 % | 0.0 % |\n")));
}

TEST_F(NsysTablesOfALoop, AreShownWithNamesThatDoNoHarm) {
  for (KernelUse& kernel : tables_.kernels.kernels) kernel.short_name = "evil|`<script>";
  const std::string page = kernels_page(tables_);
  EXPECT_THAT(page, HasSubstr("| ``evil\\|`<script>`` | gemm | `decode` |"));
  EXPECT_THAT(page, HasSubstr("| `run` | `decode` | 1 |"));
}

TEST(NsysTables, CountTokensByRequestsWhereStepsHaveNoRanges) {
  const auto file = testing::shared_dir() / "fixtures/h200/nsys-decode.sqlite";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not here";
  Request first;
  first.phases = {{"decode", {}, 6, std::vector<std::int64_t>{1, 2, 3}}};
  const std::vector<Request> requests = {first};
  const NsysTables tables = tables_of(file, requests);
  const RangeUse* decode = find_range(tables, "decode");
  ASSERT_NE(decode, nullptr);
  expect_closed(tables);
  EXPECT_GT(decode->launch.launches, 0U);
  EXPECT_GT(decode->devices.at(0).busy_ns, 0);
  if (decode->tokens_from != "decode_step") {
    EXPECT_EQ(decode->tokens, 3U);
    EXPECT_EQ(decode->tokens_from, "requests.jsonl");
  }
  const NsysTables unknown = tables_of(file, {});
  if (decode->tokens_from != "decode_step") {
    EXPECT_EQ(find_range(unknown, "decode")->tokens, std::nullopt);
  }
  ASSERT_EQ(tables.ranges.captures.size(), 1U);
  EXPECT_THAT(tables.ranges.captures[0].gpus, ElementsAre("NVIDIA H200"));
}

}  // namespace
}  // namespace profline::stages::internal
