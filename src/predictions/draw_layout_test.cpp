#include "predictions/draw_layout.h"

#include <cmath>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace profline::predictions {
namespace {

using images::Colour;
using images::Picture;

Colour pixel(const Picture& picture, std::size_t x, std::size_t y) {
  const std::uint8_t* const at = picture.row(y) + x * Picture::kChannels;
  return {at[0], at[1], at[2]};
}

/// WCAG 2.1, against white.
double contrast(Colour colour) {
  const auto linear = [](std::uint8_t value) {
    const double v = value / 255.0;
    return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  };
  return 1.05 / (0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) +
                 0.0722 * linear(colour.blue) + 0.05);
}

TEST(LabelColour, IsStableDarkAndDifferentForUsualLabels) {
  std::set<std::tuple<int, int, int>> seen;
  const char* const labels[] = {"title",   "sub_title",     "text",     "image",  "image_caption",
                                "table",   "table_caption", "equation", "header", "footer",
                                "formula", "page_number",   "list",     "figure", "code"};
  for (const char* label : labels) {
    const Colour colour = label_colour(label);
    EXPECT_TRUE(seen.insert({colour.red, colour.green, colour.blue}).second) << label;
  }
  for (int i = 0; i < 500; ++i) EXPECT_GE(contrast(label_colour(std::to_string(i))), 4.5);
  EXPECT_EQ(label_colour("title"), (Colour{120, 20, 30}));
  EXPECT_EQ(label_colour("image"), (Colour{120, 100, 0}));
}

TEST(DrawLayout, OutlinesTintsAndLabels) {
  const Picture paper(images::Size{300, 200}, {255, 255, 255});
  Layout layout;
  layout.boxes = {{"text", {20, 50, 100, 60}, {}}, {"title", {150, 50, 100, 60}, {}}};
  const Picture drawn = draw_layout(paper, layout);
  const Colour text = label_colour("text");
  EXPECT_EQ(pixel(drawn, 20, 80), text);
  EXPECT_EQ(pixel(drawn, 21, 80), text);
  EXPECT_EQ(pixel(drawn, 119, 109), text);
  EXPECT_EQ(pixel(drawn, 60, 80), (Colour{223, 237, 237}));  // 32/255 of it on white
  EXPECT_EQ(pixel(drawn, 22, 80), (Colour{223, 237, 237}));
  EXPECT_EQ(pixel(drawn, 19, 80), (Colour{255, 255, 255}));
  EXPECT_EQ(pixel(drawn, 120, 80), (Colour{255, 255, 255}));
  EXPECT_EQ(pixel(drawn, 153, 80), label_colour("title"));  // twice as thick
  EXPECT_EQ(pixel(drawn, 20, 49), text);                    // its tag, above the box
  EXPECT_EQ(pixel(drawn, 20, 37), (Colour{255, 255, 255}));
  EXPECT_EQ(pixel(paper, 20, 80), (Colour{255, 255, 255}));
}

TEST(DrawLayout, KeepsTagsInThePicture) {
  const Picture paper(images::Size{60, 30}, {255, 255, 255});
  Layout layout;
  layout.boxes = {{std::string(500, 'w') + "\n\xff", {55, 0, 5, 5}, {}}, {"", {0, 0, 60, 30}, {}}};
  const Picture drawn = draw_layout(paper, layout);
  EXPECT_EQ(drawn.size(), paper.size());
  EXPECT_EQ(pixel(drawn, 20, 0), label_colour(layout.boxes[0].label));
}

TEST(DrawLayout, DrawsThickerOnLargePictures) {
  const Picture paper(images::Size{1654, 2339}, {255, 255, 255});
  Layout layout;
  layout.boxes = {{"text", {100, 100, 500, 500}, {}}};
  const Picture drawn = draw_layout(paper, layout);
  EXPECT_EQ(pixel(drawn, 103, 300), label_colour("text"));
  EXPECT_EQ(pixel(drawn, 104, 300), (Colour{223, 237, 237}));
}

}  // namespace
}  // namespace profline::predictions
