#include "formats/python_number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/strings.h"

namespace profline {
namespace {

/// 16 or more if `c` is not a digit in any supported base.
unsigned digit_value(char c) {
  if (is_digit(c)) return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return 16;
}

/// The non-ASCII blanks that int() and float() allow around a number, in UTF-8.
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

/// Removes a sign from the front; true for '-'.
bool take_sign(std::string_view& text) {
  if (text.empty() || (text[0] != '+' && text[0] != '-')) return false;
  const bool negative = text[0] == '-';
  text.remove_prefix(1);
  return negative;
}

/// Without the underscores, each of which must be between two digits; nothing otherwise.
std::optional<std::string> without_underscores(std::string_view text, unsigned base) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out.push_back(text[i]);
    } else if (i == 0 || i + 1 == text.size() || digit_value(text[i - 1]) >= base ||
               digit_value(text[i + 1]) >= base) {
      return std::nullopt;
    }
  }
  return out;
}

/// A natural number of any size.
class Natural {
 public:
  void multiply_add(std::uint32_t factor, std::uint32_t addend) {
    std::uint64_t carry = addend;
    for (std::uint32_t& limb : limbs_) {
      carry += std::uint64_t{limb} * factor;
      limb = static_cast<std::uint32_t>(carry % kLimb);
      carry /= kLimb;
    }
    if (carry != 0) limbs_.push_back(static_cast<std::uint32_t>(carry));
  }
  bool too_long() const { return limbs_.size() > kMaxIntegerDigits / kLimbDigits + 1; }

  std::string digits() const {
    std::string out;
    for (auto limb = limbs_.rbegin(); limb != limbs_.rend(); ++limb) {
      const std::string part = std::to_string(*limb);
      if (!out.empty()) out.append(kLimbDigits - part.size(), '0');
      out += part;
    }
    return out.empty() ? "0" : out;
  }

 private:
  static constexpr std::uint32_t kLimb = 1'000'000'000;
  static constexpr std::size_t kLimbDigits = 9;
  std::vector<std::uint32_t> limbs_;  // lowest first
};

std::optional<std::string> in_decimal(std::string_view digits, unsigned base) {
  Natural number;
  for (const char c : digits) {
    number.multiply_add(base, digit_value(c));
    if (number.too_long()) return std::nullopt;
  }
  return number.digits();
}

void take_prefix(std::string_view& text, unsigned base) {
  if (base == 10 || text.size() < 2 || text[0] != '0') return;
  const char letter = static_cast<char>(text[1] | 0x20);
  const char expected = base == 2 ? 'b' : base == 8 ? 'o' : 'x';
  if (letter != expected) return;
  text.remove_prefix(2);
  if (!text.empty() && text[0] == '_') text.remove_prefix(1);  // int('0x_f', 16) works
}

std::size_t skip_digits(std::string_view text, std::size_t from) {
  while (from < text.size() && is_digit(text[from])) ++from;
  return from;
}

/// `12`, `1.5`, `.5`, `1.`, each with or without an exponent; no sign.
bool is_decimal_float(std::string_view text) {
  const std::size_t whole = skip_digits(text, 0);
  std::size_t at = whole;
  bool has_digits = whole > 0;
  if (at < text.size() && text[at] == '.') {
    const std::size_t fraction = skip_digits(text, at + 1);
    has_digits = has_digits || fraction > at + 1;
    at = fraction;
  }
  if (!has_digits) return false;
  if (at == text.size()) return true;
  if (text[at] != 'e' && text[at] != 'E') return false;
  ++at;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  return at < text.size() && skip_digits(text, at) == text.size();
}

/// The value of a decimal float outside the range of double: the place of its first nonzero digit
/// says whether it is too large or too small.
double beyond_range(std::string_view text) {
  const std::size_t mantissa_end = std::min(text.find_first_of("eE"), text.size());
  const std::string_view mantissa = text.substr(0, mantissa_end);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const std::size_t first = mantissa.find_first_of("123456789");
  PL_ASSERT(first != std::string_view::npos, "zero is within the range of double");
  const auto magnitude = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
  std::int64_t exponent = 0;
  if (mantissa_end < text.size()) {
    std::string_view digits = text.substr(mantissa_end + 1);
    const bool negative = take_sign(digits);
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (parsed.ec != std::errc()) exponent = std::numeric_limits<std::int32_t>::max();
    if (negative) exponent = -exponent;
  }
  return magnitude + exponent > 0 ? std::numeric_limits<double>::infinity() : 0.0;
}

