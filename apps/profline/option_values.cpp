#include "option_values.h"

#include <charconv>

#include "base/strings.h"

namespace profline {

Result<double> parse_share(std::string_view text, std::string_view option) {
  std::string_view digits = trim(text);
  const bool is_percent = digits.ends_with('%');
  if (is_percent) digits = trim(digits.substr(0, digits.size() - 1));
  double value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, failure] = std::from_chars(digits.data(), end, value);
  const double share = is_percent ? value / 100 : value;
  const bool fits = failure == std::errc() && rest == end && share >= 0 && share < 1;
  if (fits) return share;
  return Error(ErrorKind::Config, std::string(option) +
                                      " takes a share below 100 %, as in 3% or "
                                      "0.03, not '" +
                                      std::string(text) + "'");
}

Result<std::size_t> parse_count(std::string_view text, std::string_view option, std::size_t least) {
  std::size_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, count);
  if (failure == std::errc() && rest == end && count >= least) return count;
  return Error(ErrorKind::Config, std::string(option) + " takes a whole number from " +
                                      std::to_string(least) + ", not '" + std::string(text) + "'");
}

}  // namespace profline
