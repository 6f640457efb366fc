#pragma once

#include <string>
#include <string_view>

namespace profline::config {

/// A date and a time of day, of no particular time zone.
struct LocalTime {
  int year = 1970;
  int month = 1;  ///< from 1
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int microsecond = 0;
};

/// As Python's datetime.strftime() in the C locale: C's directives, and `%f` for microseconds;
/// `%z` and `%Z` are empty.
std::string format_time(const LocalTime& time, std::string_view format);

}  // namespace profline::config
