#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inputs/tokenizer/internal/text_pieces.h"

namespace profline::tokenizer::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> found(std::string_view pattern, std::string_view text) {
  const auto regex = Regex::compile(pattern);
  if (!regex) return {regex.error().to_string()};
  RegexScanner scanner;
  std::vector<Match> matches;
  const auto done = scanner.find_all(*regex, text, matches);
  if (!done) return {done.error().to_string()};
  std::vector<std::string> out;
  out.reserve(matches.size());
  for (const Match& match : matches) {
    out.emplace_back(text.substr(match.begin, match.end - match.begin));
  }
  return out;
}

TEST(Regex, KnowsUnicode) {
  EXPECT_THAT(found(R"(\p{L}+)", "naïve 日本 Ωx1"), ElementsAre("naïve", "日本", "Ωx"));
  EXPECT_THAT(found(R"(\p{N}{1,3})", "12345 ½ ٣"), ElementsAre("123", "45", "½", "٣"));
  EXPECT_THAT(found("[一-龥]+", "a漢字b"), ElementsAre("漢字"));
  EXPECT_THAT(found(R"(\d)", "1٣½"), ElementsAre("1", "٣"));
}

TEST(Regex, FindsEmptyMatchesOnceAPlace) {
  EXPECT_THAT(found("x*", "axxé"), ElementsAre("", "xx", ""));
  EXPECT_THAT(found("", "é"), ElementsAre("", ""));
  EXPECT_THAT(found("y", ""), IsEmpty());
}

// Where plain PCRE2 would find something else.
TEST(Regex, ReadsPatternsAsOnigurumaDoes) {
  EXPECT_THAT(found(R"(\s)", "a\u180Eb\u0085c\u3000d"), ElementsAre("\u0085", "\u3000"));
  EXPECT_THAT(found(R"([^\s]+)", "a\u180Eb c"), ElementsAre("a\u180Eb", "c"));
  EXPECT_THAT(found(R"(\S+)", "a\u00A0b"), ElementsAre("a", "b"));
  EXPECT_THAT(found(R"(\w+)", "e\u0301a_b-c"), ElementsAre("e\u0301a_b", "c"));
  EXPECT_THAT(found(R"([\w-]+)", "e\u0301a_b-c"), ElementsAre("e\u0301a_b-c"));
  EXPECT_THAT(found(R"(\W)", "a b"), ElementsAre(" "));
  EXPECT_THAT(found(R"(\h+)", "xbeef\t"), ElementsAre("beef"));
  EXPECT_THAT(found("^.", "ab\ncd"), ElementsAre("a", "c"));
  EXPECT_THAT(found(".$", "ab\r\ncd"), ElementsAre("\r", "d"));
  EXPECT_THAT(found("(?m:a.b)", "a\nb"), ElementsAre("a\nb"));
  EXPECT_THAT(found("a{,2}b", "aaab"), ElementsAre("aab"));
  EXPECT_THAT(found(R"(\u00e9+)", "ééa"), ElementsAre("éé"));
  EXPECT_THAT(found(R"(\be\u0301)", "xe\u0301 e\u0301"), ElementsAre("e\u0301"));
  EXPECT_THAT(found(R"(\Bb)", "ab b"), ElementsAre("b"));
  EXPECT_THAT(found("(?i:'s)", "'S"), ElementsAre("'S"));
  EXPECT_THAT(found("[]a]+", "a]b"), ElementsAre("a]"));
  EXPECT_THAT(found("[^]a]+", "a]b"), ElementsAre("b"));
  EXPECT_THAT(found("[[:alpha:]é]+", "aéb1"), ElementsAre("aéb"));
  EXPECT_THAT(found("[[:alpha:]]+", "\u05D0\u05B0\u05D1"), ElementsAre("\u05D0\u05B0\u05D1"));
  EXPECT_THAT(found(R"(\w+)", "a² x"), ElementsAre("a²", "x"));
  EXPECT_THAT(found(R"([\w]+)", "a² x"), ElementsAre("a", "x"));
  EXPECT_THAT(found("{a}", "{a}"), ElementsAre("{a}"));
}

TEST(Regex, RefusesWhatItWouldReadDifferently) {
  struct Case {
    std::string_view pattern, message;
  };
  constexpr Case kCases[] = {
      {"[a[bc]]", "pattern with a class within a class is not supported"},
      {"[a-z&&[^x]]", "pattern with '&&' within a class is not supported"},
      {R"(\p{N}{1,3}+)", "pattern with '{1,3}+' is not supported"},
      {R"([\W])", "pattern with '\\W' within a class is not supported"},
      {"[[:punct:]]", "pattern with '[:punct:]' is not supported"},
      {R"(\Qa\E)", "pattern with '\\Q' is not supported"},
      {"(*UTF)a", "pattern with '(*' is not supported"},
      {"(?s)a", "pattern with '(?s' is not supported"},
      {R"(\u12)", "pattern has '\\u' without four hexadecimal digits"},
      {"a\\", "pattern ends in the middle of an escape"},
      {"(a", "pattern is not valid: missing closing parenthesis (after '(a')"},
      {R"(\p{Nonsense})",
       "pattern is not valid: unknown property after \\P or \\p (after "
       "'\\p{Nonsense}')"},
  };
  for (const Case& c : kCases) {
    EXPECT_THAT(found(c.pattern, ""), ElementsAre(c.message)) << c.pattern;
  }
}

TEST(Regex, GivesUpOnAPatternThatTakesForever) {
  const auto out = found("(a|aa)+$", std::string(60, 'a') + "!");
  EXPECT_THAT(out, ElementsAre("pattern takes too much work on this text: match limit exceeded"));
  EXPECT_THAT(found("(?:(((((((((((a{99}){99}){99}){99}){99}){99}){99}){99}){99}){99}){99})", "a"),
              ElementsAre(::testing::StartsWith("pattern is not valid: ")));
}

// More than the JIT code's own stack holds: a larger one, then the interpreter takes over.
TEST(Regex, MatchesLongTextWithPatternsThatRemember) {
  for (const std::size_t size : {1U << 12, 1U << 16, 1U << 18}) {
    const auto out = found("(?:a|b)+", std::string(size, 'a'));
    ASSERT_EQ(out.size(), 1U);
    EXPECT_EQ(out[0].size(), size);
  }
}

TEST(Regex, MatchesTextOfMegabytesWithPatternsOfTokenizers) {
  const auto out = found(R"( ?[\p{P}\p{S}]+[\r\n]*|[\p{L}\p{M}]+)", std::string(4 << 20, 'a'));
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].size(), 4U << 20);
}

}  // namespace
}  // namespace profline::tokenizer::internal
