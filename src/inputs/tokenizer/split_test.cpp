#include "inputs/tokenizer/internal/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::tokenizer::internal {
namespace {

using ::testing::ElementsAre;

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
