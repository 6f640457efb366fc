#include "config/override.h"

#include <gtest/gtest.h>

#include "config/override_test_text.h"

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
            "override 1:1:6: a sweep (choice, range, interval, glob) is not a value: it may only "
            "stand alone, as in key=choice(a,b)");
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

}  // namespace
}  // namespace profline::config
