#pragma once

#include <string>
#include <string_view>

namespace profline {

/// A folder's name for an NVTX range: `A::A1` is `A__A1`. Blanks and slashes become `_`, and so
/// does all but letters, digits, `.`, `_` and `-`; a name of nothing else is `region`. Labels are
/// untrusted text: what comes out is never empty, hidden or a path.
std::string region_folder(std::string_view label);

}  // namespace profline
