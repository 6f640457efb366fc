#include "base/figures.h"

#include <cmath>
#include <span>

#include <fmt/format.h>

namespace profline {
namespace {

constexpr const char* kNotKnown = "–";

bool ends_in_consonant_and_y(std::string_view noun) {
  constexpr std::string_view kVowels = "aeiou";
  return noun.size() > 1 && noun.back() == 'y' &&
         kVowels.find(noun[noun.size() - 2]) == std::string_view::npos;
}

bool takes_es(std::string_view noun) {
  return noun.ends_with("ch") || noun.ends_with("sh") || noun.ends_with('s') || noun.ends_with('x');
}

std::string plural_of(std::string_view one, std::string_view many) {
  if (!many.empty()) return std::string(many);
  if (ends_in_consonant_and_y(one)) return std::string(one.substr(0, one.size() - 1)) + "ies";
  return std::string(one) + (takes_es(one) ? "es" : "s");
}

constexpr double kNanosecondsPerSecond = 1e9;

/// Three significant digits of a value below 999.5: `1.24`, `12.3`, `870`, `0.250`.
std::string three_digits(double value) {
  if (value >= 99.95) return fmt::format("{:.0f}", value);
  if (value >= 9.995) return fmt::format("{:.1f}", value);
  if (value >= 0.9995 || value == 0) return fmt::format("{:.2f}", value);
  return fmt::format("{:.3f}", value);
}

/// Without insignificant zeros after the point: `12.50` is `12.5`, `3.00` is `3`.
std::string without_zeros(std::string number) {
  if (number.find('.') == std::string::npos) return number;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number;
}

/// Seconds and longer; `seconds` is not negative.
std::string long_duration(double seconds) {
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  const double whole = std::round(seconds);
  if (whole < 3600) {
    const auto count = static_cast<unsigned>(whole);
    return fmt::format("{} min {:02} s", count / 60, count % 60);
  }
  const double minutes = std::round(seconds / 60);
  const double hours = std::floor(minutes / 60);
  return fmt::format("{:.0f} h {:02.0f} min", hours, minutes - hours * 60);
}

std::string positive_duration(double ns) {
  if (ns < 999.5) return without_zeros(three_digits(ns)) + " ns";
  if (ns < 999.5e3) return three_digits(ns / 1e3) + " us";
  if (ns < 999.5e6) return three_digits(ns / 1e6) + " ms";
  return long_duration(ns / kNanosecondsPerSecond);
}

/// The value in the first unit in which it rounds to less than a thousand, or in the last one.
std::string thousands(double value) {
  constexpr const char* kUnits[] = {"", " k", " M", " G", " T", " P"};
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < std::size(kUnits)) {
    value /= 1e3;
    ++unit;
  }
  return three_digits(value) + kUnits[unit];
}

std::string binary_thousands(double bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1023.5) return fmt::format("{:.0f} B", bytes);
  std::size_t unit = 0;
  while ((unit == 0 || bytes >= 1023.95) && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

constexpr double kLeastShare = 1e-6;  ///< smaller ones are `0.0 %`

std::string positive_percent(double share) {
  return share >= kLeastShare && share < 0.001 ? fmt::format("{:.2g} %", share * 100)
                                               : fmt::format("{:.1f} %", share * 100);
}

/// Two digits after the point close to one, where one would hide the difference.
std::string positive_factor(double ratio) {
  if (ratio < 1.095) return fmt::format("{:.2f}x", ratio);
  return ratio >= 9.95 ? fmt::format("{:.0f}x", ratio) : fmt::format("{:.1f}x", ratio);
}

/// The text of |value| with the sign in front; `n/a` for NaN and infinities.
std::string signed_text(double value, std::string (*text_of)(double)) {
  if (!std::isfinite(value)) return "n/a";
  return value < 0 ? "-" + text_of(-value) : text_of(value);
}

}  // namespace

std::string human_duration(FractionalNanoseconds duration) {
  return signed_text(duration.count(), positive_duration);
}

std::string human_elapsed(FractionalNanoseconds duration) {
  return signed_text(duration.count() / kNanosecondsPerSecond, long_duration);
}

std::string human_bytes(std::uint64_t bytes) {
  return binary_thousands(static_cast<double>(bytes));
}

std::string human_count(double count) {
  if (std::abs(count) < 999.5 && count == std::floor(count)) return fmt::format("{:.0f}", count);
  return signed_text(count, thousands);
}

std::string human_rate(double per_second, std::string_view unit) {
  const std::string text = signed_text(per_second, thousands);
  return text == "n/a" ? text : fmt::format("{} {}/s", text, unit);
}

std::string counted(std::uint64_t number, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", number, number == 1 ? std::string(one) : plural_of(one, many));
}

std::string counted_mean(double number, std::string_view one, std::string_view many) {
  constexpr double kWholeFrom = 9.95;
  const bool is_whole = number >= kWholeFrom || std::abs(number - std::round(number)) < 0.05;
  const std::string shown = fmt::format("{:.{}f}", number, is_whole ? 0 : 1);
  return shown + ' ' + (shown == "1" ? std::string(one) : plural_of(one, many));
}

std::string duration(double ns) {
  return human_duration(FractionalNanoseconds(ns));
}

std::string duration(std::int64_t ns) {
  return duration(static_cast<double>(ns));
}

std::string percent(double share) {
  return signed_text(share, positive_percent);
}

std::string percent_of(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return kNotKnown;
  return percent(static_cast<double>(part) / static_cast<double>(whole));
}

std::string signed_percent(double change) {
  if (std::abs(change) < kLeastShare) return "+0.0 %";
  return (change > 0 && std::isfinite(change) ? "+" : "") + percent(change);
}

std::string chosen_percent(double share) {
  return fmt::format("{:.6g} %", share * 100);
}

std::string factor(double ratio) {
  return signed_text(ratio, positive_factor);
}

std::string amount(double value, std::string_view unit) {
  std::string text = human_count(value);
  if (!std::isfinite(value)) return text;
  if (text.find(' ') == std::string::npos) text += ' ';  // else the prefix belongs to the unit
  return text.append(unit);
}

std::string plain_number(double value) {
  return std::abs(value) < 999.5 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
}

std::string duration(const std::optional<double>& ns) {
  return ns ? duration(*ns) : kNotKnown;
}

std::string percent(const std::optional<double>& share) {
  return share ? percent(*share) : kNotKnown;
}

std::string count(const std::optional<double>& value) {
  return value ? human_count(*value) : kNotKnown;
}

std::string amount(const std::optional<double>& value, std::string_view unit) {
  return value ? amount(*value, unit) : kNotKnown;
}

std::string plain_number(const std::optional<double>& value) {
  return value ? plain_number(*value) : kNotKnown;
}

}  // namespace profline
