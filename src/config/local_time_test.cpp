#include "config/local_time.h"

#include <gtest/gtest.h>

namespace profline::config {
namespace {

TEST(FormatTime, WritesWhatPythonsStrftimeWrites) {
  const LocalTime time{2031, 2, 3, 4, 5, 6, 789};
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"%Y-%m-%d", "2031-02-03"},
      {"%H-%M-%S", "04-05-06"},
      {"%f", "000789"},
      {"%I%p", "04AM"},
      {"%a %A %b %B", "Mon Monday Feb February"},
      {"%j %U %W %w %u", "034 05 05 1 1"},
      {"%y %e %-d", "31  3 3"},
      {"%G-W%V", "2031-W06"},
      {"[%z%Z]", "[]"},
      {"100%%", "100%"},
      {"%%f", "%f"},
      {"", ""},
      {"plain é", "plain é"},
  };
  for (const auto& [format, text] : cases) {
    SCOPED_TRACE(format);
    EXPECT_EQ(format_time(time, format), text);
  }
}

TEST(FormatTime, KnowsTheDaysOfTheWeekAndOfLeapYears) {
  EXPECT_EQ(format_time({2024, 2, 29}, "%a %j"), "Thu 060");
  EXPECT_EQ(format_time({2024, 12, 31}, "%a %j"), "Tue 366");
  EXPECT_EQ(format_time({1900, 3, 1}, "%a %j"), "Thu 060");
  EXPECT_EQ(format_time({2000, 3, 1}, "%a %j"), "Wed 061");
  EXPECT_EQ(format_time({1970, 1, 1}, "%a %j"), "Thu 001");
}

TEST(FormatTime, TakesLongFormats) {
  std::string format;
  for (int i = 0; i < 1000; ++i) format += "%A";
  EXPECT_EQ(format_time({2031, 2, 3}, format).size(), 6000U);
}

}  // namespace
}  // namespace profline::config
