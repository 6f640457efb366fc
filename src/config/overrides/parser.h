#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/overrides/override.h"

namespace profline::config {

/// How deeply brackets may be nested; deeper text is refused, so that code which walks a value may
/// recurse.
constexpr std::size_t kMaxOverrideNesting = 200;

/// A random number below its argument, which is at least 1.
using RandomBelow = std::function<std::size_t(std::size_t)>;

/// Draws from the operating system's entropy.
RandomBelow system_random();

struct OverrideParsing {
  /// Replaces a file name in positions: `override 3`.
  std::string label = "override";
  /// Orders the lists from `shuffle([a,b])`; sweeps are shuffled when they are expanded.
  RandomBelow random_below = system_random();
};

/// Parses one override of a command line, in Hydra 1.3's grammar, and evaluates its functions.
///
/// An Error of kind Parse has a position, the override with a caret under the wrong place, and the
/// reason `lexer` (a character that is not allowed there), `syntax`, `unknown_function`,
/// `reserved_arg_order`, `function_type_error`, `function_value_error` or `function_error`. For a
/// text with both kinds of mistake, `lexer` or `syntax` is reported as Hydra does. Takes time
/// linear in the text.
Result<Override> parse_override(std::string_view text, const OverrideParsing& parsing = {});

/// The label of an override of a command line, which are numbered from 1: `override 3`.
std::string override_label(std::size_t number);

/// The overrides of a command line, labelled `override 1` and so on; or the first Error.
Result<std::vector<Override>> parse_overrides(std::span<const std::string> texts,
                                              const RandomBelow& random_below = system_random());

}  // namespace profline::config
