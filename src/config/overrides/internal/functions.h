#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/overrides/override.h"

namespace profline::config {

/// A call of a function in the override grammar: `range(1, stop=10)`.
struct FunctionCall {
  std::string name;
  std::vector<OverrideValue> positional;
  std::vector<std::pair<std::string, OverrideValue>> named;  // in order; the last of a name counts
};

/// The result of the call. Errors have Hydra's reason, and a position (the column alone) if they
/// concern one argument.
Result<OverrideValue> evaluate(FunctionCall call, const RandomBelow& random_below);

// The functions that have their own file.

enum class Cast : std::uint8_t { Int, Float, String, Bool };

/// Casts each scalar in `value`, down through lists, dict values and sweeps.
Result<OverrideValue> cast(const OverrideValue& value, Cast to);

/// Sorts like Python's sorted(); an Error (function_type_error) if two items cannot be compared.
Result<std::vector<OverrideValue>> sorted(std::vector<OverrideValue> items, bool reverse);

/// The same numbers in ascending order, or in descending order if `reverse`.
Result<RangeSweep> sorted(RangeSweep range, bool reverse);

/// A text that is the same for keys that are equal in a Python dict, such as 1, 1.0 and true; empty
/// for NaN, which equals nothing.
std::string key_identity(const Node& key);

/// An Error at the column of an argument; 0: about the whole call.
Error function_error(const char* reason, std::string message, std::uint32_t column = 0);
constexpr const char* kTypeError = "function_type_error";
constexpr const char* kValueError = "function_value_error";
constexpr const char* kOtherError = "function_error";

/// The name of a value's type for Hydra's users: `str`, `int`, `list`, `range()`.
std::string_view type_name(const OverrideValue& value);

/// Types of arguments, as bits.
namespace types {
constexpr unsigned kNull = 1U << 0U;
constexpr unsigned kBool = 1U << 1U;
constexpr unsigned kInt = 1U << 2U;
constexpr unsigned kFloat = 1U << 3U;
constexpr unsigned kString = 1U << 4U;
constexpr unsigned kList = 1U << 5U;
constexpr unsigned kDict = 1U << 6U;
constexpr unsigned kChoice = 1U << 7U;
constexpr unsigned kRange = 1U << 8U;
constexpr unsigned kInterval = 1U << 9U;
constexpr unsigned kGlob = 1U << 10U;
constexpr unsigned kNumber = kBool | kInt | kFloat;  // in Python a bool is an int
constexpr unsigned kElement = kNumber | kString | kList | kDict;
constexpr unsigned kSweep = kChoice | kRange | kInterval;
}  // namespace types

/// The bit of a value's type.
unsigned type_of(const OverrideValue& value);

/// A parameter of a function, and the types it accepts.
struct Parameter {
  std::string_view name;
  unsigned types = 0;
  /// Rest is Python's `*args`: it is the first parameter if there is one.
  enum class Kind : std::uint8_t { Required, Optional, KeywordOnly, Rest } kind = Kind::Required;
};

/// The arguments of a call, assigned to parameters and of accepted types.
struct Arguments {
  std::vector<OverrideValue> rest;
  std::vector<std::optional<OverrideValue>> named;  // by parameter

  /// The argument for a parameter; a null pointer if it is absent or null.
  const OverrideValue* given(std::size_t parameter) const;
};

/// Assigns each argument of a call to its parameter, as Python does; otherwise an Error
/// (function_type_error) about what is missing, superfluous, unknown or of a wrong type.
Result<Arguments> bind(std::span<const Parameter> parameters, FunctionCall call);

}  // namespace profline::config
