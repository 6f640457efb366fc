#pragma once

#include <string>

#include "base/result.h"
#include "inputs/images/picture.h"

namespace profline::images {

constexpr int kDefaultJpegQuality = 90;

/// The bytes of a baseline JPEG file with 4:2:0 colour; the same ones for the same picture and
/// library. `quality` is 1 to 100. An Error names a picture JPEG cannot hold: an empty one, or one
/// with a side above 65500.
Result<std::string> encode_jpeg(const Picture& picture, int quality = kDefaultJpegQuality);

/// The bytes of a PNG file. An Error for an empty picture.
Result<std::string> encode_png(const Picture& picture);

}  // namespace profline::images
