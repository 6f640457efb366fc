#pragma once

#include <cmath>
#include <string>

#include "formats/node.h"

namespace profline::config {

/// A decimal number of any length: exact like Python's int, and rounded like Python's decimal
/// module where Hydra uses that (a `range` of floats counts in decimals of 28 digits).
class Decimal {
 public:
  /// The exact value of a boolean, integer, big integer or float; not NaN.
  explicit Decimal(const Node& number);

  bool is_zero() const { return !infinite_ && digits_.empty(); }
  bool is_infinite() const { return infinite_; }
  bool is_negative() const { return negative_; }

  /// The exact sum; both are finite.
  Decimal plus(const Decimal& other) const;
  /// The same with its first 28 significant digits, rounded half to even.
  Decimal rounded() const;
  Decimal negated() const;

  /// -1, 0 or 1.
  int sign() const;
  /// Negative, 0 or positive if this is below, equal to or above `other`.
  int compare(const Decimal& other) const;

  /// The nearest double.
  double to_double() const;
  /// This as an integer Node; it must have no fraction.
  Node to_integer() const;

 private:
  Decimal() = default;
  void normalise();

  // +-digits * 10^exponent; the digits neither start nor end with '0', and are empty for zero.
  std::string digits_;
  long exponent_ = 0;
  bool negative_ = false;
  bool infinite_ = false;
};

inline bool is_nan(const Node& number) {
  return number.is_float() && std::isnan(number.as_float());
}

}  // namespace profline::config
