#include "formats/csv_number.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <system_error>

namespace profline::csv {
namespace {

constexpr std::size_t kShown = 40;  // bytes of a wrong cell that a message repeats

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

Error not_a(std::string_view what, std::string_view text) {
  std::string shown(text.substr(0, kShown));
  if (text.size() > kShown) shown += "...";
  return Error(ErrorKind::Parse, "'" + shown + "' is not " + std::string(what));
}

/// Without its grouping commas; nothing when one of them is out of place. The integer part must be
/// one to three digits, then groups of exactly three: 12,345,678.9
std::optional<std::string> ungrouped(std::string_view text) {
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  const auto* const integer_end = std::find_if(text.begin() + first, text.end(),
                                               [](char c) { return c != ',' && !is_digit(c); });
  const std::string_view integer =
      text.substr(first, static_cast<std::size_t>(integer_end - text.begin()) - first);
  const std::string_view rest = text.substr(first + integer.size());
  if (rest.find(',') != std::string_view::npos) return std::nullopt;

  std::string digits(text.substr(0, first));
  const std::size_t leading = integer.find(',');
  if (leading == 0 || leading > 3) return std::nullopt;
  for (std::size_t i = 0; i < integer.size(); ++i) {
    const bool comma_due = i >= leading && (i - leading) % 4 == 0;
    if (comma_due != (integer[i] == ',')) return std::nullopt;
    if (!comma_due) digits += integer[i];
  }
  if ((integer.size() - leading) % 4 != 0) return std::nullopt;
  digits += rest;
  return digits;
}

template <typename Number>
Result<Number> parse(std::string_view text, Thousands thousands, std::string_view what) {
  std::string_view plain = text;
  std::optional<std::string> without_commas;
  if (thousands == Thousands::Commas && text.find(',') != std::string_view::npos) {
    without_commas = ungrouped(text);
    if (!without_commas) return not_a(what, text);
    plain = *without_commas;
  }
  Number number{};
  const char* const last = plain.data() + plain.size();
  const auto [end, status] = std::from_chars(plain.data(), last, number);
  if (status == std::errc::invalid_argument || end != last) return not_a(what, text);
  if (status != std::errc()) return not_a(std::string(what) + " in range", text);
  return number;
}

}  // namespace

Result<std::int64_t> parse_integer(std::string_view text, Thousands thousands) {
  return parse<std::int64_t>(text, thousands, "an integer");
}

Result<double> parse_number(std::string_view text, Thousands thousands) {
  const double number = PL_TRY(parse<double>(text, thousands, "a number"));
  if (!std::isfinite(number)) return not_a("a finite number", text);
  return number;
}

Result<double> parse_percent(std::string_view text, Thousands thousands) {
  if (!text.ends_with('%')) return not_a("a percentage", text);
  std::string_view number = text.substr(0, text.size() - 1);
  if (number.ends_with(' ')) number.remove_suffix(1);
  const Result<double> value = parse_number(number, thousands);
  if (!value) return not_a("a percentage", text);
  return *value;
}

}  // namespace profline::csv
