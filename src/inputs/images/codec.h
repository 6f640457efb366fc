#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "inputs/images/picture.h"

namespace profline::images {

/// The orientation of the stored rows, in EXIF's numbers: where the first row and the first column
/// of the file are displayed (`RightTop`: the first row is the right edge of the image).
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

/// The orientation in EXIF data (a TIFF header and what follows it). Nothing if it is missing or
/// the data is damaged: metadata never makes an image unreadable.
std::optional<Orientation> exif_orientation(std::string_view tiff);

/// Size and image in their upright orientation.
Size turned_upright(Size stored, Orientation orientation);
Picture turned_upright(Picture stored, Orientation orientation);

/// Decodes the bytes of PNG and JPEG files; the bytes decide, never a file's name.
///
/// Colours are converted like Pillow's convert("RGB"): transparency is dropped (not blended with a
/// background), palettes are looked up, grey is repeated, CMYK is converted with Adobe's inverted
/// values, profiles and gamma are ignored. Of 16 bits the upper 8 are kept; for grey that differs
/// from Pillow, which turns all but the darkest 256 levels white. The EXIF orientation of either
/// format is applied, like ImageOps.exif_transpose().
///
/// An Error says what is wrong with the bytes (`cut off: ends inside the picture`); the caller adds
/// the file name. Damaged image data is an Error too: otherwise a half grey page would be measured
/// silently.

/// Limits for an image, checked against its header before memory is allocated for it.
struct Limits {
  std::size_t max_file_bytes = std::size_t{512} << 20U;
  std::uint32_t max_side = 65'535;
  /// Pillow's own limit; 3 bytes per pixel.
  std::uint64_t max_pixels = 178'956'970;
};

enum class Format { Png, Jpeg };

/// What a file says about its image, without decoding it.
struct Header {
  Format format = Format::Png;
  Orientation orientation = Orientation::Upright;  ///< as stored
  Size size;                                       ///< as returned by decode(): upright
};

Result<Header> read_header(std::string_view bytes, const Limits& limits = {});

Result<Picture> decode(std::string_view bytes, const Limits& limits = {});

/// The image in a file; the Error names the file.
Result<Picture> load(const std::filesystem::path& path, const Limits& limits = {});

constexpr int kDefaultJpegQuality = 90;

/// The bytes of a baseline JPEG file with 4:2:0 colour; the same for the same image and library.
/// `quality` is 1 to 100. An Error for an image that JPEG cannot represent: an empty one, or one
/// with a side above 65500.
Result<std::string> encode_jpeg(const Picture& picture, int quality = kDefaultJpegQuality);

/// The bytes of a PNG file. An Error for an empty image.
Result<std::string> encode_png(const Picture& picture);

}  // namespace profline::images
