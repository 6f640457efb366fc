#include "formats/csv_number.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace profline::csv {
namespace {

template <typename T>
std::string told(const Result<T>& result) {
  return result ? "a value: " + std::to_string(*result) : result.error().to_string();
}

TEST(CsvNumber, ReadsNumbersWithAndWithoutCommas) {
  struct Case {
    std::string_view text;
    double value;
  };
  constexpr Case kCases[] = {
      {"0", 0},          {"-1.5", -1.5},
      {"1e3", 1000},     {"1,234,567.5", 1234567.5},
      {"12,345", 12345}, {"-3,199,392,068.24", -3199392068.24},
      {"1234", 1234},    {"1,000e2", 100000},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.text);
    const Result<double> number = parse_number(c.text, Thousands::Commas);
    ASSERT_TRUE(number) << number.error().to_string();
    EXPECT_EQ(*number, c.value);
  }
}

TEST(CsvNumber, RefusesWhatIsNotAllNumber) {
  for (const char* text :
       {"",      " ",      "1 ",        " 1",    "10us",     "n/a",      "+1",
        "1.2.3", "--1",    "0x10",      "1,5",   "1,2345",   "1234,567", ",123",
        "123,",  "1,,234", "1,234.5,6", "-,123", "1,234,56", "1,234x",   "1 234"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(told(parse_number(text, Thousands::Commas)),
              "'" + std::string(text) + "' is not a number");
  }
  EXPECT_EQ(told(parse_number("1,234")), "'1,234' is not a number");
  for (const char* text : {"nan", "inf", "-inf"}) {
    EXPECT_EQ(told(parse_number(text)), "'" + std::string(text) + "' is not a finite number");
  }
  EXPECT_EQ(told(parse_number("1e999")), "'1e999' is not a number in range");
  EXPECT_EQ(told(parse_number(std::string(50, 'x'))),
            "'" + std::string(40, 'x') + "...' is not a number");
}

TEST(CsvNumber, ReadsIntegersExactly) {
  EXPECT_EQ(*parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(*parse_integer("-9,223,372,036,854,775,808", Thousands::Commas),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(told(parse_integer("9223372036854775808")),
            "'9223372036854775808' is not an integer in range");
  EXPECT_EQ(told(parse_integer("9,223,372,036,854,775,808", Thousands::Commas)),
            "'9,223,372,036,854,775,808' is not an integer in range");
  EXPECT_EQ(told(parse_integer("71.0")), "'71.0' is not an integer");
  EXPECT_EQ(told(parse_integer("1,234")), "'1,234' is not an integer");
}

TEST(CsvNumber, ReadsPercentages) {
  EXPECT_EQ(*parse_percent("71.4%"), 71.4);
  EXPECT_EQ(*parse_percent("-3 %"), -3);
  EXPECT_EQ(*parse_percent("1,200%", Thousands::Commas), 1200);
  for (const char* text : {"71.4", "%", "71.4%%", "71.4  %", "x%", "nan%"}) {
    EXPECT_EQ(told(parse_percent(text)), "'" + std::string(text) + "' is not a percentage");
  }
}

}  // namespace
}  // namespace profline::csv
