#pragma once

#include <string>

#include "base/result.h"
#include "sweep/sweep.h"

namespace profline::web {

/// `sweep.html`: a sweep as one self-contained page, with links to the reports of its jobs. `name`
/// is that of its folder; the sweep is summarised (sweep::summarise).
Result<std::string> sweep_page(const sweep::Sweep& sweep, const std::string& name);

}  // namespace profline::web
