#pragma once

#include <optional>
#include <string_view>

#include "formats/node.h"
#include "schema/problems.h"

/// Keys of the predecessor's configs that no longer exist.
namespace profline::settings {

/// What replaced `key` (`run.mode`) or its section; nothing if there was no such key. Follows the
/// words `was removed: `.
std::optional<std::string_view> advice_for_removed_key(std::string_view key);

/// The config without removed keys; each of their values is a problem at its place.
Node without_removed_keys(const Node& config, schema::Problems& problems);

}  // namespace profline::settings
