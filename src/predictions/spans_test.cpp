#include "predictions/spans.h"

#include <string>

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

}  // namespace
}  // namespace profline::predictions
