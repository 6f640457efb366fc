#pragma once

#include <cstddef>
#include <string>

#include "formats/node.h"
#include "text_table.h"
#include "trace_report.h"

/// What a capture says of ranges, and of the time between a GPU's first and last activity.
namespace profline {

/// From the first to the last activity of each GPU, and how busy it was in between; empty without
/// one, and for a report that keeps to ranges.
std::string gpu_spans_text(const TraceReport& report, std::size_t width, const Palette& palette);

/// At most `top` ranges; empty without any.
std::string ranges_text(const TraceReport& report, std::size_t top, std::size_t width,
                        const Palette& palette);

/// The list `gpu_spans` of profline.trace/1.
Node gpu_spans_node(const TraceReport& report);

}  // namespace profline
