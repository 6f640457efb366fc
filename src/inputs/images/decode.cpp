#include "inputs/images/decode.h"

#include "base/figures.h"
#include "base/files.h"
#include "inputs/images/internal/codecs.h"

namespace profline::images {
namespace {

std::string text_of(Size size) {
  return std::to_string(size.width) + 'x' + std::to_string(size.height);
}

/// What a file that we do not read begins with.
struct Signature {
  std::string_view bytes;
  std::string_view name;
  std::size_t offset = 0;
};
constexpr Signature kOthers[] = {
    {"GIF8", "a GIF picture"},
    {"BM", "a BMP picture"},
    {std::string_view("II*\0", 4), "a TIFF picture"},
    {std::string_view("MM\0*", 4), "a TIFF picture"},
    {"WEBP", "a WebP picture", 8},
    {"ftypavif", "an AVIF picture", 4},
    {"ftypheic", "a HEIC picture", 4},
    {std::string_view("\0\0\0\x0cjP  ", 8), "a JPEG 2000 picture"},
    {"%PDF", "a PDF document"},
    {"version https://git-lfs", "a pointer of Git LFS, whose file was not fetched"},
};

Error unknown_format(std::string_view bytes) {
  if (bytes.empty()) return {ErrorKind::Parse, "empty file, not a PNG or JPEG picture"};
  for (const Signature& other : kOthers) {
    if (bytes.size() >= other.offset && bytes.substr(other.offset).starts_with(other.bytes)) {
      return {ErrorKind::Parse,
              "this is " + std::string(other.name) + "; PNG and JPEG pictures are read"};
    }
  }
  return {ErrorKind::Parse, "not a PNG or JPEG picture: it begins as neither does"};
}

Result<void> check_bytes(std::uint64_t bytes, const Limits& limits) {
  if (bytes <= limits.max_file_bytes) return {};
  return Error(ErrorKind::Parse, "file of " + human_bytes(bytes) + "; at most " +
                                     human_bytes(limits.max_file_bytes) + " are read");
}

}  // namespace

namespace internal {

Result<void> check_size(Size size, const Limits& limits) {
  if (size.width == 0 || size.height == 0) {
    return Error(ErrorKind::Parse, "picture without pixels (" + text_of(size) + ")");
  }
  if (size.width > limits.max_side || size.height > limits.max_side) {
    return Error(ErrorKind::Parse, "picture of " + text_of(size) + " pixels; at most " +
                                       std::to_string(limits.max_side) + " a side are read");
  }
  const std::uint64_t pixels = std::uint64_t{size.width} * size.height;
  if (pixels > limits.max_pixels) {
    return Error(ErrorKind::Parse, "picture of " + text_of(size) + " pixels; at most " +
                                       std::to_string(limits.max_pixels) + " in all are read");
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
  std::error_code unknown;  // of a pipe, say; decode() looks at the size again
  const std::uint64_t size = std::filesystem::file_size(path, unknown);
  if (!unknown) PL_TRY(check_bytes(size, limits).during("reading " + path.string()));
  const std::string bytes = PL_TRY(read_file(path));
  return decode(bytes, limits).during("reading " + path.string());
}

}  // namespace profline::images
