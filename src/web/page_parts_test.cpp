#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "web/content_policy.h"
#include "web/histogram.h"
#include "web/page_source.h"

namespace profline::web {
namespace {

using ::testing::ElementsAre;

TEST(Histogram, CountsEveryValueOnce) {
  const Histogram made = histogram({1, 1, 2, 3, 5}, 4);
  EXPECT_THAT(made.edges, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(made.counts, ElementsAre(2, 1, 1, 1));
  EXPECT_EQ(made.above, 0U);
}

TEST(Histogram, OneFarValueDoesNotSqueezeTheRest) {
  std::vector<double> values;
  values.reserve(1001);
  for (int i = 0; i < 1000; ++i) values.push_back(100 + i % 10);
  values.push_back(100'000);
  const Histogram made = histogram(values, 10);
  EXPECT_LT(made.edges.back(), 200);
  EXPECT_EQ(made.above, 1U);
  double counted = 0;
  for (const double count : made.counts) counted += count;
  EXPECT_EQ(counted, 1000);
}

TEST(Histogram, EqualValuesAreOneBin) {
  const Histogram made = histogram({7, 7, 7}, 40);
  EXPECT_THAT(made.counts, ElementsAre(3));
  EXPECT_TRUE(histogram({}, 40).counts.empty());
}

TEST(Bands, TakeNeighboursTogetherWhenThereAreMany) {
  const std::vector<std::vector<double>> series = {{1, 2, 3, 4, 5}, {3, 4}};
  const auto each = bands(series, 10);
  ASSERT_EQ(each.size(), 5U);
  EXPECT_EQ(each[0].median, 2);
  EXPECT_EQ(each[0].n, 2U);
  EXPECT_EQ(each[4].n, 1U);
  const auto two = bands(series, 2);
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].first, 0);
  EXPECT_EQ(two[0].last, 2);
  EXPECT_EQ(two[0].n, 5U);
  EXPECT_EQ(two[1].last, 4);
  EXPECT_TRUE(bands({}, 2).empty());
}

TEST(ContentPolicy, LetsOurScriptsRunAndNothingElse) {
  // printf "alert('Hello, world.');" | openssl sha256 -binary | openssl base64, the example of
  // CSP 3.
  const std::vector<std::string> scripts = {"alert('Hello, world.');"};
  EXPECT_EQ(
      content_policy(scripts),
      "default-src 'none'; style-src 'unsafe-inline'; script-src "
      "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='; base-uri 'none'; form-action 'none'");
}

TEST(GpuReadings, AreReadLineByLine) {
  const auto readings = parse_gpu_readings(
      "{\"at_ns\": 5000000000, \"sm_clock_mhz\": 1980, \"power_mw\": 350500, "
      "\"gpu_utilisation_pct\": 40,"
      " \"memory_used_bytes\": 2147483648, \"throttle_reasons\": 4, \"temperature_c\": null}\n"
      "\n{\"at_ns\": 5500000000}\n",
      "gpu.jsonl");
  ASSERT_TRUE(readings) << readings.error().to_string();
  ASSERT_EQ(readings->size(), 2U);
  EXPECT_EQ(readings->front().at_s, 0);
  EXPECT_EQ(readings->front().sm_clock_mhz, 1980);
  EXPECT_EQ(readings->front().power_w, 350.5);
  EXPECT_EQ(readings->front().utilisation_pct, 40);
  EXPECT_EQ(readings->front().memory_gib, 2);
  EXPECT_EQ(readings->front().throttle_reasons, 4U);
  EXPECT_FALSE(readings->front().temperature_c);
  EXPECT_EQ(readings->back().at_s, 0.5);
}

TEST(GpuReadings, TellWhichLineIsNone) {
  const auto readings = parse_gpu_readings("{\"at_ns\": 1}\n{\"at\": 2}\n", "gpu.jsonl");
  ASSERT_FALSE(readings);
  EXPECT_EQ(readings.error().to_string(), "gpu.jsonl: line 2: no number 'at_ns'");
}

}  // namespace
}  // namespace profline::web
