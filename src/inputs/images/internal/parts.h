#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// Our own bitmap font: printable ASCII, drawn for this program.
namespace profline::images::internal {

constexpr std::size_t kGlyphColumns = 5;
constexpr std::size_t kGlyphRows = 9;
constexpr char32_t kFirstGlyph = U' ';
constexpr std::size_t kGlyphs = 96;  // the last one represents all other characters

using Glyph = std::array<std::array<bool, kGlyphColumns>, kGlyphRows>;

const Glyph& glyph(char32_t character);

}  // namespace profline::images::internal

/// The parts of resize_bicubic(): the sources of each output, and the loop that computes it.
namespace profline::images::internal {

/// Fractional bits of a weight: with 8 bits of pixel and 2 of headroom they fill 32.
constexpr int kWeightBits = 32 - 8 - 2;

/// The sources of one output: `count` from `first` on, with weights from `weights` on.
struct Window {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::size_t weights = 0;
};

/// All outputs along one axis.
struct Axis {
  std::vector<Window> windows;
  std::vector<std::int32_t> weights;
};

Axis bicubic_axis(std::uint32_t from, std::uint32_t to);

/// For each of `width` columns of bytes: the weighted sum of `count` rows that begin at `source`
/// and are `stride` bytes apart, rounded and clamped to 8 bits. Uses the widest vectors available.
void weigh_rows(const std::uint8_t* source, std::size_t stride, const std::int32_t* weights,
                std::size_t count, std::uint8_t* target, std::size_t width);

/// The same without vectors, for comparison.
void weigh_rows_plainly(const std::uint8_t* source, std::size_t stride, const std::int32_t* weights,
                        std::size_t count, std::uint8_t* target, std::size_t width);

/// Transposes a block of 16 by 16 bytes; the strides are the distances between rows.
constexpr std::size_t kBlockSide = 16;
void transpose_block(const std::uint8_t* source, std::size_t source_stride, std::uint8_t* target,
                     std::size_t target_stride);

}  // namespace profline::images::internal
