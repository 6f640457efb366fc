#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/files.h"

namespace profline::web {

/// Styles and scripts of the page, by name.
std::span<const EmbeddedFile> page_assets();
/// `echarts.min.js`; empty when the program was built without it.
std::span<const EmbeddedFile> chart_library();

}  // namespace profline::web
