// libpng reports failures with longjmp. All code that it may leave in this way runs in guarded(),
// and nothing that needs a destructor lives inside.

#include <csetjmp>
#include <cstring>
#include <vector>

#include <png.h>

#include "inputs/images/codec.h"
#include "inputs/images/internal/parts.h"

namespace profline::images {
namespace {

/// Shared by both directions: the library's handles and the reason for giving up.
struct Session {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::string_view input;
  std::size_t offset = 0;
  bool is_cut_off = false;
  std::string* output = nullptr;
  char reason[128] = {};
};

[[noreturn]] void on_error(png_structp png, png_const_charp message) {
  auto& session = *static_cast<Session*>(png_get_error_ptr(png));
  std::strncpy(session.reason, message, sizeof session.reason - 1);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep data, png_size_t size) {
  auto& session = *static_cast<Session*>(png_get_io_ptr(png));
  if (size > session.input.size() - session.offset) {
    session.is_cut_off = true;
    png_error(png, "cut off");
  }
  std::memcpy(data, session.input.data() + session.offset, size);
  session.offset += size;
}

void on_write(png_structp png, png_bytep data, png_size_t size) {
  auto& session = *static_cast<Session*>(png_get_io_ptr(png));
  session.output->append(reinterpret_cast<const char*>(data), size);
}

void on_flush(png_structp) {}

/// Runs calls of libpng; false if it gave up, with the reason in session.reason.
template <typename Calls>
bool guarded(Session& session, const Calls& calls) {
  if (setjmp(png_jmpbuf(session.png)) != 0) return false;  // NOLINT(cert-err52-cpp): libpng's way
  calls(session);
  return true;
}

Error damaged(const Session& session) {
  if (session.is_cut_off) {
    return {ErrorKind::Parse, "cut off: the PNG data ends after " +
                                  std::to_string(session.input.size()) +
                                  " bytes, before it is complete"};
  }
  return {ErrorKind::Parse,
          "damaged PNG data before byte " + std::to_string(session.offset) + ": " + session.reason};
}

class PngReader {
 public:
  explicit PngReader(std::string_view bytes) {
    session_.input = bytes;
    session_.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &session_, on_error, on_warning);
    if (session_.png != nullptr) session_.info = png_create_info_struct(session_.png);
  }
  ~PngReader() { png_destroy_read_struct(&session_.png, &session_.info, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  /// Reads everything before the pixels and checks it against the limits and the file's own size.
  Result<Size> read_info(const Limits& limits) {
    if (session_.info == nullptr) return Error(ErrorKind::Io, "out of memory for libpng");
    const bool is_read = guarded(session_, [&limits](Session& s) {
      png_set_read_fn(s.png, &s, on_read);
      png_set_user_limits(s.png, PNG_UINT_31_MAX,
                          PNG_UINT_31_MAX);  // check_size() has a better message
      png_set_chunk_malloc_max(s.png, limits.max_file_bytes);
      ignore_what_does_not_matter(s.png);
      png_read_info(s.png, s.info);
    });
    if (!is_read) return damaged(session_);
    const Size size{png_get_image_width(session_.png, session_.info),
                    png_get_image_height(session_.png, session_.info)};
    PL_TRY(internal::check_size(size, limits));
    const std::uint64_t stored_bits = std::uint64_t{size.width} * size.height *
                                      png_get_bit_depth(session_.png, session_.info) *
                                      png_get_channels(session_.png, session_.info);
    if (stored_bits / 8 / kBestDeflateRatio > session_.input.size()) {
      return internal::impossible_size(size, session_.input.size());
    }
    return size;
  }

  Result<Picture> read_pixels(Size size) {
    const bool is_set = guarded(session_, [](Session& s) {
      png_set_strip_16(s.png);
      png_set_expand(s.png);
      png_set_gray_to_rgb(s.png);
      png_set_strip_alpha(s.png);
      png_set_interlace_handling(s.png);
      png_read_update_info(s.png, s.info);
      if (png_get_rowbytes(s.png, s.info) !=
          png_get_image_width(s.png, s.info) * Picture::kChannels) {
        png_error(s.png, "pixels of an unknown kind");
      }
    });
    if (!is_set) return damaged(session_);
    Picture picture(size);
    std::vector<png_bytep> rows(size.height);
    for (std::size_t y = 0; y < rows.size(); ++y) rows[y] = picture.row(y);
    png_bytepp const row_pointers = rows.data();
    const bool is_read = guarded(session_, [row_pointers](Session& s) {
      png_read_image(s.png, row_pointers);
      png_read_end(s.png, s.info);
    });
    if (!is_read) return damaged(session_);
    return picture;
  }

 private:
  /// The highest ratio of deflate (a match of 258 bytes in 2 bits).
  static constexpr std::uint64_t kBestDeflateRatio = 1032;

  /// Profiles and texts do not change pixels, may inflate to megabytes, and are often damaged.
  static void ignore_what_does_not_matter(png_structp png) {
    static constexpr png_byte kChunks[] =
        "bKGD\0cHRM\0eXIf\0gAMA\0hIST\0iCCP\0iTXt\0oFFs\0pCAL\0pHYs\0sBIT\0sCAL\0sPLT\0sRGB\0"
        "sTER\0tEXt\0tIME\0zTXt";
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, kChunks, sizeof kChunks / 5);
  }

  Session session_;
};

class PngWriter {
 public:
  explicit PngWriter(std::string* output) {
    session_.output = output;
    session_.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &session_, on_error, on_warning);
    if (session_.png != nullptr) session_.info = png_create_info_struct(session_.png);
  }
  ~PngWriter() { png_destroy_write_struct(&session_.png, &session_.info); }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;

