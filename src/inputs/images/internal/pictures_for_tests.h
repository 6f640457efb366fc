#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/digests.h"
#include "inputs/images/picture.h"

namespace profline::images::internal {

/// The input of the model's golden results: pixel(x, y, c) = (7x + 13y + 29c + ((x * y) >> 3)) &
/// 255.
inline Picture test_pattern(Size size) {
  Picture picture(size);
  std::size_t i = 0;
  for (std::uint32_t y = 0; y < size.height; ++y) {
    for (std::uint32_t x = 0; x < size.width; ++x) {
      for (std::uint32_t c = 0; c < Picture::kChannels; ++c) {
        picture.rgb[i++] = static_cast<std::uint8_t>(7 * x + 13 * y + 29 * c + ((x * y) >> 3U));
      }
    }
  }
  return picture;
}

inline std::string digest(const Picture& picture) {
  return sha256_hex({reinterpret_cast<const char*>(picture.rgb.data()), picture.rgb.size()});
}

}  // namespace profline::images::internal
