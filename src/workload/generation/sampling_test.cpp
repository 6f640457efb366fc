#include "workload/generation/sampling.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include <gtest/gtest.h>

namespace profline::workload {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

/// How often each id is drawn in 4000 tries, as a share.
std::map<std::int64_t, double> shares(const Sampling& sampling, const std::vector<float>& logits) {
  constexpr int kTries = 4000;
  Sampler sampler(sampling);
  std::map<std::int64_t, double> drawn;
  for (int i = 0; i < kTries; ++i) drawn[sampler.draw(logits)] += 1.0 / kTries;
  return drawn;
}

// Probabilities 1/8, 1/2, 1/8, 1/4 at temperature 1.
const std::vector<float> kLogits = {std::log(1.0F), std::log(4.0F), std::log(1.0F), std::log(2.0F)};

TEST(Sampler, DrawsByProbability) {
  const auto drawn = shares({1.0, {}, {}, 7}, kLogits);
  EXPECT_NEAR(drawn.at(0), 0.125, 0.03);
  EXPECT_NEAR(drawn.at(1), 0.5, 0.03);
  EXPECT_NEAR(drawn.at(3), 0.25, 0.03);
}

TEST(Sampler, TemperatureSharpensOrFlattens) {
  // Half the temperature squares the ratios: 1, 16, 1, 4.
  EXPECT_NEAR(shares({0.5, {}, {}, 7}, kLogits).at(1), 16.0 / 22.0, 0.03);
  EXPECT_NEAR(shares({100.0, {}, {}, 7}, kLogits).at(0), 0.25, 0.03);
}

TEST(Sampler, KeepsTheLikeliest) {
  const auto two = shares({1.0, 2, {}, 7}, kLogits);
  EXPECT_EQ(two.size(), 2U);
  EXPECT_NEAR(two.at(1), 2.0 / 3.0, 0.03);
  // Of the equal ids 0 and 2 the lower one is third.
  EXPECT_EQ(shares({1.0, 3, {}, 7}, kLogits).count(2), 0U);
  EXPECT_EQ(shares({1.0, 1000, {}, 7}, kLogits).size(), 4U);
}

TEST(Sampler, KeepsTheShare) {
  EXPECT_EQ(shares({1.0, {}, 0.4, 7}, kLogits).size(), 1U);  // 1/2 alone reaches it
  EXPECT_EQ(shares({1.0, {}, 0.6, 7}, kLogits).size(), 2U);  // 1/2 + 1/4
  EXPECT_EQ(shares({1.0, {}, 1.0, 7}, kLogits).size(), 4U);
  EXPECT_EQ(shares({1.0, {}, 1e-9, 7}, kLogits).size(), 1U);  // never none
  EXPECT_EQ(shares({1.0, 2, 0.7, 7}, kLogits).size(), 2U);    // of the two: 2/3, then 1
}

TEST(Sampler, SameSeedSameTokens) {
  const auto run = [&](std::uint64_t seed) {
    Sampler sampler({1.0, {}, {}, seed});
    std::vector<std::int64_t> drawn(50);
    for (auto& id : drawn) id = sampler.draw(kLogits);
    return drawn;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST(Sampler, NeverDrawsWhatIsBanned) {
  const std::vector<float> logits = {kNever, 0.0F, kNever, std::nanf(""), 0.0F, kNever};
  const auto drawn = shares({1.0, {}, {}, 7}, logits);
  EXPECT_EQ(drawn.size(), 2U);
  EXPECT_EQ(drawn.count(1) + drawn.count(4), 2U);
  EXPECT_EQ(Sampler({1.0, 3, {}, 7}).draw({{kNever, kNever}}), 0);
}

TEST(Sampler, TakesLogitsOfAnySize) {
  EXPECT_EQ(Sampler({1.0, {}, {}, 7}).draw({{-3e38F, 3e38F}}), 1);
  EXPECT_EQ(Sampler({1e-6, {}, {}, 7}).draw({{1.0F, 1.001F}}), 1);
}

}  // namespace
}  // namespace profline::workload
