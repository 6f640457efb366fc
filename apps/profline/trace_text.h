#pragma once

#include <cstddef>
#include <string>

#include "text_table.h"
#include "trace_report.h"

namespace profline {

/// The report for people: at most `top` rows a table, lines as wide as `width` where they can be.
std::string trace_text(const TraceReport& report, std::size_t top, std::size_t width,
                       const Palette& palette);

}  // namespace profline
