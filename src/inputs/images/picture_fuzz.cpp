// Any bytes give an image within the limits, of the size in its header, or an Error.

#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "inputs/images/codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace profline;  // NOLINT(google-build-using-namespace): a program of one file
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const images::Limits limits{.max_pixels = 1U << 20U};
  const auto header = images::read_header(bytes, limits);
  const auto picture = images::decode(bytes, limits);
  if (!picture) {
    PL_ASSERT(!picture.error().message().empty(), "an Error says what is wrong");
    return 0;
  }
  PL_ASSERT(header, "what can be decoded has a header");
  PL_ASSERT(picture->size() == header->size, "the header has the size");
  PL_ASSERT(picture->rgb.size() == std::size_t{picture->width} * picture->height * 3,
            "every pixel is there");
  return 0;
}
