#pragma once

#include <span>

#include "base/files.h"

namespace profline::serve {

/// Styles and scripts of the served pages, besides those of report.html.
std::span<const EmbeddedFile> serve_assets();

}  // namespace profline::serve
