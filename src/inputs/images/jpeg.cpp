// libjpeg reports failures through a callback that must not return: ours leaves with longjmp. All
// code that it may leave in this way runs in guarded(), and nothing that needs a destructor lives
// inside.

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <vector>

// jpeglib.h requires cstdio before it; the codes in jerror.h depend on the version in jpeglib.h.
// clang-format off
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include "base/error.h"
#include "inputs/images/codec.h"
#include "inputs/images/internal/parts.h"

namespace profline::images {
namespace {

/// An image is refined scan by scan; each may touch all of it while taking only a few bytes of the
/// file.
constexpr int kMaxScans = 500;

/// The library's callbacks receive `base`, its first member, and reach the rest through it.
struct Failure {
  jpeg_error_mgr base{};
  std::jmp_buf back{};
  char reason[JMSG_LENGTH_MAX] = {};
  bool is_cut_off = false;
};

Failure& failure_of(j_common_ptr codec) {
  return *reinterpret_cast<Failure*>(codec->err);
}

[[noreturn]] void on_error(j_common_ptr codec) {
  Failure& failure = failure_of(codec);
  codec->err->format_message(codec, failure.reason);
  std::longjmp(failure.back, 1);  // NOLINT(cert-err52-cpp): libjpeg offers no other way
}

/// Whether the pixels may differ from the stored ones after a warning: true except for these.
bool loses_pixels(int warning) {
  switch (warning) {
    case JWRN_ADOBE_XFORM:
    case JWRN_BOGUS_PROGRESSION:
    case JWRN_EXTRANEOUS_DATA:  // between segments
    case JWRN_JFIF_MAJOR:
    case JWRN_TOO_MUCH_DATA:
      return false;
    default:
      return true;
  }
}

void on_message(j_common_ptr codec, int level) {
  if (level >= 0) return;  // a trace; below it are warnings
  codec->err->num_warnings++;
  if (!loses_pixels(codec->err->msg_code)) return;
  failure_of(codec).is_cut_off = codec->err->msg_code == JWRN_JPEG_EOF;
  on_error(codec);
}

void on_progress(j_common_ptr codec) {
  if (!codec->is_decompressor) return;
  if (reinterpret_cast<j_decompress_ptr>(codec)->input_scan_number <= kMaxScans) return;
  Failure& failure = failure_of(codec);
  std::snprintf(failure.reason, sizeof failure.reason, "more than %d scans", kMaxScans);
  std::longjmp(failure.back, 1);  // NOLINT(cert-err52-cpp)
}

jpeg_error_mgr* prepare(Failure& failure) {
  jpeg_std_error(&failure.base);
  failure.base.error_exit = on_error;
  failure.base.emit_message = on_message;
  return &failure.base;
}

/// Runs calls of libjpeg; false if it gave up, with the reason in failure.reason.
template <typename Codec, typename Calls>
bool guarded(Failure& failure, Codec& codec, const Calls& calls) {
  if (setjmp(failure.back) != 0) return false;  // NOLINT(cert-err52-cpp)
  calls(codec);
  return true;
}

/// c * k / 255 with Pillow's rounding.
std::uint8_t product(std::uint8_t c, std::uint8_t k) {
  const unsigned value = unsigned{c} * k + 128U;
  return static_cast<std::uint8_t>((value + (value >> 8U)) >> 8U);
}

/// Like Pillow, which treats every CMYK file as one of Adobe's: 255 is no ink.
void cmyk_to_rgb(const std::uint8_t* cmyk, std::uint8_t* rgb, std::size_t pixels) {
  for (std::size_t i = 0; i < pixels; ++i, cmyk += 4, rgb += 3) {
    const std::uint8_t light = cmyk[3];
    for (std::size_t c = 0; c < 3; ++c) {
      const auto ink = static_cast<std::uint8_t>(255 - cmyk[c]);
      rgb[c] = static_cast<std::uint8_t>(light - product(ink, light));
    }
  }
}

class JpegReader {
 public:
  explicit JpegReader(std::string_view bytes) : bytes_(bytes) {
    codec_.err = prepare(failure_);
    is_made_ =
        guarded(failure_, codec_, [](jpeg_decompress_struct& c) { jpeg_create_decompress(&c); });
    progress_.progress_monitor = on_progress;
    codec_.progress = &progress_;
  }
  ~JpegReader() { jpeg_destroy_decompress(&codec_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  Result<Size> read_info(const Limits& limits) {
    const std::string_view bytes = bytes_;
    const bool is_read =
        is_made_ && guarded(failure_, codec_, [bytes](jpeg_decompress_struct& c) {
          jpeg_mem_src(&c, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
          jpeg_save_markers(&c, kExifMarker, 0xFFFF);
          jpeg_read_header(&c, TRUE);
        });
    if (!is_read) return damaged();
    const Size size{codec_.image_width, codec_.image_height};
    PL_TRY(internal::check_size(size, limits));
    // A block of 64 pixels takes at least a bit, unless arithmetic coding compresses equal ones.
    const std::uint64_t pixels = std::uint64_t{size.width} * size.height;
    constexpr std::uint64_t kMostPixelsInAByte = std::uint64_t{64} * 8;
    if (codec_.arith_code == FALSE && pixels / kMostPixelsInAByte > bytes_.size()) {
      return internal::impossible_size(size, bytes_.size());
    }
    const int channels = codec_.num_components;
    if (channels != 1 && channels != 3 && channels != 4) {
      return Error(ErrorKind::Parse, "JPEG with " + std::to_string(channels) +
                                         " colour channels; only grey, RGB and CMYK are supported");
    }
    return size;
  }

  Result<Picture> read_pixels(Size size) {
    const bool is_cmyk = codec_.num_components == 4;
    const bool is_started = guarded(failure_, codec_, [is_cmyk](jpeg_decompress_struct& c) {
      c.out_color_space = is_cmyk ? JCS_CMYK : JCS_RGB;
      jpeg_start_decompress(&c);
    });
    if (!is_started) return damaged();
    PL_ASSERT(codec_.output_width == size.width && codec_.output_height == size.height,
              "libjpeg scales only when asked to");
    Picture picture(size);
    std::vector<std::uint8_t> cmyk_row(is_cmyk ? std::size_t{size.width} * 4 : 0);
    std::uint8_t* const cmyk = is_cmyk ? cmyk_row.data() : nullptr;
    const bool is_read = guarded(failure_, codec_, [&picture, cmyk](jpeg_decompress_struct& c) {
      while (c.output_scanline < c.output_height) {
        std::uint8_t* const row = picture.row(c.output_scanline);
        JSAMPROW target = cmyk != nullptr ? cmyk : row;
        jpeg_read_scanlines(&c, &target, 1);
        if (cmyk != nullptr) cmyk_to_rgb(cmyk, row, picture.width);
      }
      jpeg_finish_decompress(&c);
    });
    if (!is_read) return damaged();
    return picture;
  }

  /// Call before reading the pixels: the library then discards the file's markers.
  Orientation orientation() const {
    constexpr std::string_view kName("Exif\0\0", 6);
    for (jpeg_saved_marker_ptr marker = codec_.marker_list; marker != nullptr;
         marker = marker->next) {
      const std::string_view data(reinterpret_cast<const char*>(marker->data), marker->data_length);
      if (marker->marker != kExifMarker || !data.starts_with(kName)) continue;
      return exif_orientation(data.substr(kName.size())).value_or(Orientation::Upright);
    }
    return Orientation::Upright;
  }

 private:
  static constexpr int kExifMarker = JPEG_APP0 + 1;

  Error damaged() const {
    if (failure_.is_cut_off) {
      return {ErrorKind::Parse, "cut off: the JPEG data ends after " +
                                    std::to_string(bytes_.size()) +
                                    " bytes, before it is complete"};
    }
    std::string_view reason = failure_.reason;
    constexpr std::string_view kSaidAlready = "Corrupt JPEG data: ";
    if (reason.starts_with(kSaidAlready)) reason.remove_prefix(kSaidAlready.size());
    return {ErrorKind::Parse, "damaged JPEG data: " + std::string(reason)};
  }

  std::string_view bytes_;
  Failure failure_;
  jpeg_decompress_struct codec_{};
  jpeg_progress_mgr progress_{};
  bool is_made_ = false;
};

class JpegWriter {
 public:
  JpegWriter() {
    codec_.err = prepare(failure_);
    is_made_ = guarded(failure_, codec_, [](jpeg_compress_struct& c) { jpeg_create_compress(&c); });
  }
  ~JpegWriter() {
    jpeg_destroy_compress(&codec_);
    std::free(buffer_);  // jpeg_mem_dest() allocates with malloc()
  }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  Result<std::string> write(const Picture& picture, int quality) {
    const bool is_written = is_made_ && guarded(failure_, codec_, [&](jpeg_compress_struct& c) {
                              jpeg_mem_dest(&c, &buffer_, &buffer_bytes_);
                              c.image_width = picture.width;
                              c.image_height = picture.height;
                              c.input_components = Picture::kChannels;
                              c.in_color_space = JCS_RGB;
                              jpeg_set_defaults(&c);
                              jpeg_set_quality(&c, quality, TRUE);
                              jpeg_start_compress(&c, TRUE);
                              while (c.next_scanline < c.image_height) {
                                // The library's type has no const; it only reads.
                                JSAMPROW row = const_cast<JSAMPROW>(picture.row(c.next_scanline));
                                jpeg_write_scanlines(&c, &row, 1);
                              }
                              jpeg_finish_compress(&c);
                            });
    if (!is_written) {
      return Error(ErrorKind::Io, std::string("cannot write JPEG data: ") + failure_.reason);
    }
    return std::string(reinterpret_cast<const char*>(buffer_), buffer_bytes_);
  }

 private:
  Failure failure_;
  jpeg_compress_struct codec_{};
  unsigned char* buffer_ = nullptr;
  unsigned long buffer_bytes_ = 0;  // the library's type
  bool is_made_ = false;
};

}  // namespace

namespace internal {

bool is_jpeg(std::string_view bytes) {
  return bytes.starts_with("\xff\xd8\xff");
}

Result<Header> read_jpeg_header(std::string_view bytes, const Limits& limits) {
  JpegReader reader(bytes);
  const Size size = PL_TRY(reader.read_info(limits));
  return Header{.format = Format::Jpeg, .orientation = reader.orientation(), .size = size};
}

Result<Stored> decode_jpeg(std::string_view bytes, const Limits& limits) {
  JpegReader reader(bytes);
  const Size size = PL_TRY(reader.read_info(limits));
  const Orientation orientation = reader.orientation();
  Picture picture = PL_TRY(reader.read_pixels(size));
  return Stored{.picture = std::move(picture), .orientation = orientation};
}

}  // namespace internal

Result<std::string> encode_jpeg(const Picture& picture, int quality) {
  PL_ASSERT(quality >= 1 && quality <= 100, "the caller chose a JPEG quality");
  if (picture.width == 0 || picture.height == 0 || picture.width > JPEG_MAX_DIMENSION ||
      picture.height > JPEG_MAX_DIMENSION) {
    return Error(ErrorKind::Config, "a JPEG image must have 1 to " +
                                        std::to_string(JPEG_MAX_DIMENSION) +
                                        " pixels per side, not " + std::to_string(picture.width) +
                                        'x' + std::to_string(picture.height));
  }
  return JpegWriter().write(picture, quality);
}

}  // namespace profline::images
