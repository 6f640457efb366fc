#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "tiles/query.h"

// Whatever stands after the `?` of a URL: an Error about the query, or a query whose one spelling
// means the same, and whose numbers are in range.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace profline;
  const auto query = tiles::parse_query({reinterpret_cast<const char*>(data), size});
  if (!query) {
    PL_ASSERT(query.error().kind() == ErrorKind::Config, "only the query can be wrong");
    return 0;
  }
  const auto again = tiles::parse_query(tiles::to_text(*query));
  PL_ASSERT(again.has_value() && *again == *query, "its one spelling means the same");
  PL_ASSERT(query->pixels <= tiles::kMostPixels, "pixels are limited");
  PL_ASSERT(query->window.from_ns <= query->window.to_ns, "a window has a length");
  return 0;
}
