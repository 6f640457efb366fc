#pragma once

#include <cstdint>
#include <string_view>

#include "inputs/images/picture.h"

/// Simple drawing on pictures. Positions are signed: what lies outside is cut off.
namespace profline::images {

struct Rectangle {
  std::int64_t x = 0;
  std::int64_t y = 0;
  std::int64_t width = 0;
  std::int64_t height = 0;

  bool operator==(const Rectangle&) const = default;
};

/// `alpha` of 255 covers, of 0 leaves all as it is.
void fill(Picture& picture, const Rectangle& area, Colour colour, std::uint8_t alpha = 255);

/// The edge of `area`, `thickness` pixels inwards.
void outline(Picture& picture, const Rectangle& area, Colour colour, std::int64_t thickness);

/// Letters of a bitmap font of our own: printable ASCII in a cell of 6 by 10 pixels times `scale`
/// (corners are rounded where the scale is even). Other characters of UTF-8 text and bytes
/// that are not UTF-8 show as a box.
constexpr std::uint32_t kGlyphWidth = 6;    ///< with the blank column between letters
constexpr std::uint32_t kGlyphHeight = 10;  ///< with descenders and a blank row

struct TextStyle {
  Colour colour;
  std::uint32_t scale = 1;
  bool bold = false;
};

/// Pixels that the text is wide; each character takes one cell.
std::int64_t text_width(std::string_view text, std::uint32_t scale);

/// One line, the top left of its first cell at (x, y).
void draw_text(Picture& picture, std::int64_t x, std::int64_t y, std::string_view text,
               const TextStyle& style);

}  // namespace profline::images
