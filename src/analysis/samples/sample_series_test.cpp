#include "analysis/samples/sample_series.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace profline::samples {
namespace {

Sample sample(std::string image, std::uint32_t epoch, std::vector<std::int64_t> token_ns) {
  Sample made;
  made.image = std::move(image);
  made.epoch = epoch;
  made.preprocess_ns = 1'000'000;
  made.prefill_ns = 20'000'000;
  made.sam_ns = 5'000'000;
  made.lm_ns = 0;
  if (!token_ns.empty()) {
    std::int64_t sum = 0;
    for (const std::int64_t ns : token_ns) sum += ns;
    made.decode_ns = sum;
  }
  made.token_ns = std::move(token_ns);
  return made;
}

const Series* find(const std::vector<Series>& all, std::string_view name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Series& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

TEST(SampleSeries, HaveOneValueForAnImageHoweverManyTokensItHas) {
  const std::vector<Sample> samples = {sample("a", 0, {2'000'000, 4'000'000}),
                                       sample("b", 0, {1'000'000})};
  const auto all = series_of(samples);
  ASSERT_NE(find(all, "token_ms"), nullptr);
  EXPECT_EQ(find(all, "token_ms")->units, (std::vector<double>{3, 1}));
  EXPECT_EQ(find(all, "tokens_per_s")->units, (std::vector<double>{1000.0 / 3, 1000}));
  EXPECT_EQ(find(all, "tokens_per_s")->better, statistics::Better::Higher);
  EXPECT_EQ(find(all, "request_ms")->units, (std::vector<double>{27, 22}));
  EXPECT_EQ(find(all, "sam")->units, (std::vector<double>{5, 5}));
  EXPECT_TRUE(find(all, "sam")->is_stage);
  EXPECT_EQ(value_of(*find(all, "token_ms")), 2);
  for (const Series& series : all) EXPECT_TRUE(is_figure(series.name)) << series.name;
  EXPECT_FALSE(is_figure("gemm"));
}

TEST(SampleSeries, LeaveOutWhatHasNoValue) {
  const auto all = series_of(std::vector{sample("a", 0, {}), sample("b", 0, {7})});
  EXPECT_EQ(find(all, "token_ms")->keys, (std::vector<std::string>{"b\n0\n0"}));
  EXPECT_EQ(find(all, "prefill_ms")->units.size(), 2U);
  EXPECT_EQ(find(all, "clip"), nullptr);
  EXPECT_EQ(find(all, "lm"), nullptr) << "a time of 0 is none";
  EXPECT_TRUE(series_of({}).empty());
}

TEST(SampleSeries, TellInferencesOfOneImageApart) {
  const auto all =
      series_of(std::vector{sample("a", 0, {}), sample("a", 0, {}), sample("a", 1, {})});
  EXPECT_EQ(find(all, "prefill_ms")->keys,
            (std::vector<std::string>{"a\n0\n0", "a\n0\n1", "a\n1\n0"}));
}

TEST(SampleSeries, TellWhatAMachineTookForItself) {
  EXPECT_EQ(disturbed_share(std::vector{sample("a", 0, {10, 11, 12, 49})}), 0);
  // One step of 100 among nine of 10: 90 of 190 were somebody else's.
  const std::vector<std::int64_t> stalled = {10, 10, 10, 10, 100, 10, 10, 10, 10, 10};
  EXPECT_DOUBLE_EQ(disturbed_share(std::vector{sample("a", 0, stalled), sample("b", 0, {})}),
                   90.0 / 190);
  EXPECT_EQ(disturbed_share({}), 0);
}

TEST(SampleSeries, KnowTheWallTimeOfAProgram) {
  NodeMap process;
  process.set("wall_ns", Node::integer(2'500'000));
  EXPECT_EQ(wall_ms(Node::map(process)), 2.5);
  process.set("wall_ns", Node::integer(0));
  EXPECT_EQ(wall_ms(Node::map(process)), std::nullopt);
  EXPECT_EQ(wall_ms(Node()), std::nullopt);
}

}  // namespace
}  // namespace profline::samples
