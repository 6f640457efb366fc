#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/digests.h"
#include "base/error.h"
#include "inputs/images/picture.h"
#include "settings/models.h"

namespace profline::images {

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

using settings::deepseek_ocr::Preprocess;
using settings::deepseek_ocr::Resize;

constexpr Preprocess whole(std::uint32_t side, Resize resize = Resize::Auto) {
  return {.base_size = side,
          .image_size = side,
          .crop_mode = false,
          .crop_threshold = side,
          .resize = resize};
}

constexpr Preprocess tiled(std::uint32_t base, std::uint32_t tile) {
  return {.base_size = base, .image_size = tile, .crop_mode = true, .crop_threshold = tile};
}

/// The sizes that the release's authors, and we for the tiny model, have named.
inline Preprocess mode(std::string_view name) {
  constexpr struct {
    std::string_view name;
    Preprocess settings;
  } kModes[] = {
      {"tiny", whole(512)},
      {"small", whole(640)},
      {"base", whole(1024)},
      {"large", whole(1280)},
      {"gundam", tiled(1024, 640)},
      {"gundam-m", tiled(1280, 1024)},
      // For the tiny model.
      {"tiny-base", whole(256, Resize::Letterbox)},
      {"tiny-gundam", tiled(256, 128)},
      {"tiny-large", whole(320, Resize::Letterbox)},
      {"tiny-odd", tiled(256, 160)},
      {"tiny-small", whole(128, Resize::Squash)},
  };
  for (const auto& known : kModes) {
    if (known.name == name) return known.settings;
  }
  PL_ASSERT(false, "tests name modes that are in the list");
  return {};
}

}  // namespace profline::images
