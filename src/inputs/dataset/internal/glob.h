#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace profline::dataset {

/// Whether a name is a pattern: contains `*`, `?` or `[`.
bool is_pattern(std::string_view name);

/// Whether `name`, one part of a path, matches the pattern (`matches_pattern`); a set may also be
/// negated with `^`, and only a dot matches a leading dot.
bool matches(std::string_view pattern, std::string_view name);

/// The regular files below `root` whose path matches the pattern, in bytewise order; an absolute
/// pattern ignores the root. A part `**` matches any number of folders, without following links.
/// Only a dot matches the leading dot of a name. Without a match the list is empty; an unreadable
/// folder is an Error.
Result<std::vector<std::filesystem::path>> glob(const std::filesystem::path& root,
                                                std::string_view pattern);

}  // namespace profline::dataset
