#pragma once

#include <string>

#include "analysis/timeline/accounting.h"
#include "base/error.h"

namespace profline {

/// Says that a capture has no range that `pattern` names, and which ranges it has: the most similar
/// first, then by their time, ten at most.
Error no_such_range(const std::string& source, const timeline::Accounting& accounting,
                    const std::string& pattern);

}  // namespace profline
