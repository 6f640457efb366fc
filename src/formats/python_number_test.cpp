#include "formats/python_number.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace profline {
namespace {

TEST(PythonNumber, WritesFloatsAsRepr) {
  struct Case {
    double value;
    std::string_view text;
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr Case kCases[] = {
      {0.0, "0.0"},
      {-0.0, "-0.0"},
      {1.0, "1.0"},
      {0.1, "0.1"},
      {0.30000000000000004, "0.30000000000000004"},
      {123456.789, "123456.789"},
      {1e15, "1000000000000000.0"},
      {123456789012345680.0, "1.2345678901234568e+17"},
      {9999999999999998.0, "9999999999999998.0"},
      {1e16, "1e+16"},
      {1.5e300, "1.5e+300"},
      {0.0001, "0.0001"},
      {0.00012, "0.00012"},
      {0.00001, "1e-05"},
      {1.25e-7, "1.25e-07"},
      {5e-324, "5e-324"},
      {kInfinity, "inf"},
      {-kInfinity, "-inf"},
      {std::numeric_limits<double>::quiet_NaN(), "nan"},
      {-std::numeric_limits<double>::quiet_NaN(), "nan"},
  };
  for (const Case& c : kCases) EXPECT_EQ(python_repr(c.value), c.text);
}

// A no-break space before and an ideographic space after.
constexpr const char* kFourInWideSpaces = "\302\2404\343\200\200";

TEST(PythonNumber, ReadsFloatsAsPython) {
  for (const std::string_view text : {"1", "+1.", ".5", "-1_0.5_0e0_1", " 2 ", "\t3\n", "1e400",
                                      "1e-400", "InFiNiTy", "-inf", kFourInWideSpaces}) {
    EXPECT_TRUE(python_float(text)) << text;
  }
  EXPECT_EQ(python_float("-1_0.5_0e0_1"), -105.0);
  EXPECT_EQ(python_float(kFourInWideSpaces), 4.0);
  EXPECT_EQ(python_float("1e400"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(python_float("1e-400"), 0.0);
  EXPECT_TRUE(std::isnan(*python_float("nan")));
  for (const std::string_view text : {"", " ", ".", "e5", "1e", "1e+", "1_", "_1", "1__0", "1_.5",
                                      "0x10", "1 2", "infin", "+-1", "1.5.", "in_f", "\0341"}) {
    EXPECT_FALSE(python_float(text)) << text;
  }
}

TEST(NumberNode, ReadsIntegersAsPython) {
  EXPECT_EQ(*parse_python_int(" +1_000 "), Node::integer(1000));
  EXPECT_EQ(*parse_python_int("-007"), Node::integer(-7));
  EXPECT_EQ(*parse_python_int("-0"), Node::integer(0));
  EXPECT_EQ(*parse_python_int("-9223372036854775808"),
            Node::integer(std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ(*parse_python_int("9223372036854775808"), Node::big_integer("9223372036854775808"));
  EXPECT_TRUE(parse_python_int(std::string(4300, '1')));
  EXPECT_FALSE(parse_python_int(std::string(4301, '1')));
  for (const std::string_view text : {"", "-", "1.0", "1_", "_1", "1__0", "0x1", "1 2", "1e3"}) {
    EXPECT_FALSE(parse_python_int(text)) << text;
  }
}

TEST(NumberNode, CutsOffFractions) {
  EXPECT_EQ(truncated(-1.9), Node::integer(-1));
  EXPECT_EQ(truncated(-0.5), Node::integer(0));
  EXPECT_EQ(truncated(1e22), Node::big_integer("10000000000000000000000"));
  EXPECT_EQ(truncated(std::numeric_limits<double>::max()).as_big_int().size(), 309U);
}

TEST(NumberNode, TurnsNumbersIntoDoubles) {
  EXPECT_EQ(to_double(Node::boolean(true)), 1.0);
  EXPECT_EQ(to_double(Node::integer(-3)), -3.0);
  EXPECT_EQ(to_double(Node::real(0.5)), 0.5);
  EXPECT_EQ(to_double(Node::big_integer("100000000000000000000")), 1e20);
  EXPECT_EQ(to_double(Node::big_integer("-1" + std::string(309, '0'))), std::nullopt);
}

}  // namespace
}  // namespace profline
