#include "base/figures.h"

#include <cmath>
#include <limits>
#include <optional>

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/strings.h"
#include "testing/paths.h"

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
  EXPECT_EQ(human_count(1.979e15), "1.98 P");
  EXPECT_EQ(human_count(5e18), "5000 P");
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

TEST(Percent, HasOneDigitAndTwoForTheSmallest) {
  EXPECT_EQ(percent(0), "0.0 %");
  EXPECT_EQ(percent(0.28), "28.0 %");
  EXPECT_EQ(percent(1), "100.0 %");
  EXPECT_EQ(percent(1.988), "198.8 %");
  EXPECT_EQ(percent(0.001), "0.1 %");
  EXPECT_EQ(percent(0.00012), "0.012 %");
  EXPECT_EQ(percent(0.0000049), "0.00049 %");
  EXPECT_EQ(percent(0.000001), "0.0001 %");
  EXPECT_EQ(percent(0.0000009), "0.0 %");
  EXPECT_EQ(percent(-0.28), "-28.0 %");
  EXPECT_EQ(percent(NAN), "n/a");
  EXPECT_EQ(percent(std::optional<double>(0.5)), "50.0 %");
  EXPECT_EQ(percent(std::optional<double>()), "–");
}

TEST(Percent, OfNothingIsNotKnown) {
  EXPECT_EQ(percent_of(1, 3), "33.3 %");
  EXPECT_EQ(percent_of(0, 3), "0.0 %");
  EXPECT_EQ(percent_of(0, 0), "–");
  EXPECT_EQ(percent_of(3, -1), "–");
}

TEST(Percent, OfADifferenceHasASign) {
  EXPECT_EQ(signed_percent(0.049), "+4.9 %");
  EXPECT_EQ(signed_percent(-0.003), "-0.3 %");
  EXPECT_EQ(signed_percent(0.0003), "+0.03 %");
  EXPECT_EQ(signed_percent(0), "+0.0 %");
  EXPECT_EQ(signed_percent(-0.0000001), "+0.0 %");
  EXPECT_EQ(signed_percent(NAN), "n/a");
}

TEST(Percent, ThatSomebodyChoseHasItsOwnDigits) {
  EXPECT_EQ(chosen_percent(0.95), "95 %");
  EXPECT_EQ(chosen_percent(0.005), "0.5 %");
  EXPECT_EQ(chosen_percent(0.999), "99.9 %");
}

TEST(PlainNumber, LargeNumbersAreWholeAndNeverHaveAnExponent) {
  EXPECT_EQ(plain_number(0.0042), "0.0042");
  EXPECT_EQ(plain_number(12.345), "12.3");
  EXPECT_EQ(plain_number(999.4), "999");
  EXPECT_EQ(plain_number(999.6), "1000");
  EXPECT_EQ(plain_number(1018.7), "1019");
  EXPECT_EQ(plain_number(std::optional<double>()), "–");
}

TEST(Factor, HasTwoDigitsAfterThePointCloseToOne) {
  EXPECT_EQ(factor(0.5), "0.50x");
  EXPECT_EQ(factor(1), "1.00x");
  EXPECT_EQ(factor(1.04), "1.04x");
  EXPECT_EQ(factor(1.0949), "1.09x");
  EXPECT_EQ(factor(1.1), "1.1x");
  EXPECT_EQ(factor(3.61), "3.6x");
  EXPECT_EQ(factor(9.94), "9.9x");
  EXPECT_EQ(factor(9.96), "10x");
  EXPECT_EQ(factor(31.4), "31x");
  EXPECT_EQ(factor(INFINITY), "n/a");
}

TEST(Amount, JoinsThePrefixAndTheUnit) {
  EXPECT_EQ(amount(1.24e12, "FLOP/s"), "1.24 TFLOP/s");
  EXPECT_EQ(amount(4.8e12, "B/s"), "4.80 TB/s");
  EXPECT_EQ(amount(950, "B"), "950 B");
  EXPECT_EQ(amount(0, "B"), "0 B");
  EXPECT_EQ(amount(2.5, "FLOP/B"), "2.50 FLOP/B");
  EXPECT_EQ(amount(-12345, "B"), "-12.3 kB");
  EXPECT_EQ(amount(NAN, "B"), "n/a");
  EXPECT_EQ(amount(std::optional<double>(1e3), "B"), "1.00 kB");
  EXPECT_EQ(amount(std::optional<double>(), "B"), "–");
}

TEST(Figures, ThatAreNotKnownAreADash) {
  EXPECT_EQ(duration(std::int64_t{1'240'000}), "1.24 ms");
  EXPECT_EQ(duration(1.24e6), "1.24 ms");
  EXPECT_EQ(duration(std::optional<double>(1.24e6)), "1.24 ms");
  EXPECT_EQ(duration(std::optional<double>()), "–");
  EXPECT_EQ(count(std::optional<double>(12345)), "12.3 k");
  EXPECT_EQ(count(std::optional<double>()), "–");
}

/// The report page also rounds in the browser: tests/web/figures_test.mjs reads the same file.
TEST(Figures, AreThoseThatThePageShows) {
  const auto text = read_file(testing::source_dir() / "tests/golden/figures/figures.tsv");
  ASSERT_TRUE(text) << text.error().to_string();
  std::size_t cases = 0;
  for (const std::string_view line : split(*text, '\n')) {
    if (line.empty()) continue;
    const auto cells = split(line, '\t');
    ASSERT_EQ(cells.size(), 3U) << line;
    const double value = std::stod(std::string(cells[1]));
    ++cases;
    if (cells[0] == "duration") {
      EXPECT_EQ(duration(value), cells[2]) << line;
    } else if (cells[0] == "percent") {
      EXPECT_EQ(percent(value), cells[2]) << line;
    } else {
      ASSERT_EQ(cells[0], "amount") << line;
      EXPECT_EQ(amount(value, "B"), cells[2]) << line;
    }
  }
  EXPECT_GT(cases, 0U);
}

}  // namespace
}  // namespace profline
