#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "text_table.h"
#include "trace_report/report.h"

/// The report on a capture for people: at most `top` rows a table, lines as wide as `width` where
/// they can be.
namespace profline {

std::string trace_text(const trace_report::Report& report, std::size_t top, std::size_t width,
                       const Palette& palette);

// Its tables of ranges and of what was moved; each is empty where there is nothing to show.

/// From the first to the last activity of each GPU, and how busy it was in between; empty for a
/// report that keeps to ranges.
std::string gpu_spans_text(const trace_report::Report& report, std::size_t width,
                           const Palette& palette);
std::string ranges_text(const trace_report::Report& report, std::size_t top, std::size_t width,
                        const Palette& palette);
std::string copies_text(const trace_report::Report& report, std::size_t top, std::size_t width,
                        const Palette& palette);
std::string collectives_text(const trace_report::Report& report, std::size_t top, std::size_t width,
                             const Palette& palette);

}  // namespace profline
