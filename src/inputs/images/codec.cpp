#include "inputs/images/codec.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/figures.h"
#include "base/files.h"
#include "inputs/images/internal/parts.h"

namespace profline::images {
namespace {

/// Numbers of a TIFF file, in its byte order; nothing beyond its end.
class Tiff {
 public:
  Tiff(std::string_view bytes, bool is_little) : bytes_(bytes), is_little_(is_little) {}

  std::optional<std::uint32_t> number(std::size_t offset, std::size_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t place = is_little_ ? size - 1 - i : i;
      value = value << 8U | static_cast<unsigned char>(bytes_[offset + place]);
    }
    return value;
  }

 private:
  std::string_view bytes_;
  bool is_little_;
};

constexpr std::uint32_t kOrientationTag = 0x0112;
constexpr std::size_t kEntryBytes = 12;

/// An entry of a directory: tag (2 bytes), type (2), count (4), and the value if it fits into 4
/// bytes.
std::optional<std::uint32_t> single_value(const Tiff& tiff, std::size_t entry) {
  if (tiff.number(entry + 4, 4) != 1U) return std::nullopt;
  switch (tiff.number(entry + 2, 2).value_or(0)) {
    case 1:  // BYTE
      return tiff.number(entry + 8, 1);
    case 3:  // SHORT
      return tiff.number(entry + 8, 2);
    case 4:  // LONG
      return tiff.number(entry + 8, 4);
    default:
      return std::nullopt;
  }
}

bool swaps_sides(Orientation orientation) {
  return orientation >= Orientation::LeftTop;
}

/// Where the pixel at (x, y) of the upright image is in the stored one.
struct Source {
  std::int64_t start;  // of (0, 0), in pixels
  std::int64_t per_x;  // distance to the next column
  std::int64_t per_y;  // distance to the next row
};

Source source_of(Size stored, Orientation orientation) {
  const std::int64_t width = stored.width;
  const std::int64_t height = stored.height;
  const std::int64_t last_row = (height - 1) * width;
  switch (orientation) {
    case Orientation::TopRight:
      return {width - 1, -1, width};
    case Orientation::BottomRight:
      return {last_row + width - 1, -1, -width};
    case Orientation::BottomLeft:
      return {last_row, 1, -width};
    case Orientation::LeftTop:
      return {0, width, 1};
    case Orientation::RightTop:
      return {last_row, -width, 1};
    case Orientation::RightBottom:
      return {last_row + width - 1, -width, -1};
    case Orientation::LeftBottom:
      return {width - 1, width, -1};
    case Orientation::Upright:
      break;
  }
  return {0, 1, width};
}

std::string text_of(Size size) {
  return std::to_string(size.width) + 'x' + std::to_string(size.height);
}

/// The first bytes of a file type that we do not read.
struct Signature {
  std::string_view bytes;
  std::string_view name;
  std::size_t offset = 0;
};
constexpr Signature kOthers[] = {
    {"GIF8", "a GIF image"},
    {"BM", "a BMP image"},
    {std::string_view("II*\0", 4), "a TIFF image"},
    {std::string_view("MM\0*", 4), "a TIFF image"},
    {"WEBP", "a WebP image", 8},
    {"ftypavif", "an AVIF image", 4},
    {"ftypheic", "a HEIC image", 4},
    {std::string_view("\0\0\0\x0cjP  ", 8), "a JPEG 2000 image"},
    {"%PDF", "a PDF document"},
    {"version https://git-lfs", "a pointer of Git LFS, whose file was not fetched"},
};

Error unknown_format(std::string_view bytes) {
  if (bytes.empty()) return {ErrorKind::Parse, "empty file, not a PNG or JPEG image"};
  for (const Signature& other : kOthers) {
    if (bytes.size() >= other.offset && bytes.substr(other.offset).starts_with(other.bytes)) {
      return {ErrorKind::Parse,
              "this is " + std::string(other.name) + "; only PNG and JPEG images are supported"};
    }
  }
  return {ErrorKind::Parse, "not a PNG or JPEG image: its first bytes match neither format"};
}

Result<void> check_bytes(std::uint64_t bytes, const Limits& limits) {
  if (bytes <= limits.max_file_bytes) return {};
  return Error(ErrorKind::Parse, "file of " + human_bytes(bytes) + "; at most " +
                                     human_bytes(limits.max_file_bytes) + " are supported");
}

}  // namespace

