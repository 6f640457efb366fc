#pragma once

#include <cstdint>
#include <string_view>

#include "inputs/images/picture.h"

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
