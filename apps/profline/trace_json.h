#pragma once

#include <cstddef>
#include <span>

#include "formats/node.h"
#include "trace_report.h"

namespace profline {

/// The document `profline.trace/1` (docs/formats/trace.md): at most `top` rows a table.
Node trace_document(std::span<const TraceReport> reports, std::size_t top);

}  // namespace profline
