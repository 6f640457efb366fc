#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace profline::ncu {

/// How numbers are written in a table. ncu follows the locale it runs under: `1,234.5`, `1.234,5`,
/// `1 234,5`, `1'234.5` are the same number.
struct NumberStyle {
  char decimal = '.';
  bool operator==(const NumberStyle&) const = default;
};

/// Finds out from the cells of a table. `1,234` alone says nothing, `46.51` or `1,234,567` do.
class NumberStyleGuess {
 public:
  void see(std::string_view cell);
  /// Enough was seen.
  bool is_certain() const { return points_ != commas_ && points_ + commas_ >= kEnough; }
  /// The style that more cells speak for; with none, the point.
  NumberStyle style() const;
  /// Cells speak for both.
  bool is_contradictory() const { return points_ > 0 && commas_ > 0; }

 private:
  static constexpr int kEnough = 8;
  int points_ = 0;  // cells whose decimal sign can only be a point
  int commas_ = 0;
};

/// The number in a cell, thousands separators and all; nothing when the cell holds no number, or
/// one that is not finite.
std::optional<double> parse_number(std::string_view cell, NumberStyle style);

/// What a unit of ncu's comes to: `value * factor` is in `base`.
struct UnitScale {
  std::string base;  ///< `ns`, `byte/s`, `hz`, `inst/cycle`; empty: a plain number
  double factor = 1;

  bool operator==(const UnitScale&) const = default;
};

/// Takes apart what ncu prints as a unit, in any of its versions' spellings: `usecond` and `us`,
/// `Gbyte/second` and `Gbyte/s`, `cycle/nsecond` (which is a frequency), `sectors`. Prefixes are
/// powers of 1000. Base units are ns for a time, 1/s for a rate, and else what stands there without
/// its prefix. Nothing for a unit that is not in the table: its numbers cannot be compared with
/// others.
std::optional<UnitScale> unit_scale(std::string_view unit);

}  // namespace profline::ncu
