#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/override.h"
#include "config/override_parser.h"

namespace profline::config {

/// A function of the override grammar with what it was given: `range(1, stop=10)`.
struct FunctionCall {
  std::string name;
  std::vector<OverrideValue> positional;
  std::vector<std::pair<std::string, OverrideValue>> named;  // in order; the last of a name counts
};

/// What the call gives. Errors have Hydra's reason, and a position (the column alone) where one
/// argument is to blame.
Result<OverrideValue> evaluate(FunctionCall call, const RandomBelow& random_below);

// The functions that have a file of their own.

enum class Cast : std::uint8_t { Int, Float, String, Bool };

/// Casts each scalar in `value`, down through lists, dict values and sweeps.
Result<OverrideValue> cast(const OverrideValue& value, Cast to);

/// Sorts as Python's sorted() does; an Error (function_type_error) where two items have no order.
Result<std::vector<OverrideValue>> sorted(std::vector<OverrideValue> items, bool reverse);

/// The same numbers counted upwards, or downwards when `reverse`.
Result<RangeSweep> sorted(RangeSweep range, bool reverse);

/// Equal as Python sees dict keys: 1, 1.0 and true are. Texts are equal exactly when keys are;
/// empty for NaN, which equals nothing.
std::string key_identity(const Node& key);

/// An Error at the column of an argument; 0: the whole call is to blame.
Error function_error(const char* reason, std::string message, std::uint32_t column = 0);
constexpr const char* kTypeError = "function_type_error";
constexpr const char* kValueError = "function_value_error";
constexpr const char* kOtherError = "function_error";

/// What Hydra's users call the type of a value: `str`, `int`, `list`, `range()`.
std::string_view type_name(const OverrideValue& value);

}  // namespace profline::config
