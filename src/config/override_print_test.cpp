#include "config/override_print.h"

#include <gtest/gtest.h>

#include "config/override_test_text.h"

namespace profline::config {
namespace {

std::string printed(std::string_view text) {
  const auto override = parse_override(text);
  if (!override) return override.error().to_string();
  const auto out = print_value(*override->value);
  return out ? *out : std::string(out.error().reason()) + ": " + out.error().to_string();
}

TEST(OverridePrint, WritesAsHydraWrites) {
  struct Case {
    std::string_view text, printed;
  };
  constexpr Case kCases[] = {
      {"k= [ 1 , a b , 'c d' , {x : null, 2: TRUE} ]", "[1,a\\ b,'c d',{x:null,2:True}]"},
      {"k=", ""},
      {"k=1e3", "1000.0"},
      {"k=-0.0", "-0.0"},
      {"k=99999999999999999999", "99999999999999999999"},
      {"k=${a:b}", "$\\{a\\:b\\}"},
      {"k=\\\\\\(\\)\\[\\]\\{\\}\\:\\=\\,\\ \\\t", "\\\\\\(\\)\\[\\]\\{\\}\\:\\=\\,\\ \\\t"},
      {R"(k='it\'s')", R"('it\'s')"},
      {R"(k="it's")", R"("it's")"},
      {R"(k='a\\\'b\c\\')", R"('a\\\'b\c\\')"},
      {"k=[glob([a*,1],exclude=b)]", "[{include:[a*,1],exclude:[b]}]"},
      {"k=[choice(a,b)]", "validation: a sweep cannot be written as one value"},
      {"k={a:range(3)}", "validation: a sweep cannot be written as one value"},
      {"k=[glob(['a'])]", "validation: a sweep cannot be written as one value"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(printed(c.text), c.printed);
  }
}

TEST(OverridePrint, WhatIsWrittenReadsBackAsTheSameValue) {
  for (const std::string_view text :
       {"k=a b", "k=[1,2.5,1e-7,1e22,-inf,nan]", "k=\\ x\\ ", "k=a : b", "k=c:\\d",
        R"(k="\\\\ \" \a '")", "k={a b: [x], 1.5: 'y', nan: z, %: 1}", "k=$\\{x\\}", "k=''",
        "k={true: null, \\\\: %}"}) {
    SCOPED_TRACE(text);
    const auto first = parse_override(text);
    ASSERT_TRUE(first) << first.error().to_string();
    const auto again = parse_override("k=" + printed(text));
    ASSERT_TRUE(again) << again.error().to_string();
    EXPECT_EQ(shown(*again->value), shown(*first->value));
    EXPECT_EQ(*again->value, *first->value);
  }
}

}  // namespace
}  // namespace profline::config
