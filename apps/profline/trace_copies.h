#pragma once

#include <cstddef>
#include <string>

#include "formats/node.h"
#include "text_table.h"
#include "trace_report.h"

/// What a capture says was moved: copies and fills, and collectives between ranks.
namespace profline {

/// Tables for people, at most `top` rows each; empty where there is nothing to show.
std::string copies_text(const TraceReport& report, std::size_t top, std::size_t width,
                        const Palette& palette);
std::string collectives_text(const TraceReport& report, std::size_t top, std::size_t width,
                             const Palette& palette);

/// The lists `copies` and `collectives` of profline.trace/1.
Node copies_node(const TraceReport& report, std::size_t top);
Node collectives_node(const TraceReport& report, std::size_t top);

}  // namespace profline
