#include "config/python_number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/assert.h"

namespace profline::config {
namespace {

/// CPython refuses to convert longer texts, because its algorithm is quadratic.
constexpr std::size_t kMaxIntegerDigits = 4300;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// The blanks beyond ASCII that int() and float() allow around a number, in UTF-8.
constexpr std::array<std::string_view, 19> kWideBlanks = {
    "\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\x80", "\xE2\x80\x81",
    "\xE2\x80\x82", "\xE2\x80\x83", "\xE2\x80\x84", "\xE2\x80\x85", "\xE2\x80\x86",
    "\xE2\x80\x87", "\xE2\x80\x88", "\xE2\x80\x89", "\xE2\x80\x8A", "\xE2\x80\xA8",
    "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80"};

bool is_ascii_blank(char c) {
  return (c >= '\t' && c <= '\r') || c == ' ';
}

std::size_t blank_at_front(std::string_view text) {
  if (!text.empty() && is_ascii_blank(text.front())) return 1;
  for (const std::string_view blank : kWideBlanks) {
    if (text.starts_with(blank)) return blank.size();
  }
  return 0;
}

std::size_t blank_at_back(std::string_view text) {
  if (!text.empty() && is_ascii_blank(text.back())) return 1;
  for (const std::string_view blank : kWideBlanks) {
    if (text.ends_with(blank)) return blank.size();
  }
  return 0;
}

std::string_view strip(std::string_view text) {
  while (const std::size_t length = blank_at_front(text)) text.remove_prefix(length);
  while (const std::size_t length = blank_at_back(text)) text.remove_suffix(length);
  return text;
}

/// `text` without its underscores; nothing when one of them is not between two digits.
std::optional<std::string> without_underscores(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out += text[i];
      continue;
    }
    const bool between =
        i > 0 && is_digit(text[i - 1]) && i + 1 < text.size() && is_digit(text[i + 1]);
    if (!between) return std::nullopt;
  }
  return out;
}

/// Consumes digits at the front; how many.
std::size_t skip_digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  text.remove_prefix(count);
  return count;
}

bool skip_one_of(std::string_view& text, std::string_view characters) {
  if (text.empty() || characters.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

/// Digits, point and exponent as Python has them, without a sign: `1`, `1.`, `.5`, `1.5e-3`.
bool is_decimal(std::string_view text) {
  std::size_t digits = skip_digits(text);
  if (skip_one_of(text, ".")) digits += skip_digits(text);
  if (digits == 0) return false;
  if (skip_one_of(text, "eE")) {
    skip_one_of(text, "+-");
    if (skip_digits(text) == 0) return false;
  }
  return text.empty();
}

/// The value of what is_decimal() accepts.
double decimal_value(const std::string& text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc()) return value;
  PL_ASSERT(problem == std::errc::result_out_of_range, "the text is a decimal number");
  // from_chars does not say which end of the range was left; strtod does. Its point is the C
  // locale's, which no program of ours changes.
  return std::strtod(text.c_str(), nullptr);
}

std::optional<double> named_float(std::string_view text) {
  std::string name(text);
  std::transform(name.begin(), name.end(), name.begin(), lower);
  if (name == "inf" || name == "infinity") return std::numeric_limits<double>::infinity();
  if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

/// `d.ddd` and the exponent of ten of the shortest text for a finite value that is not negative.
struct Shortest {
  std::string digits;  // without the point
  int exponent = 0;    // of the first digit
};

Shortest shortest(double value) {
  std::array<char, 32> buffer{};
  const auto [end, problem] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                            std::chars_format::scientific);
  PL_ASSERT(problem == std::errc(), "the shortest form of a double has at most 24 characters");
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  const std::size_t e = text.find('e');
  Shortest out;
  for (const char c : text.substr(0, e)) {
    if (c != '.') out.digits += c;
  }
  out.exponent = std::atoi(std::string(text.substr(e + 1)).c_str());
  return out;
}

std::string fixed_text(const Shortest& number) {
  if (number.exponent < 0) {
    return "0." + std::string(static_cast<std::size_t>(-number.exponent - 1), '0') + number.digits;
  }
  const std::size_t whole = static_cast<std::size_t>(number.exponent) + 1;
  std::string digits = number.digits;
  if (digits.size() < whole) digits.append(whole - digits.size(), '0');
  const std::string fraction = digits.substr(whole);
  return digits.substr(0, whole) + "." + (fraction.empty() ? "0" : fraction);
}

std::string exponent_text(const Shortest& number) {
  std::string text = number.digits.substr(0, 1);
  if (number.digits.size() > 1) text += "." + number.digits.substr(1);
  text += number.exponent < 0 ? "e-" : "e+";
  const std::string magnitude = std::to_string(std::abs(number.exponent));
  if (magnitude.size() < 2) text += '0';
  return text + magnitude;
}

}  // namespace

std::string python_float_text(double value) {
  if (std::isnan(value)) return "nan";
  const std::string sign = std::signbit(value) ? "-" : "";
  if (std::isinf(value)) return sign + "inf";
  const Shortest number = shortest(std::fabs(value));
  const bool fixed = number.exponent >= -4 && number.exponent < 16;
  return sign + (fixed ? fixed_text(number) : exponent_text(number));
}

std::optional<double> parse_python_float(std::string_view text) {
  const auto plain = without_underscores(strip(text));
  if (!plain) return std::nullopt;
  std::string_view rest = *plain;
  const bool negative = rest.starts_with('-');
  skip_one_of(rest, "+-");
  std::optional<double> value = named_float(rest);
  if (!value && is_decimal(rest)) value = decimal_value(std::string(rest));
  if (value && negative) value = -*value;
  return value;
}

std::optional<Node> parse_python_int(std::string_view text) {
  const auto plain = without_underscores(strip(text));
  if (!plain) return std::nullopt;
  std::string_view digits = *plain;
  const bool negative = digits.starts_with('-');
  skip_one_of(digits, "+-");
  const bool all_digits = std::all_of(digits.begin(), digits.end(), is_digit);
  if (digits.empty() || !all_digits || digits.size() > kMaxIntegerDigits) return std::nullopt;
  return integer_node((negative ? "-" : "") + std::string(digits));
}

Node integer_node(std::string_view digits) {
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) return Node::integer(0);
  const std::string text = (negative ? "-" : "") + std::string(digits);
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc()) return Node::integer(value);
  return Node::big_integer(text);
}

Node truncated(double value) {
  PL_ASSERT(std::isfinite(value), "only a finite number has an integer part");
  std::array<char, 512> buffer{};  // the largest double has 309 digits
  const auto [end, problem] = std::to_chars(buffer.data(), buffer.data() + buffer.size(),
                                            std::trunc(value), std::chars_format::fixed, 0);
  PL_ASSERT(problem == std::errc(), "the largest double has 309 digits");
  return integer_node({buffer.data(), static_cast<std::size_t>(end - buffer.data())});
}

std::optional<double> to_double(const Node& number) {
  switch (number.kind()) {
    case Node::Kind::Bool:
      return number.as_bool() ? 1.0 : 0.0;
    case Node::Kind::Int:
      return static_cast<double>(number.as_int());
    case Node::Kind::Float:
      return number.as_float();
    default:
      break;
  }
  PL_ASSERT(number.kind() == Node::Kind::BigInt, "only numbers become a double");
  const double value = decimal_value(number.as_big_int());
  if (std::isinf(value)) return std::nullopt;
  return value;
}

}  // namespace profline::config
