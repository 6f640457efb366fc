#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/chunks.h"
#include "records/timeline.h"

/// Traces of the PyTorch profiler (Kineto), and of other writers of Chrome's trace format.
namespace profline::torch_profiler {

struct TraceLimits {
  /// How much of the text is in memory at a time.
  std::size_t window_bytes = std::size_t{1} << 20U;
  /// A larger event ends the reading; what precedes it is kept, and the loss is reported.
  std::size_t max_event_bytes = std::size_t{64} << 20U;
  /// How many threads read it; their number changes only the time. 0: of a file, as many as help;
  /// of anything else, one.
  unsigned threads = 0;
  /// They start after this much text: most traces are small.
  std::size_t bytes_before_threads = std::size_t{4} << 20U;
  /// How much each of them scans at a time.
  std::size_t block_bytes = std::size_t{256} << 10U;
};

/// Reads a trace, `.json` or `.json.gz` (recognised by content): a map with `traceEvents` anywhere
/// in it, the list alone, closed or not, or one event per line. Only a window of the text and the
/// resulting tables are in memory.
///
/// Kernels, copies and fills become `work`; calls of the CUDA, HIP, XPU or another runtime `calls`;
/// operators `operators`; user annotations `ranges`, as do operators that are a program's own
/// scopes (no `::` in their name nor in those enclosing them). Work is linked to the call with the
/// same correlation, the nodes of a CUDA graph to the launch of the graph; calls to the innermost
/// enclosing operator.
///
/// Each event is used or skipped in `reading`, which also lists what was tolerated: invalid escapes
/// and numbers, a truncated end, a clock in nanoseconds. An Error means that there was no trace to
/// read: execution traces, and traces whose device work is of unsupported devices, are refused by
/// name, the former without reading them to their end.
Result<Timeline> read_trace(const std::filesystem::path& file, const TraceLimits& limits = {});

/// The same for any bytes; `source` replaces the file's name.
Result<Timeline> read_trace(ChunkSource bytes, std::string source, const TraceLimits& limits = {});

/// Receives the next piece of a text.
using TextSink = std::function<Result<void>(std::string_view)>;

/// Writes a capture as a Chrome trace, which ui.perfetto.dev and chrome://tracing open: a lane for
/// each thread with its ranges, operators and calls, one for each stream of each device (more if
/// kernels of a stream overlap), and an arrow from each launch to its work. read_trace() reads it
/// back as the same rows, except for thread numbers that do not fit into 32 bits.
///
/// Times are microseconds with three decimals, exact; equal captures give the same bytes.
Result<void> write_chrome_trace(const Timeline& timeline, const TextSink& sink);

}  // namespace profline::torch_profiler
