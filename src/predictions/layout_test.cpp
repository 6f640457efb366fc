#include "predictions/internal/layout.h"

#include <cmath>
#include <set>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

namespace profline::predictions {
namespace {

std::string span(std::string_view label, std::string_view boxes) {
  return "<|ref|>" + std::string(label) + "<|/ref|><|det|>" + std::string(boxes) + "<|/det|>";
}

TEST(ParseBoxes, TakesListsOfFourNumbers) {
  EXPECT_EQ(parse_boxes("[[10, 20, 300, 400]]").value(), (std::vector<Box>{{10, 20, 300, 400}}));
  EXPECT_EQ(parse_boxes(" [\n[0,0,999,999] ,[ 1.5,2.25,3,4 ]\t] \r\n").value(),
            (std::vector<Box>{{0, 0, 999, 999}, {1.5, 2.25, 3, 4}}));
}

TEST(ParseBoxes, RefusesEverythingElse) {
  constexpr struct {
    std::string_view text, message;
  } kCases[] = {
      {"", "expected '[' at byte 1"},
      {"[]", "expected '[' at byte 2"},
      {"[[]]", "expected a number at byte 3"},
      {"[1, 2, 3, 4]", "expected '[' at byte 2"},
      {"[[1, 2, 3]]", "expected ',' at byte 10"},
      {"[[1, 2, 3, 4, 5]]", "expected ']' at byte 13"},
      {"[[1, 2, 3, 4]", "expected ']' at byte 14"},
      {"[[1, 2, 3, 4],]", "expected '[' at byte 15"},
      {"[[1, 2, 3, 4]] + 1", "expected nothing at byte 16"},
      {"[[1, 2, 3, 4]][[1, 2, 3, 4]]", "expected nothing at byte 15"},
      {"[[-1, 2, 3, 4]]", "expected a number at byte 3"},
      {"[[+1, 2, 3, 4]]", "expected a number at byte 3"},
      {"[[.5, 2, 3, 4]]", "expected a number at byte 3"},
      {"[[1, nan, 3, 4]]", "expected a number at byte 6"},
      {"[[1, inf, 3, 4]]", "expected a number at byte 6"},
      {"[[1e2, 2, 3, 4]]", "expected ',' at byte 4"},
      {"[[0x10, 2, 3, 4]]", "expected ',' at byte 4"},
      {"[[1, 2, 3, 1000]]", "expected a number up to 999 at byte 12"},
      {"[[1, 2, 3, 99999999999999999999999]]", "expected a number up to 999 at byte 12"},
      {"[[1, 2, 3, (4)]]", "expected a number at byte 12"},
      {"__import__('os')", "expected '[' at byte 1"},
      {"[[[1, 2, 3, 4]]]", "expected a number at byte 3"},
  };
  for (const auto& c : kCases) {
    const auto boxes = parse_boxes(c.text);
    ASSERT_FALSE(boxes) << c.text;
    EXPECT_EQ(boxes.error().to_string(), c.message) << c.text;
  }
  EXPECT_FALSE(parse_boxes(std::string(100'000, '[')));
  EXPECT_FALSE(parse_boxes("[[" + std::string(100'000, '9') + ",1,2,3]]"));
}

TEST(ParseSpans, FindsThemLeftToRight) {
  const std::string first = span("title", "[[1, 2, 3, 4]]");
  const std::string second = span("image", "[[5, 6, 7, 8], [9, 10, 11, 12]]");
  const std::string text = "a\n" + first + "b" + second;
  EXPECT_EQ(parse_spans(text),
            (std::vector<Span>{
                {2, 2 + first.size(), "title", {{1, 2, 3, 4}}, ""},
                {3 + first.size(), text.size(), "image", {{5, 6, 7, 8}, {9, 10, 11, 12}}, ""}}));
}

TEST(ParseSpans, ReachOverLinesAndKeepOddLabels) {
  const auto spans =
      parse_spans(span("two\nlines", "[[1,2,\n3,4]]") + span("", "[[1,2,3,4]]") +
                  span("a<|/ref|>b", "[[1,2,3,4]]") + span("x<|ref|>image", "[[1,2,3,4]]"));
  ASSERT_EQ(spans.size(), 4U);
  EXPECT_EQ(spans[0].label, "two\nlines");
  EXPECT_EQ(spans[0].boxes.size(), 1U);
  EXPECT_EQ(spans[1].label, "");
  EXPECT_EQ(spans[2].label, "a<|/ref|>b");
  EXPECT_EQ(spans[3].label, "x<|ref|>image");
}

TEST(ParseSpans, KeepWhatTheirBoxesSayWrong) {
  const auto spans = parse_spans(span("a", "[[1,2]]") + span("b", "[[1,2,3,4]]"));
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0].problem, "expected ',' at byte 6");
  EXPECT_TRUE(spans[0].boxes.empty());
  EXPECT_EQ(spans[1].problem, "");
}

TEST(ParseSpans, LeaveAloneWhatIsIncomplete) {
  for (const std::string text :
       {"", "plain", "<|ref|>a", "<|ref|>a<|/ref|>", "<|ref|>a<|/ref|> <|det|>[[1,2,3,4]]<|/det|>",
        "<|ref|>a<|/ref|><|det|>[[1,2,3,4]]", "<|det|>[[1,2,3,4]]<|/det|>"}) {
    EXPECT_TRUE(parse_spans(text).empty()) << text;
  }
}

TEST(ParseSpans, TakesLinearTime) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "<|ref|>";
  EXPECT_TRUE(parse_spans(text).empty());
  text.clear();
  for (int i = 0; i < 200'000; ++i) text += "<|ref|><|/ref|><|det|>";
  EXPECT_TRUE(parse_spans(text).empty());
}

constexpr images::Size kPage{1000, 500};

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
