#pragma once

#include <span>

#include "base/result.h"
#include "config/config_tree.h"
#include "config/override.h"

namespace profline::config {

/// Carries out overrides of values, in order: `key=value` changes what is there, `+key=value` adds,
/// `++key=value` does either, `~key` deletes.
///
/// Each Error has the override with a caret. Reasons: `key_not_in_config`, `add_existing`,
/// `delete_missing_key`, `delete_value_mismatch`, `not_a_group` (a package, but no such group),
/// `grammar`, `validation` (null as a key of a map), `key_too_deep`, and those of ConfigTree.
Result<void> apply_overrides(std::span<const Override* const> overrides, ConfigTree& tree);

}  // namespace profline::config
