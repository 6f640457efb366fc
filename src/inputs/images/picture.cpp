#include "inputs/images/picture.h"

#include <cstring>

#include "base/error.h"

namespace profline::images {

Picture::Picture(Size size, Colour fill)
    : width(size.width),
      height(size.height),
      rgb(std::size_t{size.width} * size.height * kChannels, fill.red) {
  if (fill.red == fill.green && fill.green == fill.blue) return;
  for (std::size_t i = 0; i < rgb.size(); i += kChannels) {
    rgb[i + 1] = fill.green;
    rgb[i + 2] = fill.blue;
  }
}

Picture crop(const Picture& picture, const Area& area) {
  PL_ASSERT(area.x <= picture.width && area.width <= picture.width - area.x &&
                area.y <= picture.height && area.height <= picture.height - area.y,
            "the area lies within the picture");
  Picture part(Size{area.width, area.height});
  for (std::size_t y = 0; y < area.height; ++y) {
    std::memcpy(part.row(y), picture.row(area.y + y) + area.x * Picture::kChannels,
                part.row_bytes());
  }
  return part;
}

void paste(Picture& picture, const Picture& patch, std::uint32_t x, std::uint32_t y) {
  PL_ASSERT(x <= picture.width && patch.width <= picture.width - x && y <= picture.height &&
                patch.height <= picture.height - y,
            "the patch fits into the picture");
  for (std::size_t row = 0; row < patch.height; ++row) {
    std::memcpy(picture.row(y + row) + x * Picture::kChannels, patch.row(row), patch.row_bytes());
  }
}

}  // namespace profline::images
