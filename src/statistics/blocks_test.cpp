#include "statistics/blocks.h"

#include <gtest/gtest.h>

namespace profline::statistics {
namespace {

using Values = std::vector<double>;

TEST(Blocks, AreMeansOfNeighbours) {
  EXPECT_EQ(block_means(Values{1, 3, 5, 7, 9, 11}, 3), (Values{2, 6, 10}));
  EXPECT_EQ(block_means(Values{1, 3, 5, 7, 9}, 2), (Values{2, 7}));
}

TEST(Blocks, OfFewValuesAreTheValues) {
  EXPECT_EQ(block_means(Values{4, 2}, 32), (Values{4, 2}));
  EXPECT_EQ(block_means({}, 32), Values{});
}

TEST(Blocks, HoldEveryValueOnce) {
  Values values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  for (const std::size_t most : {1U, 7U, 32U, 999U}) {
    const Values means = block_means(values, most);
    ASSERT_EQ(means.size(), most);
    double sum = 0;
    for (const double mean : means) sum += mean;
    // Blocks differ by one value at most, so the mean of means is close to the mean.
    EXPECT_NEAR(sum / static_cast<double>(most), 499.5, 1);
  }
}

}  // namespace
}  // namespace profline::statistics
