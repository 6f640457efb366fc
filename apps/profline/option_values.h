#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace profline {

/// A share as a user writes it, `3%` or `0.03`, from 0 to below 1; an Error that names the option
/// for anything else. A bare number of 1 and more is taken for a percent sign forgotten.
Result<double> parse_share(std::string_view text, std::string_view option);

/// A number of things above or equal to `least`.
Result<std::size_t> parse_count(std::string_view text, std::string_view option, std::size_t least);

}  // namespace profline
