#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tools/recorder/recording.h"

/// Any bytes give ranges or an Error; parents come first, and no range ends before it begins.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto process = profline::recorder::parse_recording(bytes, "fuzz.bin");
  if (!process) return 0;
  for (std::size_t i = 0; i < process->ranges.size(); ++i) {
    const auto& range = process->ranges[i];
    if (range.end_ns < range.start_ns || range.parent >= static_cast<std::int64_t>(i) ||
        range.name >= process->names.size() || range.thread >= process->threads.size()) {
      std::abort();
    }
  }
  const auto found = profline::recorder::requests_of({&*process, 1}, "request");
  for (const auto& request : found.requests) {
    if (request.ns < 0) std::abort();
  }
  profline::recorder::ranges_by_name({&*process, 1});
  return 0;
}
