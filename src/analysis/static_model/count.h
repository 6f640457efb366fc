#pragma once

#include <cstdint>
#include <limits>

namespace profline::static_model {

/// A number of operations, parameters or bytes: exact, and where a config asks for more than
/// 64 bits hold, stuck at the largest one instead of wrapping around.
class Count {
 public:
  constexpr Count() = default;
  constexpr Count(std::uint64_t value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  /// A size that was validated not to be negative.
  static constexpr Count of(std::int64_t value) {
    return Count(value < 0 ? 0 : static_cast<std::uint64_t>(value));
  }

  constexpr std::uint64_t value() const { return value_; }
  constexpr bool is_exact() const { return value_ != kStuck; }
  constexpr double as_double() const { return static_cast<double>(value_); }

  friend constexpr Count operator+(Count a, Count b) {
    std::uint64_t sum = 0;
    return __builtin_add_overflow(a.value_, b.value_, &sum) ? Count(kStuck) : Count(sum);
  }
  friend constexpr Count operator*(Count a, Count b) {
    std::uint64_t product = 0;
    return __builtin_mul_overflow(a.value_, b.value_, &product) ? Count(kStuck) : Count(product);
  }
  Count& operator+=(Count other) { return *this = *this + other; }
  constexpr bool operator==(const Count&) const = default;
  constexpr auto operator<=>(const Count&) const = default;

 private:
  static constexpr std::uint64_t kStuck = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t value_ = 0;
};

}  // namespace profline::static_model