std::optional<Orientation> exif_orientation(std::string_view tiff) {
  const bool is_little = tiff.starts_with("II");
  if (!is_little && !tiff.starts_with("MM")) return std::nullopt;
  const Tiff file(tiff, is_little);
  if (file.number(2, 2) != 42U) return std::nullopt;
  const auto directory = file.number(4, 4);
  if (!directory) return std::nullopt;
  const auto entries = file.number(*directory, 2);
  for (std::uint32_t i = 0; i < entries.value_or(0); ++i) {
    const std::size_t entry = std::size_t{*directory} + 2 + i * kEntryBytes;
    const auto tag = file.number(entry, 2);
    if (!tag) break;
    if (*tag != kOrientationTag) continue;
    const std::uint32_t value = single_value(file, entry).value_or(0);
    if (value < 1 || value > 8) break;
    return static_cast<Orientation>(value);
  }
  return std::nullopt;
}

Size turned_upright(Size stored, Orientation orientation) {
  return swaps_sides(orientation) ? Size{stored.height, stored.width} : stored;
}

Picture turned_upright(Picture stored, Orientation orientation) {
  if (orientation == Orientation::Upright) return stored;
  const Source source = source_of(stored.size(), orientation);
  Picture upright(turned_upright(stored.size(), orientation));
  for (std::size_t y = 0; y < upright.height; ++y) {
    const std::uint8_t* from =
        stored.rgb.data() + (source.start + static_cast<std::int64_t>(y) * source.per_y) *
                                std::int64_t{Picture::kChannels};
    std::uint8_t* to = upright.row(y);
    for (std::size_t x = 0; x < upright.width; ++x) {
      std::copy_n(from, Picture::kChannels, to);
      from += source.per_x * std::int64_t{Picture::kChannels};
      to += Picture::kChannels;
    }
  }
  return upright;
}

namespace internal {

Result<void> check_size(Size size, const Limits& limits) {
  if (size.width == 0 || size.height == 0) {
    return Error(ErrorKind::Parse, "image without pixels (" + text_of(size) + ")");
  }
  if (size.width > limits.max_side || size.height > limits.max_side) {
    return Error(ErrorKind::Parse, "image of " + text_of(size) + " pixels; at most " +
                                       std::to_string(limits.max_side) + " per side are supported");
  }
  const std::uint64_t pixels = std::uint64_t{size.width} * size.height;
  if (pixels > limits.max_pixels) {
    return Error(ErrorKind::Parse, "image of " + text_of(size) + " pixels; at most " +
                                       std::to_string(limits.max_pixels) +
                                       " in total are supported");
  }
  return {};
}

Error impossible_size(Size size, std::size_t file_bytes) {
  return {ErrorKind::Parse, "false header: " + text_of(size) + " pixels cannot be in a file of " +
                                std::to_string(file_bytes) + " bytes"};
}

}  // namespace internal

Result<Header> read_header(std::string_view bytes, const Limits& limits) {
  PL_TRY(check_bytes(bytes.size(), limits));
  Header header;
  if (internal::is_png(bytes)) {
    header = PL_TRY(internal::read_png_header(bytes, limits));
  } else if (internal::is_jpeg(bytes)) {
    header = PL_TRY(internal::read_jpeg_header(bytes, limits));
  } else {
    return unknown_format(bytes);
  }
  header.size = turned_upright(header.size, header.orientation);
  return header;
}

Result<Picture> decode(std::string_view bytes, const Limits& limits) {
  PL_TRY(check_bytes(bytes.size(), limits));
  if (!internal::is_png(bytes) && !internal::is_jpeg(bytes)) return unknown_format(bytes);
  internal::Stored stored = PL_TRY(internal::is_png(bytes) ? internal::decode_png(bytes, limits)
                                                           : internal::decode_jpeg(bytes, limits));
  return turned_upright(std::move(stored.picture), stored.orientation);
}

Result<Picture> load(const std::filesystem::path& path, const Limits& limits) {
  std::error_code unknown;  // for example for a pipe; decode() checks the size again
  const std::uint64_t size = std::filesystem::file_size(path, unknown);
  if (!unknown) PL_TRY(check_bytes(size, limits).during("reading " + path.string()));
  const std::string bytes = PL_TRY(read_file(path));
  return decode(bytes, limits).during("reading " + path.string());
}

}  // namespace profline::images
