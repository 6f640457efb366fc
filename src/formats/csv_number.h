#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

/// The numbers that stand in profilers' tables, read strictly and the same in every locale. All of
/// the text must be the number: blanks and units around it are an Error, not ignored.
namespace profline::csv {

enum class Thousands {
  None,    ///< 1234567.5
  Commas,  ///< also 1,234,567.5, as ncu prints; a comma in any other place is an Error
};

/// An integer in int64.
Result<std::int64_t> parse_integer(std::string_view text, Thousands thousands = Thousands::None);

/// A finite decimal number, with or without fraction and exponent. `nan` and `inf` are refused: a
/// sum must not swallow them unseen.
Result<double> parse_number(std::string_view text, Thousands thousands = Thousands::None);

/// The number before a percent sign, one blank between them allowed: 71.4 for `71.4%`.
Result<double> parse_percent(std::string_view text, Thousands thousands = Thousands::None);

}  // namespace profline::csv
