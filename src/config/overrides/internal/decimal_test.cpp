#include "config/overrides/internal/decimal.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace profline::config {
namespace {

Decimal of(double value) {
  return Decimal(Node::real(value));
}
Decimal of(const char* digits) {
  return Decimal(Node::big_integer(digits));
}

TEST(Decimal, AddsIntegersOfAnyLength) {
  EXPECT_EQ(of("99999999999999999999").plus(of("1")).to_integer(),
            Node::big_integer("100000000000000000000"));
  EXPECT_EQ(of("-100000000000000000000").plus(of("99999999999999999999")).to_integer(),
            Node::integer(-1));
  EXPECT_EQ(of("100").plus(of("-100")).to_integer(), Node::integer(0));
  EXPECT_EQ(of("1000").plus(of("-1")).to_integer(), Node::integer(999));
  EXPECT_EQ(of("0").plus(of("-5")).to_integer(), Node::integer(-5));
}

TEST(Decimal, HoldsDoublesExactly) {
  EXPECT_NE(of(0.1).compare(of(0.1).rounded()), 0);  // 0.1 has 55 digits
  EXPECT_EQ(of(0.1).to_double(), 0.1);
  EXPECT_EQ(of(5e-324).to_double(), 5e-324);
  EXPECT_EQ(of(std::numeric_limits<double>::max()).to_double(), std::numeric_limits<double>::max());
  EXPECT_EQ(of(1e23).to_integer(), Node::big_integer("99999999999999991611392"));
  EXPECT_TRUE(std::signbit(of(-0.0).to_double()));
}

// Python: Decimal(0.1) + Decimal(0.2) is 0.3000000000000000166533453694 in the default context.
TEST(Decimal, RoundsTo28DigitsHalfToEven) {
  EXPECT_EQ(of(0.1).plus(of(0.2)).rounded().to_double(), 0.30000000000000004);
  const Decimal two = of(0.1).rounded().plus(of(0.1)).rounded();
  EXPECT_EQ(two.plus(of(0.1)).rounded().to_double(), 0.3);
  EXPECT_EQ(of("12345678901234567890123456785").rounded().to_integer(),
            Node::big_integer("12345678901234567890123456780"));
  EXPECT_EQ(of("12345678901234567890123456775").rounded().to_integer(),
            Node::big_integer("12345678901234567890123456780"));
  EXPECT_EQ(of("123456789012345678901234567851").rounded().to_integer(),
            Node::big_integer("123456789012345678901234567900"));
  EXPECT_EQ(of("99999999999999999999999999999").rounded().to_integer(),
            Node::big_integer("100000000000000000000000000000"));
  EXPECT_EQ(of("-12345678901234567890123456786").rounded().to_integer(),
            Node::big_integer("-12345678901234567890123456790"));
}

TEST(Decimal, ComparesAcrossKinds) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_LT(of("9007199254740992").compare(of("9007199254740993")), 0);
  EXPECT_EQ(of(9007199254740992.0).compare(of("9007199254740992")), 0);
  EXPECT_GT(of("9007199254740993").compare(of(9007199254740992.0)), 0);
  EXPECT_LT(of(-2.5).compare(of(-2.25)), 0);
  EXPECT_LT(of(0.5).compare(of(10.0)), 0);
  EXPECT_LT(of(-1.0).compare(of(0.0)), 0);
  EXPECT_EQ(of(-0.0).compare(of(0.0)), 0);
  EXPECT_LT(of("1000").compare(of(kInfinity)), 0);
  EXPECT_GT(of("-1000").compare(of(-kInfinity)), 0);
  EXPECT_EQ(of(kInfinity).compare(of(kInfinity)), 0);
  EXPECT_GT(of(kInfinity).compare(of(-kInfinity)), 0);
  EXPECT_EQ(Decimal(Node::boolean(true)).compare(of(1.0)), 0);
}

}  // namespace
}  // namespace profline::config
