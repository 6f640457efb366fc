#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"
#include "records/timeline.h"

namespace profline::torch_profiler {

/// Takes the next piece of a text.
using TextSink = std::function<Result<void>(std::string_view)>;

/// Writes a capture as a Chrome trace, which ui.perfetto.dev and chrome://tracing open: a lane for
/// each thread with its ranges, operators and calls, one for each stream of each device (more where
/// kernels of a stream overlap), and an arrow from each launch to what it put there. read_trace()
/// reads it back as the same rows, but for numbers of threads that do not fit into 32 bits.
///
/// Times are microseconds with three decimals, exact; the bytes are the same for equal captures.
Result<void> write_chrome_trace(const Timeline& timeline, const TextSink& sink);

}  // namespace profline::torch_profiler
