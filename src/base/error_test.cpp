#include "base/error.h"

#include <gtest/gtest.h>

namespace profline {
namespace {

TEST(Position, PrintsWhatIsKnownOfIt) {
  EXPECT_EQ((Position{"conf/a.yaml", 4, 3}).to_string(), "conf/a.yaml:4:3");
  EXPECT_EQ((Position{"conf/a.yaml", 4, 0}).to_string(), "conf/a.yaml:4");
  EXPECT_EQ((Position{"conf/a.yaml", 0, 0}).to_string(), "conf/a.yaml");
  EXPECT_EQ((Position{"", 4, 3}).to_string(), "line 4, column 3");
  EXPECT_EQ((Position{"", 4, 0}).to_string(), "line 4");
  EXPECT_EQ((Position{}).to_string(), "");
}

TEST(Error, PrintsActivitiesOutermostFirstThenPositionThenMessage) {
  const Error error = Error(ErrorKind::Parse, "no column 'Total Time (ns)'", {"", 1, 0})
                          .during("reading kernels.csv")
                          .during("stage timeline");
  EXPECT_EQ(error.to_string(),
            "stage timeline: reading kernels.csv: line 1: no column 'Total Time (ns)'");
}

TEST(Error, LeavesOutAPositionOfWhichNothingIsKnown) {
  EXPECT_EQ(Error(ErrorKind::Config, "wrong", Position{}).to_string(), "wrong");
}

TEST(Error, ShowsTheLineWithACaretUnderTheColumn) {
  const Error error =
      Error(ErrorKind::Parse, "unexpected '='", {"override 1", 1, 5}).with_excerpt("a.b.==1", 5);
  EXPECT_EQ(error.to_string(),
            "override 1:1:5: unexpected '='\n"
            "  a.b.==1\n"
            "      ^");
}

TEST(Error, CountsTheCaretInCharactersNotBytes) {
  const Error error = Error(ErrorKind::Parse, "x").with_excerpt("größe: ]", 8);
  EXPECT_EQ(error.to_string(), "x\n  größe: ]\n         ^");
}

TEST(Error, CutsALongLineAroundTheCaret) {
  const std::string line = std::string(500, 'a') + "!" + std::string(500, 'b');
  const std::string text = Error(ErrorKind::Parse, "x").with_excerpt(line, 501).to_string();
  EXPECT_EQ(text, "x\n  …" + std::string(64, 'a') + "!" + std::string(31, 'b') + "\n  " +
                      std::string(65, ' ') + "^");
}

TEST(Error, ShowsTabsAndControlCharactersAsSpaces) {
  EXPECT_EQ(Error(ErrorKind::Parse, "x").with_excerpt("a:\t\x1b[1m", 3).to_string(),
            "x\n  a:  [1m\n    ^");
}

TEST(Error, PutsACaretBeyondTheEndJustBehindTheLine) {
  EXPECT_EQ(Error(ErrorKind::Parse, "x").with_excerpt("ab", 9).to_string(), "x\n  ab\n    ^");
}

TEST(Error, TellsSeveralProblemsTogether) {
  const Error two = Error::all({Error(ErrorKind::Config, "first", {"a.yaml", 1, 1}),
                                Error(ErrorKind::NotFound, "second", {"a.yaml", 2, 1})})
                        .during("composing");
  EXPECT_EQ(two.kind(), ErrorKind::Config);
  EXPECT_EQ(two.to_string(), "composing: a.yaml:1:1: first\ncomposing: a.yaml:2:1: second");
  EXPECT_EQ(two.each().size(), 2U);
  EXPECT_EQ(Error::all({two, Error(ErrorKind::Io, "third")}).each().size(), 3U);
}

TEST(Error, CarriesAStableReasonForPrograms) {
  EXPECT_EQ(Error(ErrorKind::Config, "x").reason(), "");
  EXPECT_EQ(Error(ErrorKind::Config, "x").with_reason("key_not_in_config").reason(),
            "key_not_in_config");
}

TEST(ExitCode, FollowsTheKind) {
  EXPECT_EQ(exit_code(ErrorKind::Config), ExitCode::BadInput);
  EXPECT_EQ(exit_code(ErrorKind::Parse), ExitCode::BadInput);
  EXPECT_EQ(exit_code(ErrorKind::NotFound), ExitCode::Absent);
  EXPECT_EQ(exit_code(ErrorKind::Tool), ExitCode::Failed);
  EXPECT_EQ(exit_code(ErrorKind::Io), ExitCode::Failed);
  EXPECT_EQ(exit_code(ErrorKind::Cancelled), ExitCode::Interrupted);
}

}  // namespace
}  // namespace profline
