#pragma once

#include <span>

#include "base/files.h"

namespace profline::web {

/// Styles and scripts of report.html, by name. Pages that are served use some of them.
std::span<const EmbeddedFile> page_assets();

}  // namespace profline::web
