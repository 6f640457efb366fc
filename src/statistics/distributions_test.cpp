#include "statistics/distributions.h"

#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace profline::statistics {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

TEST(Normal, HasTheSharesOfTheTables) {
  EXPECT_DOUBLE_EQ(normal_cdf(0), 0.5);
  EXPECT_NEAR(normal_cdf(1.959963984540054), 0.975, 1e-15);
  EXPECT_NEAR(normal_cdf(-6) / 9.865876450376946e-10, 1, 1e-12);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-12);
  EXPECT_NEAR(normal_quantile(0.8), 0.8416212335729143, 1e-12);
  EXPECT_NEAR(normal_quantile(1e-9), -5.997807015007686, 1e-9);
}

TEST(Student, HasTheQuantilesOfTheTables) {
  struct Case {
    double degrees;
    double at_975;
  };
  // Fisher and Yates, table III, with the digits that R's qt() adds.
  constexpr std::array kCases = {
      Case{1, 12.706204736174694}, Case{2, 4.302652729749464},  Case{4, 2.7764451051977934},
      Case{8, 2.306004135204166},  Case{30, 2.042272456301236}, Case{kInfinite, 1.959963984540054},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.degrees);
    EXPECT_NEAR(student_quantile(0.975, c.degrees), c.at_975, 1e-9);
    EXPECT_NEAR(student_quantile(0.025, c.degrees), -c.at_975, 1e-9);
    EXPECT_NEAR(student_cdf(c.at_975, c.degrees), 0.975, 1e-12);
  }
}

TEST(Student, HasClosedFormsForOneAndTwoDegrees) {
  for (const double t : {-40.0, -1.5, 0.0, 0.3, 7.0}) {
    EXPECT_NEAR(student_cdf(t, 1), 0.5 + std::atan(t) / 3.14159265358979323846, 1e-13);
    EXPECT_NEAR(student_cdf(t, 2), 0.5 + t / (2 * std::sqrt(2 + t * t)), 1e-13);
  }
  EXPECT_EQ(student_cdf(kInfinite, 3), 1);
  EXPECT_EQ(student_cdf(-kInfinite, 3), 0);
}

}  // namespace
}  // namespace profline::statistics
