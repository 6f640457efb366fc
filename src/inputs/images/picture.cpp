#include "inputs/images/picture.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/strings.h"
#include "inputs/images/internal/parts.h"

namespace profline::images {

Picture::Picture(Size size, Colour fill)
    : width(size.width),
      height(size.height),
      rgb(std::size_t{size.width} * size.height * kChannels, fill.red) {
  if (fill.red == fill.green && fill.green == fill.blue) return;
  for (std::size_t i = 0; i < rgb.size(); i += kChannels) {
    rgb[i + 1] = fill.green;
    rgb[i + 2] = fill.blue;
  }
}

Picture crop(const Picture& picture, const Area& area) {
  PL_ASSERT(area.x <= picture.width && area.width <= picture.width - area.x &&
                area.y <= picture.height && area.height <= picture.height - area.y,
            "the area lies within the picture");
  Picture part(Size{area.width, area.height});
  for (std::size_t y = 0; y < area.height; ++y) {
    std::memcpy(part.row(y), picture.row(area.y + y) + area.x * Picture::kChannels,
                part.row_bytes());
  }
  return part;
}

void paste(Picture& picture, const Picture& patch, std::uint32_t x, std::uint32_t y) {
  PL_ASSERT(x <= picture.width && patch.width <= picture.width - x && y <= picture.height &&
                patch.height <= picture.height - y,
            "the patch fits into the picture");
  for (std::size_t row = 0; row < patch.height; ++row) {
    std::memcpy(picture.row(y + row) + x * Picture::kChannels, patch.row(row), patch.row_bytes());
  }
}

}  // namespace profline::images

namespace profline::images::internal {
namespace {

constexpr std::size_t kPerBand = 12;
constexpr std::size_t kBands = kGlyphs / kPerBand;
constexpr std::size_t kCell = kGlyphColumns + 1;

/// The letters as they look, twelve side by side: seven rows to the base line, two below it.
constexpr std::string_view kDrawing[kBands * kGlyphRows] = {
    // clang-format off
    // space ! " # $ % & ' ( ) * +
    "        #    # #   # #    #   ##     ##     #      #   #      #        ",
    "        #    # #   # #   #### ##  # #  #    #     #     #   # # #   #  ",
    "        #         ##### # #      #   ##          #       #   ###    #  ",
    "        #          # #   ###    #   # # #        #       #  # # # #####",
    "        #         #####   # #  #    #  #         #       #    #     #  ",
    "                   # #  ####  #  ## #  #          #     #           #  ",
    "        #          # #    #      ##  ## #          #   #               ",
    "                                                                       ",
    "                                                                       ",
    // , - . / 0 1 2 3 4 5 6 7
    "                      #  ###    #    ###   ###     #  #####   ##  #####",
    "                      # #   #  ##   #   # #   #   ##  #      #        #",
    "                     #  #  ##   #       #     #  # #  ####  #        # ",
    "      #####         #   # # #   #      #    ##  #  #      # ####    #  ",
    "                   #    ##  #   #     #       # #####     # #   #   #  ",
    "  ##          ##  #     #   #   #    #    #   #    #  #   # #   #   #  ",
    "  ##          ##  #      ###   ###  #####  ###     #   ###   ###    #  ",
    "   #                                                                   ",
    "  #                                                                    ",
    // 8 9 : ; < = > ? @ A B C
    " ###   ###                 #         #     ###   ###   ###  ####   ### ",
    "#   # #   #  ##    ##     #           #   #   # #   # #   # #   # #   #",
    "#   # #   #  ##    ##    #    #####    #      # # ### #   # #   # #    ",
    " ###   ####             #               #    #  # # # ##### ####  #    ",
    "#   #     #  ##    ##    #    #####    #    #   # ### #   # #   # #    ",
    "#   #    #   ##    ##     #           #         #     #   # #   # #   #",
    " ###   ##           #      #         #      #    #### #   # ####   ### ",
    "                   #                                                   ",
    "                                                                       ",
    // D E F G H I J K L M N O
    "####  ##### #####  ###  #   #  ###    ### #   # #     #   # #   #  ### ",
    "#   # #     #     #   # #   #   #      #  #  #  #     ## ## ##  # #   #",
    "#   # #     #     #     #   #   #      #  # #   #     # # # ##  # #   #",
    "#   # ####  ####  #  ## #####   #      #  ##    #     # # # # # # #   #",
    "#   # #     #     #   # #   #   #      #  # #   #     #   # #  ## #   #",
    "#   # #     #     #   # #   #   #   #  #  #  #  #     #   # #  ## #   #",
    "####  ##### #      ###  #   #  ###   ##   #   # ##### #   # #   #  ### ",
    "                                                                       ",
    "                                                                       ",
    // P Q R S T U V W X Y Z [
    "####   ###  ####   #### ##### #   # #   # #   # #   # #   # #####  ### ",
    "#   # #   # #   # #       #   #   # #   # #   # #   # #   #     #  #   ",
    "#   # #   # #   # #       #   #   # #   # #   #  # #   # #     #   #   ",
    "####  #   # ####   ###    #   #   # #   # # # #   #     #     #    #   ",
    "#     # # # # #       #   #   #   #  # #  # # #  # #    #    #     #   ",
    "#     #  #  #  #      #   #   #   #  # #  ## ## #   #   #   #      #   ",
    "#      ## # #   # ####    #    ###    #   #   # #   #   #   #####  ### ",
    "                                                                       ",
    "                                                                       ",
    // backslash ] ^ _ ` a b c d e f g
    "#      ###    #          #          #               #          ##      ",
    "#        #   # #          #         #               #         #        ",
    " #       #  #   #              ###  ####   ###   ####  ###   ####  ####",
    "  #      #                        # #   # #   # #   # #   #   #   #   #",
    "   #     #                     #### #   # #     #   # #####   #   #   #",
    "    #    #                    #   # #   # #   # #   # #       #   #   #",
    "    #  ###                     #### ####   ###   ####  ###    #    ####",
    "                  #####                                               #",
    "                                                                   ### ",
    // h i j k l m n o p q r s
    "#       #      #  #      ##                                            ",
    "#                 #       #                                            ",
    "####   ##     ##  #  #    #   ## #  # ##   ###  ####   #### # ##   ####",
    "#   #   #      #  # #     #   # # # ##  # #   # #   # #   # ##  # #    ",
    "#   #   #      #  ##      #   # # # #   # #   # #   # #   # #      ### ",
    "#   #   #      #  # #     #   # # # #   # #   # #   # #   # #         #",
    "#   #  ###     #  #  #   ###  # # # #   #  ###  ####   #### #     #### ",
    "               #                                #         #            ",
    "             ##                                 #         #            ",
    // t u v w x y z { | } ~ (none)
    "  #                                         ##    #    ##          ### ",
    "  #                                        #      #      #         # # ",
    " #### #   # #   # #   # #   # #   # #####  #      #      #   #  #  # # ",
    "  #   #   # #   # # # #  # #  #   #    #  #       #       # # # #  # # ",
    "  #   #   #  # #  # # #   #   #   #   #    #      #      #  #  #   # # ",
    "  #   #  ##  # #  # # #  # #  #   #  #     #      #      #         # # ",
    "   ##  ## #   #    # #  #   #  #### #####   ##    #    ##          ### ",
    "                                  #                                    ",
    "                               ###                                     ",
    // clang-format on
};

constexpr auto kFont = [] {
  std::array<Glyph, kGlyphs> font{};
  for (std::size_t number = 0; number < kGlyphs; ++number) {
    for (std::size_t row = 0; row < kGlyphRows; ++row) {
      const std::string_view line = kDrawing[number / kPerBand * kGlyphRows + row];
      for (std::size_t column = 0; column < kGlyphColumns; ++column) {
        font[number][row][column] = line[number % kPerBand * kCell + column] == '#';
      }
    }
  }
  return font;
}();

}  // namespace

const Glyph& glyph(char32_t character) {
  const bool is_known = character >= kFirstGlyph && character < kFirstGlyph + kGlyphs;
  return kFont[is_known ? character - kFirstGlyph : kGlyphs - 1];
}

}  // namespace profline::images::internal

