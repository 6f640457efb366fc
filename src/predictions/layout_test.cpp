#include "predictions/layout.h"

#include <string>

#include <gtest/gtest.h>

namespace profline::predictions {
namespace {

constexpr images::Size kPage{1000, 500};

std::string span(std::string_view label, std::string_view boxes) {
  return "<|ref|>" + std::string(label) + "<|/ref|><|det|>" + std::string(boxes) + "<|/det|>";
}

TEST(LayOut, CutsThousandthsToPixels) {
  const Layout layout = lay_out(span("a", "[[0, 0, 999, 999], [1, 1, 500, 500.5]]"), kPage);
  EXPECT_EQ(layout.boxes,
            (std::vector<PlacedBox>{{"a", {0, 0, 1000, 500}, {}}, {"a", {1, 0, 499, 250}, {}}}));
  EXPECT_TRUE(layout.skipped.empty());
}

TEST(LayOut, SkipsAndTellsOfBoxesWithoutPixels) {
  const Layout layout = lay_out(
      span("a", "[[5, 5, 5, 9], [9, 5, 5, 9], [0, 0, 1, 1], [0, 0, 2, 2]]") + span("b\n", "[[1]]"),
      kPage);
  EXPECT_EQ(layout.boxes, (std::vector<PlacedBox>{{"a", {0, 0, 2, 1}, {}}}));
  EXPECT_EQ(layout.skipped,
            (std::vector<std::string>{"span 1 'a': box 1 is empty", "span 1 'a': box 2 is empty",
                                      "span 1 'a': box 3 is empty",
                                      "span 2 'b\\n': expected ',' at byte 4"}));
}

TEST(LayOut, NumbersImagesByBox) {
  const Layout layout =
      lay_out("x\n" + span("image", "[[0,0,9,9],[0,0,20,20]]") + "y" +
                  span("image", "[[7,7,7,7],[0,0,30,30]]") + span("image", "nonsense") + "z",
              kPage);
  ASSERT_EQ(layout.boxes.size(), 3U);
  EXPECT_EQ(layout.boxes[0].image, 0U);
  EXPECT_EQ(layout.boxes[1].image, 1U);
  EXPECT_EQ(layout.boxes[2].image, 3U);  // the empty box keeps its number
  EXPECT_EQ(layout.markdown, "x\n![](images/0.jpg)\n![](images/1.jpg)\ny![](images/3.jpg)\nz");
  EXPECT_EQ(layout.skipped, (std::vector<std::string>{"span 2 'image': box 1 is empty",
                                                      "span 3 'image': expected '[' at byte 1"}));
}

TEST(LayOut, TakesOtherSpansOutOfTheMarkdown) {
  const std::string formula = "a \\coloneqq b \\eqqcolon c \\coloneqq";
  EXPECT_EQ(lay_out(formula, kPage).markdown, formula);
  EXPECT_EQ(lay_out(formula + span("image", "[[0,0,9,9]]"), kPage).markdown,
            formula + "![](images/0.jpg)\n");
  EXPECT_EQ(lay_out(span("text", "[[0,0,9,9]]") + "\n" + formula, kPage).markdown,
            "\na := b =: c :=");
  EXPECT_EQ(lay_out("a" + span("text", "bad") + "b", kPage).markdown, "ab");
  EXPECT_EQ(lay_out("", kPage).markdown, "");
}

}  // namespace
}  // namespace profline::predictions
