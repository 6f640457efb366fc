#include "inputs/images/internal/font.h"

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