bool is_word(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (static_cast<char>(text[i] | 0x20) != lower[i]) return false;
  }
  return true;
}

std::optional<double> unsigned_float(std::string_view text) {
  if (is_word(text, "inf") || is_word(text, "infinity")) {
    return std::numeric_limits<double>::infinity();
  }
  if (is_word(text, "nan")) return std::numeric_limits<double>::quiet_NaN();
  const std::optional<std::string> digits = without_underscores(text, 10);
  if (!digits || !is_decimal_float(*digits)) return std::nullopt;
  double value = 0;
  const auto parsed = std::from_chars(digits->data(), digits->data() + digits->size(), value);
  return parsed.ec == std::errc() ? value : beyond_range(*digits);
}

}  // namespace

std::optional<std::string> python_int(std::string_view text, unsigned base) {
  text = strip(text);
  const bool negative = take_sign(text);
  take_prefix(text, base);
  std::optional<std::string> digits = without_underscores(text, base);
  if (!digits || digits->empty()) return std::nullopt;
  for (const char c : *digits) {
    if (digit_value(c) >= base) return std::nullopt;
  }
  // CPython counts leading zeros as well.
  if (base == 10 && digits->size() > kMaxIntegerDigits) return std::nullopt;
  digits->erase(0, std::min(digits->find_first_not_of('0'), digits->size()));
  if (base != 10) digits = in_decimal(*digits, base);
  if (!digits || digits->size() > kMaxIntegerDigits) return std::nullopt;
  if (digits->empty() || *digits == "0") return "0";
  return negative ? '-' + *digits : digits;
}

std::optional<std::string> sexagesimal_int(std::string_view text) {
  Natural number;
  for (const std::string_view part : split(text, ':')) {
    std::uint32_t digit = 0;
    const auto [end, failure] = std::from_chars(part.data(), part.data() + part.size(), digit);
    if (failure != std::errc() || end != part.data() + part.size()) return std::nullopt;
    number.multiply_add(60, digit);
    if (number.too_long()) return std::nullopt;
  }
  std::string digits = number.digits();
  if (digits.size() > kMaxIntegerDigits) return std::nullopt;
  return digits;
}

std::optional<double> python_float(std::string_view text) {
  text = strip(text);
  const bool negative = take_sign(text);
  const std::optional<double> value = unsigned_float(text);
  return value && negative ? -*value : value;
}

std::string python_repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 40> buffer{};
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::fabs(value),
                                     std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(written.ptr - buffer.data()));
  // `d.ddde±xx`: the digits and the position of the point decide Python's form.
  const std::size_t e = text.find('e');
  std::string digits(1, text[0]);
  if (e > 2) digits += text.substr(2, e - 2);
  int exponent = 0;
  const std::size_t exponent_digits = text[e + 1] == '+' ? e + 2 : e + 1;
  std::from_chars(text.data() + exponent_digits, text.data() + text.size(), exponent);

  std::string out = std::signbit(value) ? "-" : "";
  if (exponent < -4 || exponent >= 16) {
    out += digits.substr(0, 1);
    if (digits.size() > 1) out += '.' + digits.substr(1);
    return out + std::string(text.substr(e));
  }
  if (exponent < 0) {
    return out + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  }
  const std::size_t whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) return out + digits + std::string(whole - digits.size(), '0') + ".0";
  return out + digits.substr(0, whole) + '.' + digits.substr(whole);
}

std::optional<Node> parse_python_int(std::string_view text) {
  const std::optional<std::string> digits = python_int(text, 10);
  return digits ? std::optional(integer_node(*digits)) : std::nullopt;
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
  const std::optional<double> value = python_float(number.as_big_int());
  PL_ASSERT(value, "a big integer is decimal digits");
  return std::isinf(*value) ? std::nullopt : value;
}

}  // namespace profline
