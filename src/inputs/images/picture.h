#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace profline::images {

/// Width and height in pixels.
struct Size {
  std::uint32_t width = 0;
  std::uint32_t height = 0;

  bool operator==(const Size&) const = default;
};

struct Colour {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;

  bool operator==(const Colour&) const = default;
};

/// An image in memory: 8 bits per channel, red, green, blue, rows from the top without padding.
/// `rgb` has width * height * 3 bytes.
struct Picture {
  static constexpr std::size_t kChannels = 3;

  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::vector<std::uint8_t> rgb;

  Picture() = default;
  /// An image of a single colour.
  explicit Picture(Size size, Colour fill = {});

  Size size() const { return {width, height}; }
  std::size_t row_bytes() const { return std::size_t{width} * kChannels; }
  std::uint8_t* row(std::size_t y) { return rgb.data() + y * row_bytes(); }
  const std::uint8_t* row(std::size_t y) const { return rgb.data() + y * row_bytes(); }

  bool operator==(const Picture&) const = default;
};

/// A rectangle of pixels: its top left corner and size.
struct Area {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  std::uint32_t width = 0;
  std::uint32_t height = 0;

  bool operator==(const Area&) const = default;
};

/// A copy of a part. The area must be inside the image.
Picture crop(const Picture& picture, const Area& area);

/// Copies all of `patch` into `picture`, with its top left corner at (x, y); it must fit.
void paste(Picture& picture, const Picture& patch, std::uint32_t x, std::uint32_t y);

/// The image in another size, bit for bit like Pillow's `resize(size, BICUBIC)`: separable with
/// antialiasing, horizontally first, 8-bit between the passes, weights of 22 fractional bits.
/// Neither image nor size may be empty.
Picture resize_bicubic(const Picture& picture, Size size);

}  // namespace profline::images

/// Simple drawing on images. Positions are signed: what is outside is cut off.
namespace profline::images {

struct Rectangle {
  std::int64_t x = 0;
  std::int64_t y = 0;
  std::int64_t width = 0;
  std::int64_t height = 0;

  bool operator==(const Rectangle&) const = default;
};

/// An `alpha` of 255 covers, of 0 changes nothing.
void fill(Picture& picture, const Rectangle& area, Colour colour, std::uint8_t alpha = 255);

/// The edge of `area`, `thickness` pixels inwards.
void outline(Picture& picture, const Rectangle& area, Colour colour, std::int64_t thickness);

/// Letters of our own bitmap font: printable ASCII in a cell of 6 by 10 pixels times `scale`
/// (corners are rounded if the scale is even). Other characters of UTF-8 text and bytes that are
/// not UTF-8 are shown as a box.
constexpr std::uint32_t kGlyphWidth = 6;    ///< including the blank column between letters
constexpr std::uint32_t kGlyphHeight = 10;  ///< including descenders and a blank row

struct TextStyle {
  Colour colour;
  std::uint32_t scale = 1;
  bool bold = false;
};

/// The width of the text in pixels; each character takes one cell.
std::int64_t text_width(std::string_view text, std::uint32_t scale);

/// One line, with the top left of its first cell at (x, y).
void draw_text(Picture& picture, std::int64_t x, std::int64_t y, std::string_view text,
               const TextStyle& style);

}  // namespace profline::images
