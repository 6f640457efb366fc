#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace profline {

/// The error of composing with these overrides, with more to say where one of them names a key or
/// group that was removed, or a group together with the package that the group has anyway.
Error with_advice(Error error, const std::vector<std::string>& overrides);

/// The error with the override that its position names below it, and a caret under the place.
/// Errors about files stay as they are.
Error with_override_shown(Error error, const std::vector<std::string>& overrides);

}  // namespace profline
