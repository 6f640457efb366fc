#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace profline::ncu {

/// How numbers are written in a table. ncu uses the locale it runs under: `1,234.5`, `1.234,5`, `1
/// 234,5`, `1'234.5` are the same number.
struct NumberStyle {
  char decimal = '.';
  bool operator==(const NumberStyle&) const = default;
};

/// Guesses the style from the cells of a table. `1,234` alone proves nothing, `46.51` or
/// `1,234,567` do.
class NumberStyleGuess {
 public:
  void see(std::string_view cell);
  /// Enough cells were seen.
  bool is_certain() const { return points_ != commas_ && points_ + commas_ >= kEnough; }
  /// The style that more cells support; the point if no cell decides.
  NumberStyle style() const;
  /// There are cells for both styles.
  bool is_contradictory() const { return points_ > 0 && commas_ > 0; }

 private:
  static constexpr int kEnough = 8;
  int points_ = 0;  // cells whose decimal sign can only be a point
  int commas_ = 0;
};

/// The number in a cell, which may have thousands separators; nothing if the cell has no number, or
/// one that is not finite.
std::optional<double> parse_number(std::string_view cell, NumberStyle style);

/// The meaning of an ncu unit: `value * factor` is in `base`.
struct UnitScale {
  std::string base;  ///< `ns`, `byte/s`, `hz`, `inst/cycle`; empty: a plain number
  double factor = 1;

  bool operator==(const UnitScale&) const = default;
};

/// Parses a unit printed by ncu, in the spelling of any version: `usecond` and `us`, `Gbyte/second`
/// and `Gbyte/s`, `cycle/nsecond` (which is a frequency), `sectors`. Prefixes are powers of 1000.
/// Base units are ns for a time, 1/s for a rate, and otherwise the unit without its prefix. Nothing
/// for an unknown unit: its numbers cannot be compared with others.
std::optional<UnitScale> unit_scale(std::string_view unit);

}  // namespace profline::ncu
