#include "tools/ncu/number_style.h"

#include <string>

#include <gtest/gtest.h>

namespace profline::ncu {
namespace {

constexpr NumberStyle kPoint{'.'};
constexpr NumberStyle kComma{','};

TEST(NcuNumbers, AreReadInTheStyleOfTheTable) {
  struct Case {
    std::string_view cell;
    NumberStyle style;
    double value;
  };
  constexpr Case kCases[] = {
      {"0", kPoint, 0},
      {"7", kComma, 7},
      {"46.51", kPoint, 46.51},
      {"46,51", kComma, 46.51},
      {"1,234", kPoint, 1234},
      {"1,234", kComma, 1.234},
      {"1.234", kPoint, 1.234},
      {"1.234", kComma, 1234},
      {"3,199,392,068.24", kPoint, 3199392068.24},
      {"3.199.392.068,24", kComma, 3199392068.24},
      {"1 234 567,5", kComma, 1234567.5},
      {"1\u202f234\u00a0567,5", kComma, 1234567.5},
      {"1'234.5", kPoint, 1234.5},
      {"12,34,567", kPoint, 1234567},  // en_IN
      {"-1,234.5", kPoint, -1234.5},
      {"16905532509090908", kPoint, 16905532509090908.0},
      {"1.5e+09", kPoint, 1.5e9},
      {" 12 ", kPoint, 12},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.cell);
    EXPECT_EQ(parse_number(c.cell, c.style), c.value);
  }
}

TEST(NcuNumbers, AreNoneWhereSeparatorsAreOutOfPlace) {
  for (const char* cell : {"",         "n/a",  "nan",       "inf",    "1e999", "12,3", "1,2345",
                           "1234,567", ",123", "123,",      "1,,234", "1.2.3", "0x10", "5 GB",
                           "--1",      "1 2",  "(1, 2, 3)", "-",      "+",     "1e",   "No-CC"}) {
    EXPECT_EQ(parse_number(cell, kPoint), std::nullopt) << cell;
  }
}

TEST(NcuNumbers, ShowTheirStyleWhereOnlyOneIsPossible) {
  struct Case {
    std::string_view cell;
    char decimal;  // 0: the cell proves nothing
  };
  constexpr Case kCases[] = {
      {"46.51", '.'},     {"46,51", ','},        {"1,234,567", '.'},
      {"1.234.567", ','}, {"3,199,068.24", '.'}, {"3.199.068,24", ','},
      {"0.123", '.'},     {"0,123", ','},        {"1234.567", '.'},
      {"1,234", 0},       {"1.234", 0},          {"1234", 0},
      {"n/a", 0},         {"(1, 2, 3)", 0},      {"", 0},
      {"9.0", '.'},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.cell);
    NumberStyleGuess guess;
    for (int i = 0; i < 8; ++i) guess.see(c.cell);
    EXPECT_EQ(guess.is_certain(), c.decimal != 0);
    EXPECT_EQ(guess.style().decimal, c.decimal == 0 ? '.' : c.decimal);
    EXPECT_FALSE(guess.is_contradictory());
  }
}

TEST(NcuNumbers, MayContradictEachOther) {
  NumberStyleGuess guess;
  for (const char* cell : {"46.51", "46,51", "1,5"}) guess.see(cell);
  EXPECT_TRUE(guess.is_contradictory());
  EXPECT_EQ(guess.style().decimal, ',');
}

}  // namespace
}  // namespace profline::ncu
