#pragma once

#include <optional>
#include <string_view>

#include "formats/node.h"
#include "schema/problems.h"

/// Keys that the predecessor's configs had and ours do not.
namespace profline::settings {

/// What replaced `key` (`run.mode`), or the section that it was in; nothing when there was no such
/// key. Words that follow `was removed: `.
std::optional<std::string_view> advice_for_removed_key(std::string_view key);

/// The config less what was removed; each such value is a problem at its place.
Node without_removed_keys(const Node& config, schema::Problems& problems);

}  // namespace profline::settings
