#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "text_table.h"
#include "trace_report/report.h"

/// The report on a capture as text: at most `top` rows per table, lines up to `width` where
/// possible.
namespace profline {

std::string trace_text(const trace_report::Report& report, std::size_t top, std::size_t width,
                       const Palette& palette);

// Its tables of ranges and of transfers; each is empty if there is nothing to show.

/// From the first to the last activity of each GPU, and how busy it was in between; empty for a
/// report that is restricted to ranges.
std::string gpu_spans_text(const trace_report::Report& report, std::size_t width,
                           const Palette& palette);
std::string ranges_text(const trace_report::Report& report, std::size_t top, std::size_t width,
                        const Palette& palette);
std::string copies_text(const trace_report::Report& report, std::size_t top, std::size_t width,
                        const Palette& palette);
std::string collectives_text(const trace_report::Report& report, std::size_t top, std::size_t width,
                             const Palette& palette);

}  // namespace profline
