#include "config/overrides/internal/decimal.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/error.h"
#include "formats/python_number.h"

namespace profline::config {
namespace {

constexpr std::size_t kPrecision = 28;  // of Python's default decimal context

/// Digits of the exact value of any double: 767 suffice for the smallest ones.
std::string exact_scientific(double magnitude) {
  std::array<char, 800> buffer{};
  const auto [end, problem] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), magnitude,
                                            std::chars_format::scientific, 766);
  PL_ASSERT(problem == std::errc(), "767 digits, a point and an exponent fit");
  return {buffer.data(), end};
}

std::string integer_digits(const Node& number) {
  if (number.is_bool()) return number.as_bool() ? "1" : "0";
  return number.is_int() ? std::to_string(number.as_int()) : number.as_big_int();
}

/// Compares two texts of digits that represent integers without leading zeros.
int compare_magnitude(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  const int order = a.compare(b);
  if (order == 0) return 0;
  return order < 0 ? -1 : 1;
}

std::string add_magnitudes(std::string a, const std::string& b) {
  a.insert(0, std::max(a.size(), b.size()) + 1 - a.size(), '0');
  int carry = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    char& digit = a[a.size() - 1 - i];
    const int sum = (digit - '0') + (i < b.size() ? b[b.size() - 1 - i] - '0' : 0) + carry;
    digit = static_cast<char>('0' + sum % 10);
    carry = sum / 10;
  }
  return a;
}

/// a - b, for a >= b.
std::string subtract_magnitudes(std::string a, const std::string& b) {
  int borrow = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    char& digit = a[a.size() - 1 - i];
    int difference = (digit - '0') - (i < b.size() ? b[b.size() - 1 - i] - '0' : 0) - borrow;
    borrow = difference < 0 ? 1 : 0;
    if (borrow != 0) difference += 10;
    digit = static_cast<char>('0' + difference);
  }
  return a;
}

}  // namespace

Decimal::Decimal(const Node& number) {
  if (!number.is_float()) {
    digits_ = integer_digits(number);
    negative_ = digits_.starts_with('-');
    if (negative_) digits_.erase(0, 1);
    normalise();
    return;
  }
  const double value = number.as_float();
  PL_ASSERT(!std::isnan(value), "NaN is no decimal number");
  negative_ = std::signbit(value);
  infinite_ = std::isinf(value);
  if (infinite_) return;
  // `d.ddd…e+XX`
  const std::string text = exact_scientific(std::fabs(value));
  const std::size_t e = text.find('e');
  digits_ = text.substr(0, 1) + text.substr(2, e - 2);
  exponent_ = std::strtol(text.c_str() + e + 1, nullptr, 10) - static_cast<long>(e - 2);
  normalise();
}

void Decimal::normalise() {
  digits_.erase(0, std::min(digits_.find_first_not_of('0'), digits_.size()));
  const std::size_t kept = digits_.find_last_not_of('0') + 1;  // 0 when there is no other digit
  exponent_ += static_cast<long>(digits_.size() - kept);
  digits_.resize(kept);
  if (digits_.empty()) exponent_ = 0;
}

Decimal Decimal::negated() const {
  Decimal out = *this;
  out.negative_ = !negative_;
  return out;
}

Decimal Decimal::plus(const Decimal& other) const {
  PL_ASSERT(!infinite_ && !other.infinite_, "sums of infinities are not needed");
  if (other.is_zero()) return *this;
  if (is_zero()) return other;
  Decimal out;
  out.exponent_ = std::min(exponent_, other.exponent_);
  std::string mine =
      digits_ + std::string(static_cast<std::size_t>(exponent_ - out.exponent_), '0');
  std::string its =
      other.digits_ + std::string(static_cast<std::size_t>(other.exponent_ - out.exponent_), '0');
  out.negative_ = negative_;
  if (negative_ == other.negative_) {
    out.digits_ = add_magnitudes(std::move(mine), its);
  } else if (compare_magnitude(mine, its) >= 0) {
    out.digits_ = subtract_magnitudes(std::move(mine), its);
  } else {
    out.negative_ = other.negative_;
    out.digits_ = subtract_magnitudes(std::move(its), mine);
  }
  out.normalise();
  if (out.is_zero()) out.negative_ = false;
  return out;
}

Decimal Decimal::rounded() const {
  if (digits_.size() <= kPrecision) return *this;
  Decimal out = *this;
  const char next = digits_[kPrecision];
  // The last digit is never '0': a '5' followed by anything is more than half.
  const bool half = next == '5' && digits_.size() == kPrecision + 1;
  const bool odd = (digits_[kPrecision - 1] - '0') % 2 != 0;
  const bool up = half ? odd : next >= '5';
  out.exponent_ += static_cast<long>(digits_.size() - kPrecision);
  out.digits_.resize(kPrecision);
  if (up) out.digits_ = add_magnitudes(std::move(out.digits_), "1");
  out.normalise();
  return out;
}

int Decimal::sign() const {
  if (is_zero()) return 0;
  return negative_ ? -1 : 1;
}

int Decimal::compare(const Decimal& other) const {
  const int mine = sign();
  const int its = other.sign();
  if (mine != its) return mine < its ? -1 : 1;
  if (mine == 0) return 0;
  if (infinite_ && other.infinite_) return 0;
  if (infinite_ || other.infinite_) return infinite_ ? mine : -mine;
  // The position of the first digit decides before any digit does.
  const long my_top = static_cast<long>(digits_.size()) + exponent_;
  const long its_top = static_cast<long>(other.digits_.size()) + other.exponent_;
  if (my_top != its_top) return my_top < its_top ? -mine : mine;
  const int order = digits_.compare(other.digits_);  // of the same first place
  if (order == 0) return 0;
  return order < 0 ? -mine : mine;
}

double Decimal::to_double() const {
  if (infinite_)
    return negative_ ? -std::numeric_limits<double>::infinity()
                     : std::numeric_limits<double>::infinity();
  const std::string text = (digits_.empty() ? "0" : digits_) + "e" + std::to_string(exponent_);
  const double value = python_float(text).value_or(0);
  return negative_ ? -value : value;
}

Node Decimal::to_integer() const {
  PL_ASSERT(!infinite_ && exponent_ >= 0, "only a number without a fraction is an integer");
  return integer_node((negative_ ? "-0" : "0") + digits_ +
                      std::string(static_cast<std::size_t>(exponent_), '0'));
}

}  // namespace profline::config
