#include "workload/generation/ngram_rule.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace profline::workload {
namespace {

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
