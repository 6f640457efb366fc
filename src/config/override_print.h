#pragma once

#include <string>

#include "base/result.h"
#include "config/override.h"

namespace profline::config {

/// `value` written back in the grammar, without blanks, as Hydra writes the overrides of a job:
/// `[a,'b c',{k:1.0}]`, `True`, `null`. Read again it gives an equal value, unless a function or an
/// interpolation made a string that needs quotes: `str(1)` is written `1`, `${a:#}` as `$\{a\:#\}`.
///
/// A sweep has no such text (Error, reason `validation`); a glob inside a container is written as
/// the dict of its patterns, as in Hydra.
Result<std::string> print_value(const OverrideValue& value);

}  // namespace profline::config
