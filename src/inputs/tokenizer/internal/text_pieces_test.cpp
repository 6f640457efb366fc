#include "inputs/tokenizer/internal/text_pieces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::tokenizer::internal {
namespace {

using ::testing::ElementsAre;

/// The segments as text, tokens followed by their id.
std::vector<std::string> cut(std::vector<AddedToken> tokens, std::string_view text,
                             bool normalized = false) {
  const auto added = AddedTokens::build(std::move(tokens));
  RegexScanner scanner;
  const auto segments = added->cut(text, normalized, scanner);
  std::vector<std::string> out;
  for (const Segment& segment : *segments) {
    out.push_back(std::string(segment.text) +
                  (segment.token != nullptr ? "=" + std::to_string(segment.token->id) : ""));
  }
  return out;
}

AddedToken token(TokenId id, std::string content) {
  return {.id = id, .content = std::move(content), .normalized = false};
}

TEST(AddedTokens, AreCutOutLeftmostAndLongest) {
  const std::vector<AddedToken> tokens = {token(1, "<a>"), token(2, "<a><b>"), token(3, "b")};
  EXPECT_THAT(cut(tokens, "x<a><b>y<a>b<a"),
              ElementsAre("x", "<a><b>=2", "y", "<a>=1", "b=3", "<a"));
  EXPECT_THAT(cut(tokens, ""), ElementsAre());
  EXPECT_THAT(cut({}, "text"), ElementsAre("text"));
}

TEST(AddedTokens, TakeWhiteSpaceAlong) {
  AddedToken left = token(1, "<l>");
  left.lstrip = true;
  AddedToken right = token(2, "<r>");
  right.rstrip = true;
  EXPECT_THAT(cut({left, right}, "a \u3000<l> b<r>\n c"),
              ElementsAre("a", " \u3000<l>=1", " b", "<r>\n =2", "c"));
  EXPECT_THAT(cut({left, right}, "<r> <l>"), ElementsAre("<r> =2", "<l>=1"));
}

TEST(AddedTokens, MayStandAloneOnly) {
  AddedToken word = token(1, "the");
  word.single_word = true;
  EXPECT_THAT(cut({word}, "the other, the-é the"),
              ElementsAre("the=1", " other, ", "the=1", "-é ", "the=1"));
  EXPECT_THAT(cut({word}, "éthe the9 _the"), ElementsAre("éthe the9 _the"));
}

TEST(AddedTokens, ComeInTwoRounds) {
  AddedToken late = token(1, "ab");
  late.normalized = true;
  const std::vector<AddedToken> tokens = {late, token(2, "bc")};
  EXPECT_THAT(cut(tokens, "abc"), ElementsAre("a", "bc=2"));
  EXPECT_THAT(cut(tokens, "abc", true), ElementsAre("ab=1", "c"));
}

using Pieces = std::vector<std::string_view>;

Pieces pieces_of(const Split& split, std::string_view text) {
  RegexScanner scanner;
  Pieces pieces;
  EXPECT_TRUE(split_text(split, text, scanner, pieces));
  return pieces;
}

// The example of the official documentation, with its results.
TEST(Split, TreatsMatchesAsAsked) {
  struct Case {
    Behavior behavior;
    bool invert;
    Pieces pieces;
  };
  const Case cases[] = {
      {Behavior::Removed, false, {"the", "final", "countdown"}},
      {Behavior::Isolated, false, {"the", "-", "final", "-", "-", "countdown"}},
      {Behavior::MergedWithPrevious, false, {"the-", "final-", "-", "countdown"}},
      {Behavior::MergedWithNext, false, {"the", "-final", "-", "-countdown"}},
      {Behavior::Contiguous, false, {"the", "-", "final", "--", "countdown"}},
      {Behavior::Removed, true, {"-", "-", "-"}},
      {Behavior::Isolated, true, {"the", "-", "final", "-", "-", "countdown"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(static_cast<int>(c.behavior));
    const Split literal{std::string("-"), c.behavior, c.invert};
    const Split regex{std::move(Regex::compile("-")).value(), c.behavior, c.invert};
    EXPECT_EQ(pieces_of(literal, "the-final--countdown"), c.pieces);
    EXPECT_EQ(pieces_of(regex, "the-final--countdown"), c.pieces);
  }
}

TEST(Split, NeverMakesAnEmptyPiece) {
  const Split split{std::move(Regex::compile("x*")).value(), Behavior::Isolated, false};
  EXPECT_THAT(pieces_of(split, "axb"), ElementsAre("a", "x", "b"));
  const Split nothing{std::string(), Behavior::Isolated, false};
  EXPECT_THAT(pieces_of(nothing, "ab"), ElementsAre("ab"));
}

}  // namespace
}  // namespace profline::tokenizer::internal
