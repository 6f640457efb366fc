#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace profline::ncu {

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
