#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/internal/override_functions.h"
#include "config/override.h"

namespace profline::config {

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
