#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "inputs/images/picture.h"

namespace profline::images {

/// How the stored rows lie, in EXIF's numbers: where the first row and the first column of the file
/// are seen (`RightTop`: the first row is the right edge of the picture).
enum class Orientation : std::uint8_t {
  Upright = 1,
  TopRight,  ///< mirrored left to right
  BottomRight,
  BottomLeft,  ///< mirrored top to bottom
  LeftTop,     ///< mirrored along the main diagonal
  RightTop,    ///< to be turned clockwise by 90 degrees
  RightBottom,
  LeftBottom,  ///< to be turned anticlockwise by 90 degrees
};

/// The orientation in EXIF data (a TIFF header and what follows it). Nothing when there is none, or
/// the data is damaged: metadata never makes a picture unreadable.
std::optional<Orientation> exif_orientation(std::string_view tiff);

/// Size and picture as they are to be seen.
Size turned_upright(Size stored, Orientation orientation);
Picture turned_upright(Picture stored, Orientation orientation);

}  // namespace profline::images
