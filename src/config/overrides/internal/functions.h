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
#include "config/overrides/parser.h"

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

/// A parameter of a function, and the types it takes.
struct Parameter {
  std::string_view name;
  unsigned types = 0;
  /// Rest is Python's `*args`: the first parameter if there is one.
  enum class Kind : std::uint8_t { Required, Optional, KeywordOnly, Rest } kind = Kind::Required;
};

/// The arguments of a call, each in its place and of a type its parameter takes.
struct Arguments {
  std::vector<OverrideValue> rest;
  std::vector<std::optional<OverrideValue>> named;  // by parameter

  /// The argument for a parameter; a null pointer when it was not given, or given as null.
  const OverrideValue* given(std::size_t parameter) const;
};

/// Gives each argument of a call to its parameter, as Python does; else an Error
/// (function_type_error) about what is missing, too much, unknown or of a wrong type.
Result<Arguments> bind(std::span<const Parameter> parameters, FunctionCall call);

}  // namespace profline::config