namespace profline::images {
namespace {

/// Black and white, to be drawn in any colour.
struct Mask {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<bool> dots;

  Mask(std::size_t w, std::size_t h) : width(w), height(h), dots(w * h) {}
  /// False outside.
  bool at(std::size_t x, std::size_t y) const {
    return x < width && y < height && dots[y * width + x];
  }
};

/// Twice the size, with rounded corners: the rule known as Scale2x. A quarter of a dot takes the
/// value of its two outer neighbours if those agree and lie on an edge.
Mask doubled(const Mask& mask) {
  Mask result(mask.width * 2, mask.height * 2);
  for (std::size_t y = 0; y < mask.height; ++y) {
    for (std::size_t x = 0; x < mask.width; ++x) {
      const bool self = mask.at(x, y);
      const bool up = mask.at(x, y - 1);  // wraps to far outside at the edge
      const bool down = mask.at(x, y + 1);
      const bool left = mask.at(x - 1, y);
      const bool right = mask.at(x + 1, y);
      const bool is_edge = up != down && left != right;
      const std::size_t corner = 2 * y * result.width + 2 * x;
      result.dots[corner] = is_edge && up == left ? left : self;
      result.dots[corner + 1] = is_edge && up == right ? right : self;
      result.dots[corner + result.width] = is_edge && down == left ? left : self;
      result.dots[corner + result.width + 1] = is_edge && down == right ? right : self;
    }
  }
  return result;
}

Mask magnified(const Mask& mask, std::size_t factor) {
  Mask result(mask.width * factor, mask.height * factor);
  for (std::size_t y = 0; y < result.height; ++y) {
    for (std::size_t x = 0; x < result.width; ++x) {
      result.dots[y * result.width + x] = mask.at(x / factor, y / factor);
    }
  }
  return result;
}

Mask glyph_mask(char32_t character, const TextStyle& style) {
  const internal::Glyph& glyph = internal::glyph(character);
  Mask mask(kGlyphWidth, kGlyphHeight);
  for (std::size_t y = 0; y < internal::kGlyphRows; ++y) {
    for (std::size_t x = 0; x < internal::kGlyphColumns; ++x) {
      mask.dots[y * mask.width + x] = glyph[y][x];
    }
  }
  std::size_t left = style.scale;
  for (; left % 2 == 0; left /= 2) mask = doubled(mask);
  if (left > 1) mask = magnified(mask, left);
  if (!style.bold) return mask;
  const std::size_t smear = std::max(style.scale / 2, 1U);
  Mask bold = mask;
  for (std::size_t y = 0; y < mask.height; ++y) {
    for (std::size_t x = 0; x < mask.width; ++x) {
      for (std::size_t shift = 1; shift <= smear; ++shift) {
        if (mask.at(x - shift, y)) bold.dots[y * mask.width + x] = true;
      }
    }
  }
  return bold;
}

void draw_mask(Picture& picture, std::int64_t left, std::int64_t top, const Mask& mask,
               Colour colour) {
  for (std::size_t row = 0; row < mask.height; ++row) {
    const std::int64_t y = top + static_cast<std::int64_t>(row);
    if (y < 0 || y >= picture.height) continue;
    for (std::size_t column = 0; column < mask.width; ++column) {
      const std::int64_t x = left + static_cast<std::int64_t>(column);
      if (x < 0 || x >= picture.width || !mask.at(column, row)) continue;
      std::uint8_t* const pixel = picture.row(static_cast<std::size_t>(y)) +
                                  static_cast<std::size_t>(x) * Picture::kChannels;
      pixel[0] = colour.red;
      pixel[1] = colour.green;
      pixel[2] = colour.blue;
    }
  }
}

std::uint8_t blended(std::uint8_t under, std::uint8_t over, std::uint8_t alpha) {
  return static_cast<std::uint8_t>((under * (255 - alpha) + over * alpha + 127) / 255);
}

/// The length of the character at the front of `text`; 1 for a byte that begins no character.
std::size_t character_bytes(std::string_view text) {
  for (std::size_t size = 1; size <= 4 && size <= text.size(); ++size) {
    if (!first_invalid_utf8(text.substr(0, size))) return size;
  }
  return 1;
}

/// Calls `use` with each character; with 0 for those that are not in the font.
template <typename Use>
void for_each_character(std::string_view text, const Use& use) {
  while (!text.empty()) {
    const std::size_t size = character_bytes(text);
    use(size == 1 && static_cast<unsigned char>(text[0]) < 0x80 ? static_cast<char32_t>(text[0])
                                                                : U'\0');
    text.remove_prefix(size);
  }
}

}  // namespace

void fill(Picture& picture, const Rectangle& area, Colour colour, std::uint8_t alpha) {
  const std::int64_t left = std::max<std::int64_t>(area.x, 0);
  const std::int64_t right = std::min<std::int64_t>(area.x + area.width, picture.width);
  const std::int64_t top = std::max<std::int64_t>(area.y, 0);
  const std::int64_t bottom = std::min<std::int64_t>(area.y + area.height, picture.height);
  for (std::int64_t y = top; y < bottom; ++y) {
    std::uint8_t* pixel = picture.row(static_cast<std::size_t>(y)) +
                          static_cast<std::size_t>(left) * Picture::kChannels;
    for (std::int64_t x = left; x < right; ++x, pixel += Picture::kChannels) {
      pixel[0] = blended(pixel[0], colour.red, alpha);
      pixel[1] = blended(pixel[1], colour.green, alpha);
      pixel[2] = blended(pixel[2], colour.blue, alpha);
    }
  }
}

void outline(Picture& picture, const Rectangle& area, Colour colour, std::int64_t thickness) {
  const std::int64_t across = std::min(thickness, area.height);
  const std::int64_t down = std::min(thickness, area.width);
  const std::int64_t right = area.x + area.width - down;
  const std::int64_t bottom = area.y + area.height - across;
  fill(picture, {area.x, area.y, area.width, across}, colour);
  fill(picture, {area.x, bottom, area.width, across}, colour);
  fill(picture, {area.x, area.y, down, area.height}, colour);
  fill(picture, {right, area.y, down, area.height}, colour);
}

std::int64_t text_width(std::string_view text, std::uint32_t scale) {
  std::int64_t characters = 0;
  for_each_character(text, [&](char32_t) { ++characters; });
  return characters * kGlyphWidth * scale;
}

void draw_text(Picture& picture, std::int64_t x, std::int64_t y, std::string_view text,
               const TextStyle& style) {
  PL_ASSERT(style.scale > 0, "letters have a size");
  for_each_character(text, [&](char32_t character) {
    if (x >= picture.width) return;
    draw_mask(picture, x, y, glyph_mask(character, style), style.colour);
    x += std::int64_t{kGlyphWidth} * style.scale;
  });
}

}  // namespace profline::images
