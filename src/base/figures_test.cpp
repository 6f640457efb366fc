#include "base/figures.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace profline {
namespace {

using namespace std::chrono_literals;

TEST(HumanDuration, PicksTheUnitAndThreeDigits) {
  struct Case {
    FractionalNanoseconds duration;
    std::string_view text;
  };
  const Case cases[] = {
      {0ns, "0 ns"},
      {5ns, "5 ns"},
      {FractionalNanoseconds(12.34), "12.3 ns"},
      {870ns, "870 ns"},
      {999ns, "999 ns"},
      {FractionalNanoseconds(999.4), "999 ns"},
      {FractionalNanoseconds(999.5), "1.00 us"},
      {1000ns, "1.00 us"},
      {9994ns, "9.99 us"},
      {9996ns, "10.0 us"},
      {12345ns, "12.3 us"},
      {99940ns, "99.9 us"},
      {99960ns, "100 us"},
      {999400ns, "999 us"},
      {999950ns, "1.00 ms"},
      {1240us, "1.24 ms"},
      {999499us, "999 ms"},
      {999500us, "1.0 s"},
      {3400ms, "3.4 s"},
      {59940ms, "59.9 s"},
      {59960ms, "1 min 00 s"},
      {125s, "2 min 05 s"},
      {125600ms, "2 min 06 s"},
      {3599400ms, "59 min 59 s"},
      {3599600ms, "1 h 00 min"},
      {3720s, "1 h 02 min"},
      {3h + 59min + 40s, "4 h 00 min"},
      {100h, "100 h 00 min"},
      {-1240us, "-1.24 ms"},
      {FractionalNanoseconds(std::numeric_limits<double>::quiet_NaN()), "n/a"},
      {FractionalNanoseconds(std::numeric_limits<double>::infinity()), "n/a"},
  };
  for (const Case& c : cases) EXPECT_EQ(human_duration(c.duration), c.text);
}

TEST(HumanElapsed, NeverGoesBelowTenthsOfASecond) {
  EXPECT_EQ(human_elapsed(0ns), "0.0 s");
  EXPECT_EQ(human_elapsed(340ms), "0.3 s");
  EXPECT_EQ(human_elapsed(12340ms), "12.3 s");
  EXPECT_EQ(human_elapsed(14s), "14.0 s");
  EXPECT_EQ(human_elapsed(125s), "2 min 05 s");
}

TEST(HumanBytes, CountsIn1024s) {
  struct Case {
    std::uint64_t bytes;
    std::string_view text;
  };
  constexpr std::uint64_t kKiB = 1024;
  const Case cases[] = {
      {0, "0 B"},
      {512, "512 B"},
      {1023, "1023 B"},
      {1024, "1.0 KiB"},
      {1536, "1.5 KiB"},
      {kKiB * kKiB - 1, "1.0 MiB"},
      {kKiB * 1023 + 970, "1023.9 KiB"},
      {kKiB * 1023 + 973, "1.0 MiB"},
      {kKiB * kKiB * kKiB * 32 / 10, "3.2 GiB"},
      {std::numeric_limits<std::uint64_t>::max(), "16.0 EiB"},
  };
  for (const Case& c : cases) EXPECT_EQ(human_bytes(c.bytes), c.text);
  EXPECT_EQ(human_byte_rate(3.2 * 1024 * 1024 * 1024), "3.2 GiB/s");
  EXPECT_EQ(human_byte_rate(1023.4), "1023 B/s");
  EXPECT_EQ(human_byte_rate(1023.6), "1.0 KiB/s");
  EXPECT_EQ(human_byte_rate(NAN), "n/a");
}

TEST(HumanCount, KeepsSmallWholeNumbersWhole) {
  EXPECT_EQ(human_count(0), "0");
  EXPECT_EQ(human_count(950), "950");
  EXPECT_EQ(human_count(999), "999");
  EXPECT_EQ(human_count(2.5), "2.50");
  EXPECT_EQ(human_count(1000), "1.00 k");
  EXPECT_EQ(human_count(12345), "12.3 k");
  EXPECT_EQ(human_count(999499), "999 k");
  EXPECT_EQ(human_count(999500), "1.00 M");
  EXPECT_EQ(human_count(3e9), "3.00 G");
  EXPECT_EQ(human_count(-12345), "-12.3 k");
  EXPECT_EQ(human_count(5e15), "5000 T");
  EXPECT_EQ(human_count(INFINITY), "n/a");
}

TEST(HumanRate, NamesWhatIsCounted) {
  EXPECT_EQ(human_rate(12.34, "images"), "12.3 images/s");
  EXPECT_EQ(human_rate(1240, "tokens"), "1.24 k tokens/s");
  EXPECT_EQ(human_rate(0.25, "images"), "0.250 images/s");
  EXPECT_EQ(human_rate(0, "images"), "0.00 images/s");
  EXPECT_EQ(human_rate(NAN, "images"), "n/a");
}

TEST(Counted, OneThingIsSingularAndEveryOtherNumberPlural) {
  EXPECT_EQ(counted(1, "launch"), "1 launch");
  EXPECT_EQ(counted(0, "launch"), "0 launches");
  EXPECT_EQ(counted(20, "launch"), "20 launches");
  EXPECT_EQ(counted(2, "kernel"), "2 kernels");
  EXPECT_EQ(counted(2, "process"), "2 processes");
  EXPECT_EQ(counted(2, "copy"), "2 copies");
  EXPECT_EQ(counted(2, "day"), "2 days");
  EXPECT_EQ(counted(1, "event has", "events have"), "1 event has");
  EXPECT_EQ(counted(2, "event has", "events have"), "2 events have");
}

TEST(Counted, AMeanIsWholeWhereItsFractionSaysNothing) {
  EXPECT_EQ(counted_mean(1, "launch"), "1 launch");
  EXPECT_EQ(counted_mean(1.02, "launch"), "1 launch");
  EXPECT_EQ(counted_mean(1.4, "launch"), "1.4 launches");
  EXPECT_EQ(counted_mean(0.5, "launch"), "0.5 launches");
  EXPECT_EQ(counted_mean(9.96, "launch"), "10 launches");
  EXPECT_EQ(counted_mean(398.6, "launch"), "399 launches");
}

}  // namespace
}  // namespace profline
