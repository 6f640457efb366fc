#pragma once

#include <optional>
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

}  // namespace profline::ncu
