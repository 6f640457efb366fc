#include "tools/ncu/units.h"

#include <gtest/gtest.h>

namespace profline::ncu {
namespace {

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
