#include "config/python_number.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace profline::config {
namespace {

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
}  // namespace profline::config
