#pragma once

#include <span>

#include "base/files.h"

namespace profline::tiles {

/// The script and the style of the timeline: `capture_drawing.js`, `capture_timeline.js` and
/// `capture_timeline.css`. They go after figures.js, theme.js and page.css of the module web, in
/// the same scope.
std::span<const EmbeddedFile> page_assets();

}  // namespace profline::tiles
