#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "inputs/images/codec.h"
#include "inputs/images/picture.h"

/// The adapters of the two libraries, png.cpp and jpeg.cpp. Sizes and images are as stored; the
/// caller turns them upright.
namespace profline::images::internal {

struct Stored {
  Picture picture;
  Orientation orientation = Orientation::Upright;
};

bool is_png(std::string_view bytes);
Result<Header> read_png_header(std::string_view bytes, const Limits& limits);
Result<Stored> decode_png(std::string_view bytes, const Limits& limits);

bool is_jpeg(std::string_view bytes);
Result<Header> read_jpeg_header(std::string_view bytes, const Limits& limits);
Result<Stored> decode_jpeg(std::string_view bytes, const Limits& limits);

/// An Error for a size that is empty or beyond the limits.
Result<void> check_size(Size size, const Limits& limits);

/// For a header that promises more than the file can contain, however well it is compressed.
Error impossible_size(Size size, std::size_t file_bytes);

}  // namespace profline::images::internal
