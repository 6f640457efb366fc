#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tools/nsys/sqlite_reader.h"

namespace {

template <typename Row>
void check(const std::vector<Row>& rows, const profline::Timeline& timeline) {
  std::int64_t last_ns = timeline.begin_ns;
  for (const Row& row : rows) {
    if (row.start_ns < last_ns || row.end_ns < row.start_ns || row.end_ns > timeline.end_ns) {
      std::abort();
    }
    last_ns = row.start_ns;
  }
}

}  // namespace

/// Any bytes give a Timeline or an Error; its rows are sorted and inside the capture, and their
/// references are valid.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto database = profline::sqlite::Database::from_bytes(bytes, {.damaged_too = true});
  if (!database) return 0;
  const auto timeline = profline::nsys::read_sqlite(*database);
  if (!timeline) return 0;
  check(timeline->work, *timeline);
  check(timeline->calls, *timeline);
  check(timeline->ranges, *timeline);
  for (const profline::DeviceWork& work : timeline->work) {
    const bool good = work.name < timeline->names.size() &&
                      (work.launch == profline::kNoRow || work.launch < timeline->calls.size()) &&
                      (work.stream == profline::kNoRow || work.stream < timeline->streams.size());
    if (!good) std::abort();
  }
  return 0;
}
