#include "base/strings.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace profline {
namespace {

using Views = std::vector<std::string_view>;
using Strings = std::vector<std::string>;

TEST(Strings, SplitKeepsEmptyParts) {
  EXPECT_EQ(split("a,,b,", ','), (Views{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), (Views{""}));
}

TEST(Strings, LinesTakeEitherLineEnd) {
  EXPECT_EQ(lines("a\r\nb\n\nc"), (Views{"a", "b", "", "c"}));
  EXPECT_EQ(lines("a\n"), (Views{"a"}));
  EXPECT_TRUE(lines("").empty());
}

TEST(Strings, TrimTakesBlanksFromBothEnds) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
}

TEST(Strings, JoinPutsTheSeparatorBetween) {
  EXPECT_EQ(join(Strings{"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(join(Strings{}, ", "), "");
}

TEST(Strings, CapitalisesTheFirstLetter) {
  EXPECT_EQ(capitalised("decode steps"), "Decode steps");
  EXPECT_EQ(capitalised("Decode"), "Decode");
  EXPECT_EQ(capitalised("\u00e9tape"), "\u00e9tape");
  EXPECT_EQ(capitalised(""), "");
}

TEST(Strings, FindsTheFirstByteThatIsNotUtf8) {
  struct Case {
    std::string_view name, text;
    std::optional<std::size_t> at;
  };
  const Case cases[] = {
      {"plain", "abc", std::nullopt},
      {"two, three and four bytes", "é€😀", std::nullopt},
      {"lone continuation", "ab\x80", 2},
      {"overlong two", "\xC0\x80", 0},
      {"overlong three", "\xE0\x80\x80", 0},
      {"surrogate", "a\xED\xA0\x80", 1},
      {"above U+10FFFF", "\xF4\x90\x80\x80", 0},
      {"cut short", "é\xE2\x82", 2},
      {"NUL is valid", std::string_view("a\0b", 3), std::nullopt},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(first_invalid_utf8(c.text), c.at);
  }
}

TEST(Strings, NearestFindsWhatATypingErrorExplains) {
  const Strings keys = {"timeout", "trace", "capture_range", "enable"};
  EXPECT_EQ(nearest("timout", keys), Strings{"timeout"});
  EXPECT_EQ(nearest("tarce", keys), Strings{"trace"});
  EXPECT_EQ(nearest("Enable", keys), Strings{"enable"});
  EXPECT_EQ(nearest("captrue_rnage", keys), Strings{"capture_range"});
  EXPECT_TRUE(nearest("zzz", keys).empty());
  EXPECT_TRUE(nearest("", keys).empty());
  EXPECT_TRUE(nearest(std::string(100000, 'a'), keys).empty());
}

TEST(Strings, DidYouMeanIsEmptyWhenNothingIsClose) {
  const Strings keys = {"timeout"};
  EXPECT_EQ(did_you_mean("timout", keys), " (did you mean 'timeout'?)");
  EXPECT_EQ(did_you_mean("frequency", keys), "");
}

TEST(NamePattern, MatchesAsFnmatch) {
  struct Case {
    std::string_view pattern, name;
    bool matches;
  };
  constexpr Case kCases[] = {
      {"", "", true},         {"*", "", true},          {"a*", "abc", true},
      {"*c", "abc", true},    {"a*c*e", "abcde", true}, {"a*c*e", "abcdf", false},
      {"*", "a/b.c", true},   {"?", "é", true},         {"??", "é", false},
      {"a?c", "abc", true},   {"[ab]x", "bx", true},    {"[ab]x", "cx", false},
      {"[a-c]", "b", true},   {"[c-a]", "b", false},    {"[a-]", "-", true},
      {"[!a-c]", "d", true},  {"[!a-c]", "b", false},   {"[]]", "]", true},
      {"[!]]", "]", false},   {"[é-ü]", "ö", true},     {"[", "[", true},
      {"[a", "[a", true},     {"[]", "[]", true},       {"\\*", "\\x", true},
      {"A", "a", false},      {"ab", "abc", false},     {"abc", "ab", false},
      {"**b**", "abc", true},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(matches_pattern(c.name, c.pattern), c.matches) << c.pattern << " and " << c.name;
  }
}

TEST(NamePattern, ManyStarsDoNotMultiply) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(matches_pattern(std::string(2000, 'a') + "b", pattern));
}

TEST(MatchesWildcards, TakesBracketsAsCharacters) {
  EXPECT_TRUE(matches_wildcards("layer[3].attention", "layer[3]*"));
  EXPECT_TRUE(matches_wildcards("größe", "gr??e"));
  EXPECT_FALSE(matches_wildcards("layer3", "layer[3]"));
  EXPECT_FALSE(matches_wildcards("layer", "?layer"));
}

TEST(WholeNumber, IsDigitsWithinTheType) {
  EXPECT_EQ(whole_number<std::uint16_t>("65535"), 65535);
  EXPECT_EQ(whole_number<std::uint16_t>("007"), 7);
  for (const char* text : {"", "65536", "-1", "+1", " 1", "1 ", "1.0", "0x1"}) {
    EXPECT_EQ(whole_number<std::uint16_t>(text), std::nullopt) << text;
  }
}

TEST(Lower, ChangesAsciiAlone) {
  EXPECT_EQ(lower("HF_Token Ä9"), "hf_token Ä9");
}

}  // namespace
}  // namespace profline
