#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace profline::dataset {

/// Whether a name contains what a pattern is made of: `*`, `?` or `[`.
bool is_pattern(std::string_view name);

/// Whether `name`, one part of a path, is what the pattern describes: `*` any characters, `?` one
/// byte, `[a-z]`, `[!a-z]` one of these bytes.
bool matches(std::string_view pattern, std::string_view name);

/// The regular files below `root` whose path the pattern describes, in bytewise order; an absolute
/// pattern starts where it says. A part `**` stands for any number of folders, links not followed.
/// Names that begin with a dot are matched only by a dot. No match is an empty list; a folder that
/// cannot be read is an Error.
Result<std::vector<std::filesystem::path>> glob(const std::filesystem::path& root,
                                                std::string_view pattern);

}  // namespace profline::dataset
