#include "config/internal/name_pattern.h"

#include <string>

#include <gtest/gtest.h>

namespace profline::config {
namespace {

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

}  // namespace
}  // namespace profline::config