  Result<void> write(const Picture& picture) {
    if (session_.info == nullptr) return Error(ErrorKind::Io, "out of memory for libpng");
    const bool is_written = guarded(session_, [&picture](Session& s) {
      png_set_write_fn(s.png, &s, on_write, on_flush);
      png_set_IHDR(s.png, s.info, picture.width, picture.height, 8, PNG_COLOR_TYPE_RGB,
                   PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
      png_write_info(s.png, s.info);
      for (std::size_t y = 0; y < picture.height; ++y) png_write_row(s.png, picture.row(y));
      png_write_end(s.png, s.info);
    });
    if (!is_written) {
      return Error(ErrorKind::Io, std::string("cannot write PNG data: ") + session_.reason);
    }
    return {};
  }

 private:
  Session session_;
};

/// From the chunk eXIf, which may also follow the pixels. A chunk is its length (4 bytes), name
/// (4), data, checksum (4).
Orientation orientation_of(std::string_view bytes) {
  constexpr std::size_t kSignatureBytes = 8;
  constexpr std::size_t kFrameBytes = 12;
  std::size_t at = kSignatureBytes;
  while (at + kFrameBytes <= bytes.size()) {
    const std::size_t length = png_get_uint_32(reinterpret_cast<png_const_bytep>(&bytes[at]));
    const std::string_view name = bytes.substr(at + 4, 4);
    if (length > bytes.size() - at - kFrameBytes || name == "IEND") break;
    if (name == "eXIf") {
      return exif_orientation(bytes.substr(at + 8, length)).value_or(Orientation::Upright);
    }
    at += kFrameBytes + length;
  }
  return Orientation::Upright;
}

}  // namespace

namespace internal {

bool is_png(std::string_view bytes) {
  return bytes.starts_with("\x89PNG\r\n\x1a\n");
}

Result<Header> read_png_header(std::string_view bytes, const Limits& limits) {
  PngReader reader(bytes);
  const Size size = PL_TRY(reader.read_info(limits));
  return Header{.format = Format::Png, .orientation = orientation_of(bytes), .size = size};
}

Result<Stored> decode_png(std::string_view bytes, const Limits& limits) {
  PngReader reader(bytes);
  const Size size = PL_TRY(reader.read_info(limits));
  Picture picture = PL_TRY(reader.read_pixels(size));
  return Stored{.picture = std::move(picture), .orientation = orientation_of(bytes)};
}

}  // namespace internal

Result<std::string> encode_png(const Picture& picture) {
  if (picture.width == 0 || picture.height == 0) {
    return Error(ErrorKind::Config, "a PNG image must have at least one pixel");
  }
  std::string bytes;
  PngWriter writer(&bytes);
  PL_TRY(writer.write(picture));
  return bytes;
}

}  // namespace profline::images
