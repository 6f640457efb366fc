#include "config/overrides/override.h"

#include <gtest/gtest.h>

#include "config/overrides/testing_text.h"

namespace profline::config {
namespace {

TEST(OverrideValue, BecomesConfiguration) {
  const auto override = parse_override("k=[1, 'a b', {x: [null], 2: y}]");
  ASSERT_TRUE(override);
  const auto node = to_node(*override->value, "override 1");
  ASSERT_TRUE(node);
  Node map = Node::map();
  map.as_map().set("x", Node::list({Node()}));
  map.as_map().set(Node::integer(2), Node::string("y"));
  EXPECT_EQ(*node, Node::list({Node::integer(1), Node::string("a b"), map}));
  EXPECT_EQ(node->position(), (Position{"override 1", 1, 3}));
  EXPECT_EQ(node->as_list()[1].position(), (Position{"override 1", 1, 7}));
  EXPECT_EQ(node->as_list()[2].find("x")->as_list()[0].position(), (Position{"override 1", 1, 19}));
  const auto unmarked = to_node(*override->value);
  ASSERT_TRUE(unmarked);
  EXPECT_EQ(unmarked->position(), Position());
}

TEST(OverrideValue, ASweepIsNoConfiguration) {
  const auto override = parse_override("k=[1,choice(a,b)]");
  ASSERT_TRUE(override);
  const auto node = to_node(*override->value, "override 1");
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().to_string(),
            "override 1:1:6: a sweep (choice, range, interval, glob) cannot be part of a value: it "
            "must be "
            "the whole value, as in key=choice(a,b)");
  EXPECT_EQ(node.error().reason(), "validation");
}

TEST(OverrideValue, KnowsWhatHydraCallsIt) {
  struct Case {
    std::string_view text, name;
    bool sweep;
  };
  constexpr Case kCases[] = {
      {"k=1", "ELEMENT", false},
      {"k=[choice(1)]", "ELEMENT", false},
      {"k=1,2", "SIMPLE_CHOICE_SWEEP", true},
      {"k=choice(1,2)", "CHOICE_SWEEP", true},
      {"k=range(2)", "RANGE_SWEEP", true},
      {"k=interval(0,1)", "INTERVAL_SWEEP", true},
      {"k=glob(*)", "GLOB_CHOICE_SWEEP", true},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.text);
    const auto override = parse_override(c.text);
    ASSERT_TRUE(override);
    EXPECT_EQ(value_type_name(*override->value), c.name);
    EXPECT_EQ(override->is_sweep(), c.sweep);
  }
}

TEST(Override, PointsAtItself) {
  const auto override = parse_override("+db.usr=1", {.label = "override 2"});
  ASSERT_TRUE(override);
  EXPECT_EQ(override->error("no such key", override->key_column).to_string(),
            "override 2:1:2: no such key\n  +db.usr=1\n   ^");
  EXPECT_EQ(override->error("no such key", 0).to_string(),
            "override 2:1:1: no such key\n  +db.usr=1\n  ^");
}

TEST(OverrideValue, EqualityLooksAtValuesNotPlaces) {
  const auto value = [](std::string_view text) { return *parse_override(text)->value; };
  EXPECT_EQ(value("k=[a, nan]"), value("key=[a,nan]"));
  EXPECT_NE(value("k='a'"), value("k=\"a\""));
  EXPECT_NE(value("k='a'"), value("k=a"));
  EXPECT_NE(value("k=1"), value("k=1.0"));
  EXPECT_NE(value("k=choice(a)"), value("k=shuffle(choice(a))"));
}

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
