#include <string>

#include <gtest/gtest.h>

#include "tools/ncu/internal/csv_row.h"

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

TEST(NcuUnits, ComeToTheSameBaseInEverySpelling) {
  struct Case {
    std::string_view unit, base;
    double factor;
  };
  constexpr Case kCases[] = {
      {"", "", 1},
      {"%", "%", 1},
      {"nsecond", "ns", 1},
      {"ns", "ns", 1},
      {"usecond", "ns", 1e3},
      {"us", "ns", 1e3},
      {"msecond", "ns", 1e6},
      {"ms", "ns", 1e6},
      {"second", "ns", 1e9},
      {"s", "ns", 1e9},
      {"byte", "byte", 1},
      {"Kbyte", "byte", 1e3},
      {"Mbyte", "byte", 1e6},
      {"Gbyte", "byte", 1e9},
      {"Tbyte", "byte", 1e12},
      {"byte/second", "byte/s", 1},
      {"byte/s", "byte/s", 1},
      {"Gbyte/second", "byte/s", 1e9},
      {"Tbyte/s", "byte/s", 1e12},
      {"byte/cycle", "byte/cycle", 1},
      {"Kbyte/block", "byte/block", 1e3},
      {"hz", "hz", 1},
      {"Ghz", "hz", 1e9},
      {"cycle/second", "hz", 1},
      {"cycle/usecond", "hz", 1e6},
      {"cycle/nsecond", "hz", 1e9},
      {"sector/nsecond", "sector/s", 1e9},
      {"sectors", "sector", 1},
      {"sector/cycle", "sector/cycle", 1},
      {"inst", "inst", 1},
      {"inst/cycle", "inst/cycle", 1},
      {"inst/warp", "inst/warp", 1},
      {"register/thread", "register/thread", 1},
      {"SM", "SM", 1},
      {"1/s", "hz", 1},
      {"nsecond/inst", "ns/inst", 1},
      {"%/byte", "%/byte", 1},
      {"%/register", "%/register", 1},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.unit);
    const auto scale = unit_scale(c.unit);
    ASSERT_TRUE(scale);
    EXPECT_EQ(scale->base, c.base);
    EXPECT_EQ(scale->factor, c.factor);
  }
}

TEST(NcuUnits, AreNotGuessed) {
  for (const char* unit : {"furlong", "byte/fortnight", "/", "byte/", "/s", "xbyte", "byte/1", "KK",
                           "K", "byte/s/s", "%/s"}) {
    EXPECT_FALSE(unit_scale(unit)) << unit;
  }
}

}  // namespace
}  // namespace profline::ncu
