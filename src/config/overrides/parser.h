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

/// How many brackets may be inside one another; deeper text is refused, so that code which walks a
/// value may recurse.
constexpr std::size_t kMaxOverrideNesting = 200;

/// A random number below its argument, which is at least 1.
using RandomBelow = std::function<std::size_t(std::size_t)>;

/// Draws from the operating system's entropy.
RandomBelow system_random();

struct OverrideParsing {
  /// Stands for a file name in positions: `override 3`.
  std::string label = "override";
  /// Orders the lists that `shuffle([a,b])` gives; sweeps are shuffled when they are expanded.
  RandomBelow random_below = system_random();
};

/// One override of a command line, in Hydra 1.3's grammar, its functions evaluated.
///
/// An Error of kind Parse has a position, the override with a caret under the wrong place, and for
/// a reason `lexer` (a character that cannot stand there), `syntax`, `unknown_function`,
/// `reserved_arg_order`, `function_type_error`, `function_value_error` or `function_error`. Which
/// of `lexer` and `syntax` is told when a text is wrong in both ways is Hydra's choice. Takes time
/// linear in the text.
Result<Override> parse_override(std::string_view text, const OverrideParsing& parsing = {});

/// The overrides of a command line, labelled `override 1` and so on; the first Error counts.
Result<std::vector<Override>> parse_overrides(std::span<const std::string> texts,
                                              const RandomBelow& random_below = system_random());

}  // namespace profline::config
