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

/// The orientation in EXIF data (a TIFF header and what follows it). Nothing when it is missing, or
/// the data is damaged: metadata never makes a picture unreadable.
std::optional<Orientation> exif_orientation(std::string_view tiff);

/// Size and picture as they are to be seen.
Size turned_upright(Size stored, Orientation orientation);
Picture turned_upright(Picture stored, Orientation orientation);

/// Pictures from the bytes of PNG and JPEG files; the bytes decide, never a file's name.
///
/// Colours become what Pillow's convert("RGB") makes of them: transparency is dropped (not blended
/// with a background), palettes are looked up, grey is repeated, CMYK is turned with Adobe's
/// inverted values, profiles and gamma are ignored. Of 16 bits the upper 8 stay; for grey that
/// differs from Pillow, which turns all but the darkest 256 levels white. The EXIF orientation of
/// either format is applied, as ImageOps.exif_transpose() does.
///
/// An Error says what is wrong with the bytes (`cut off: ends inside the picture`); the caller adds
/// the file. Damaged picture data is an Error too: a half grey page would be measured in silence.

/// What a picture may be, checked against its header before memory is taken for it.
struct Limits {
  std::size_t max_file_bytes = std::size_t{512} << 20U;
  std::uint32_t max_side = 65'535;
  /// Pillow's own limit; 3 bytes each.
  std::uint64_t max_pixels = 178'956'970;
};

enum class Format { Png, Jpeg };

/// What a file says of its picture, without decoding it.
struct Header {
  Format format = Format::Png;
  Orientation orientation = Orientation::Upright;  ///< as stored
  Size size;                                       ///< as decode() gives it: turned upright
};

Result<Header> read_header(std::string_view bytes, const Limits& limits = {});

Result<Picture> decode(std::string_view bytes, const Limits& limits = {});

/// The picture in a file; the Error names it.
Result<Picture> load(const std::filesystem::path& path, const Limits& limits = {});

constexpr int kDefaultJpegQuality = 90;

/// The bytes of a baseline JPEG file with 4:2:0 colour; the same ones for the same picture and
/// library. `quality` is 1 to 100. An Error names a picture JPEG cannot hold: an empty one, or one
/// with a side above 65500.
Result<std::string> encode_jpeg(const Picture& picture, int quality = kDefaultJpegQuality);

/// The bytes of a PNG file. An Error for an empty picture.
Result<std::string> encode_png(const Picture& picture);

}  // namespace profline::images
