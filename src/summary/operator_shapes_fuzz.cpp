// For any text: shapes are read completely or not at all, and FLOPs are absent or not negative if
// the sizes are not.

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "summary/torch_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace profline;  // NOLINT(google-build-using-namespace): a program of one file
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto shapes = summary::parse_shapes(text);
  const bool is_sound =
      shapes && std::all_of(shapes->begin(), shapes->end(), [](const auto& sizes) {
        return std::all_of(sizes.begin(), sizes.end(), [](std::int64_t one) { return one >= 0; });
      });
  for (const char* name : {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm",
                           "aten::_scaled_dot_product_flash_attention"}) {
    const auto flops = summary::operator_flops(name, text);
    PL_ASSERT(shapes || !flops, "no FLOPs without shapes");
    PL_ASSERT(!is_sound || !flops || *flops >= 0, "work is not negative");
  }
  return 0;
}
