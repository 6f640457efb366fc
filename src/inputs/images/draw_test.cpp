#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "inputs/images/internal/parts.h"
#include "inputs/images/picture.h"

namespace profline::images {
namespace {

constexpr Colour kBlack{};

/// Dots of one channel as text.
std::string art(const Picture& picture) {
  std::string text;
  for (std::size_t y = 0; y < picture.height; ++y) {
    for (std::size_t x = 0; x < picture.width; ++x) {
      text += picture.row(y)[x * Picture::kChannels] == 0 ? '#' : '.';
    }
    text += '\n';
  }
  return text;
}

Picture paper(Size size) {
  return Picture(size, {255, 255, 255});
}

TEST(DrawText, DrawsLettersInCells) {
  Picture picture = paper({12, 10});
  draw_text(picture, 0, 0, "Ag", {.colour = kBlack});
  EXPECT_EQ(art(picture),
            ".###........\n"
            "#...#.......\n"
            "#...#..####.\n"
            "#####.#...#.\n"
            "#...#.#...#.\n"
            "#...#.#...#.\n"
            "#...#..####.\n"
            "..........#.\n"
            ".......###..\n"
            "............\n");
  EXPECT_EQ(text_width("Ag", 1), 12);
  EXPECT_EQ(text_width("Ag", 3), 36);
}

TEST(DrawText, RoundsCornersWhenDoubled) {
  Picture picture = paper({12, 8});
  draw_text(picture, 0, 0, "o", {.colour = kBlack, .scale = 2});
  EXPECT_EQ(art(picture),
            "............\n"
            "............\n"
            "............\n"
            "............\n"
            "..######....\n"
            ".########...\n"
            "###....###..\n"
            "##......##..\n");
}

TEST(DrawText, CutsOffWhatLiesOutside) {
  Picture picture = paper({4, 4});
  draw_text(picture, -3, -3, "MM", {.colour = kBlack});
  draw_text(picture, 100, 2, "M", {.colour = kBlack});
  EXPECT_EQ(picture.size(), (Size{4, 4}));
  EXPECT_EQ(art(picture), ".#.#\n.#.#\n.#.#\n.#.#\n");
}

TEST(DrawText, ShowsOtherCharactersAsOneBoxEach) {
  const auto drawn = [](std::string_view text) {
    Picture picture = paper({24, 10});
    draw_text(picture, 0, 0, text, {.colour = kBlack});
    return art(picture);
  };
  EXPECT_EQ(drawn("\xc3\xa9x"), drawn("\x7fx"));          // two bytes, one character
  EXPECT_EQ(drawn("\xf0\x9f\x98\x80x"), drawn("\x7fx"));  // four
  EXPECT_EQ(drawn("\xff\xfex"), drawn("\x7f\x7fx"));      // not UTF-8
  EXPECT_EQ(drawn("\tx"), drawn("\x7fx"));
  EXPECT_EQ(text_width("\xc3\xa9x", 1), 12);
}

TEST(Font, HasAGlyphOfItsOwnForEachCharacter) {
  for (char32_t a = U'!'; a < U'\x7f'; ++a) {
    for (char32_t b = U'!'; b < a; ++b) {
      EXPECT_NE(internal::glyph(a), internal::glyph(b))
          << static_cast<char>(a) << static_cast<char>(b);
    }
  }
}

TEST(Fill, BlendsAndCutsOff) {
  Picture picture = paper({3, 1});
  fill(picture, {-5, -5, 7, 20}, {0, 100, 255}, 51);  // a fifth
  EXPECT_EQ(picture.rgb, (std::vector<std::uint8_t>{204, 224, 255, 204, 224, 255, 255, 255, 255}));
  fill(picture, {0, 0, 3, 1}, {9, 9, 9}, 0);
  EXPECT_EQ(picture.rgb[0], 204);
  fill(picture, {2, 0, -1, 1}, {9, 9, 9});
  EXPECT_EQ(picture.rgb[6], 255);
}

TEST(Outline, GrowsInwards) {
  Picture picture = paper({7, 5});
  outline(picture, {1, 0, 6, 5}, kBlack, 2);
  EXPECT_EQ(art(picture), ".######\n.######\n.##..##\n.######\n.######\n");
  picture = paper({3, 3});
  outline(picture, {1, 1, 1, 1}, kBlack, 4);  // no larger than its area
  EXPECT_EQ(art(picture), "...\n.#.\n...\n");
}

}  // namespace
}  // namespace profline::images
