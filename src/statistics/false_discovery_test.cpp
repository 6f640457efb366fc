#include "statistics/false_discovery.h"

#include <gtest/gtest.h>

#include "statistics/bootstrap.h"

namespace profline::statistics {
namespace {

TEST(FalseDiscovery, AdjustsAsBenjaminiAndHochbergDo) {
  // R: p.adjust(c(0.01, 0.04, 0.03, 0.005, 0.5), "BH")
  const std::vector<double> adjusted =
      benjamini_hochberg(std::vector<double>{0.01, 0.04, 0.03, 0.005, 0.5});
  const std::vector<double> expected = {0.025, 0.05, 0.05, 0.025, 0.5};
  ASSERT_EQ(adjusted.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_DOUBLE_EQ(adjusted[i], expected[i]);
  EXPECT_TRUE(benjamini_hochberg({}).empty());
  EXPECT_EQ(benjamini_hochberg(std::vector<double>{0.03}), std::vector<double>{0.03});
}

TEST(FalseDiscovery, KeepsManyKernelsFromCryingWolf) {
  // A thousand questions with nothing behind them: 50 or so p values are below 0.05.
  RandomNumbers random(3);
  std::vector<double> p(1000);
  for (double& value : p) value = (1.0 + random.below(1'000'000)) / 1e6;
  int small = 0;
  for (const double value : p) small += value <= 0.05 ? 1 : 0;
  EXPECT_GT(small, 20);
  for (const double value : benjamini_hochberg(p)) EXPECT_GT(value, 0.05);
  // One that is real stands out all the same.
  p.front() = 1e-8;
  EXPECT_LT(benjamini_hochberg(p).front(), 0.05);
}

}  // namespace
}  // namespace profline::statistics
