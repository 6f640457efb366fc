#include "workload/generation/token_chooser.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
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

using Ids = std::vector<std::int64_t>;

Ids banned_after(std::uint32_t size, const Ids& history) {
  return NgramRule(size, history).banned();
}

TEST(NgramRule, BansWhatWouldRepeatNTokens) {
  struct Case {
    const char* name;
    std::uint32_t size;
    Ids history, banned;
  };
  const Case cases[] = {
      {"off", 0, {1, 2, 1, 2}, {}},
      {"one: nothing twice", 1, {3, 1, 3}, {1, 3}},
      {"two: what followed before", 2, {1, 2, 1}, {2}},
      {"two: all that followed, ascending, once", 2, {1, 9, 1, 2, 1, 9, 1}, {2, 9}},
      {"two: of equal tokens", 2, {5, 5}, {5}},
      {"three: both must match", 3, {1, 2, 3, 9, 2, 3, 1, 2}, {3}},
      {"three: overlapping itself", 3, {7, 7, 7}, {7}},
      {"too short", 4, {1, 2}, {}},
      {"exactly n-1, no n-gram yet", 3, {1, 2}, {}},
      {"nothing repeats", 3, {1, 2, 3, 4}, {}},
      {"empty history", 1, {}, {}},
  };
  for (const Case& c : cases) EXPECT_EQ(banned_after(c.size, c.history), c.banned) << c.name;
}

TEST(NgramRule, PromptAndOutputAreOneHistory) {
  NgramRule rule(3, Ids{4, 5, 6, 4});
  EXPECT_EQ(rule.banned(), Ids{});
  rule.add(5);
  EXPECT_EQ(rule.banned(), Ids{6});
  rule.add(7);
  EXPECT_EQ(rule.banned(), Ids{});
}

/// The rule by its definition: rescan everything.
Ids rescan(std::size_t size, const Ids& history) {
  std::set<std::int64_t> banned;
  if (history.size() + 1 < size) return {};
  for (std::size_t end = size; end <= history.size(); ++end) {
    const auto before = history.begin() + static_cast<std::ptrdiff_t>(end - size);
    const auto length = static_cast<std::ptrdiff_t>(size) - 1;
    if (std::equal(before, before + length, history.end() - length))
      banned.insert(history[end - 1]);
  }
  return {banned.begin(), banned.end()};
}

TEST(NgramRule, EqualsARescanOnRandomHistories) {
  std::uint64_t state = 1;
  for (const std::uint32_t size : {1U, 2U, 3U, 5U}) {
    NgramRule rule(size, {});
    Ids history;
    for (int step = 0; step < 300; ++step) {
      EXPECT_EQ(rule.banned(), rescan(size, history)) << size << " at " << step;
      state = state * 6364136223846793005U + 1442695040888963407U;
      history.push_back(static_cast<std::int64_t>(state >> 62));
      rule.add(history.back());
    }
  }
}

}  // namespace
}  // namespace profline::workload
