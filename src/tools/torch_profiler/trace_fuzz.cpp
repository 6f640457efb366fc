#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "tools/torch_profiler/trace.h"

// For any bytes: rows are sorted, links point to rows, and what is written from them is a trace.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace profline;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto timeline = torch_profiler::read_trace(
      chunks_of(text), "fuzz", {.window_bytes = 64, .max_event_bytes = 1 << 16U});
  // Threads change nothing.
  const auto again = torch_profiler::read_trace(chunks_of(text), "fuzz",
                                                {.window_bytes = 64,
                                                 .max_event_bytes = 1 << 16U,
                                                 .threads = 2,
                                                 .bytes_before_threads = 0,
                                                 .block_bytes = 48});
  PL_ASSERT(timeline.has_value() == again.has_value(), "an Error on one thread is one on two");
  if (!timeline) return 0;
  PL_ASSERT(timeline->reading == again->reading && timeline->work == again->work &&
                timeline->calls == again->calls && timeline->operators == again->operators &&
                timeline->ranges == again->ranges,
            "the same on two threads as on one");
  const auto in_order = [](const auto& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      PL_ASSERT(rows[i].start_ns <= rows[i].end_ns, "rows end after they start");
      PL_ASSERT(i == 0 || rows[i - 1].start_ns <= rows[i].start_ns, "rows are in order");
    }
  };
  in_order(timeline->work);
  in_order(timeline->calls);
  in_order(timeline->operators);
  in_order(timeline->ranges);
  for (const DeviceWork& work : timeline->work) {
    PL_ASSERT(work.launch == kNoRow || work.launch < timeline->calls.size(), "links lead to rows");
  }
  std::string written;
  const auto done = torch_profiler::write_chrome_trace(*timeline, [&](std::string_view part) {
    written += part;
    return Result<void>();
  });
  PL_ASSERT(done.has_value(), "a text takes all that is written to it");
  PL_ASSERT(torch_profiler::read_trace(chunks_of(written), "again").has_value(),
            "what is written is a trace");
  return 0;
}
