#pragma once

#include "inputs/images/picture.h"

namespace profline::images {

/// The picture in another size, bit for bit as Pillow's `resize(size, BICUBIC)` gives it: separable
/// with antialiasing, horizontally first, 8-bit between the passes, weights of 22 fractional bits.
/// Neither picture nor size may be empty.
Picture resize_bicubic(const Picture& picture, Size size);

}  // namespace profline::images
