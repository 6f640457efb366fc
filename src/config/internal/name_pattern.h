#pragma once

#include <string_view>

namespace profline::config {

/// Whether all of `name` matches a shell pattern as Python's fnmatch reads it: `*`, `?`, `[a-z]`,
/// `[!a-z]`; there is no escape, and '/' and '.' are like other characters. Takes time proportional
/// to the product of the lengths at worst.
bool matches_pattern(std::string_view name, std::string_view pattern);

}  // namespace profline::config
