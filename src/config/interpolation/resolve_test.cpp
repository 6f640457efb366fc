#include "config/interpolation/resolve.h"

#include "config/interpolation/internal/resolve_fixture.h"

namespace profline::config {
namespace {

using ResolveTest = internal::ResolveFixture;

struct ResolveCase {
  std::string_view yaml;
  std::string_view key;
  std::string_view shown;
};

TEST_F(ResolveTest, AReferenceAloneKeepsTheTypeOfWhatItNames) {
  constexpr ResolveCase kCases[] = {
      {"a: 1\nb: ${a}", "b", "1"},
      {"a: 1.0\nb: ${a}", "b", "1.0"},
      {"a: true\nb: ${a}", "b", "True"},
      {"a: null\nb: ${a}", "b", "None"},
      {"a: '1'\nb: ${a}", "b", "'1'"},
      {"a: [1, x]\nb: ${a}", "b", "[1, 'x']"},
      {"a: {x: {y: 2}}\nb: ${a.x}", "b", "{'y': 2}"},
      {"a: {x: 1}\nb: ${a}", "b.x", "1"},
      {"a: ${b.x}\nb: ${c}\nc: {x: 4}", "a", "4"},
      {"a: [10, [20]]\nb: ${a.1[0]}", "b", "20"},
      {"a: [10]\nb: ${a.+0}", "b", "10"},
      {"'1': one\nb: ${1}", "b", "'one'"},
  };
  for (const ResolveCase& c : kCases) EXPECT_EQ(get(c.yaml, c.key), c.shown) << c.yaml;
}

TEST_F(ResolveTest, MixedTextShowsValuesAsPythonDoes) {
  constexpr ResolveCase kCases[] = {
      {"a: 1e-5\nb: x${a}", "b", "'x1e-05'"},
      {"a: 3.0\nb: x${a}", "b", "'x3.0'"},
      {"a: true\nb: x${a}", "b", "'xTrue'"},
      {"a: null\nb: x${a}", "b", "'xNone'"},
      {"a: [1, 'two', null]\nb: x${a}", "b", "\"x[1, 'two', None]\""},
      {"a: {k: [true]}\nb: x${a}", "b", "\"x{'k': [True]}\""},
      {"a: 1\nb: ${a}${a}", "b", "'11'"},
      {"a: 1\nb: '${a} '", "b", "'1 '"},
      // The content of a container shown as text is not resolved.
      {"a: {k: '${c}'}\nb: x${a}\nc: 1", "b", "\"x{'k': '${c}'}\""},
  };
  for (const ResolveCase& c : kCases) EXPECT_EQ(get(c.yaml, c.key), c.shown) << c.yaml;
}

TEST_F(ResolveTest, RelativeKeysStartWhereTheyAreWritten) {
  constexpr ResolveCase kCases[] = {
      {"a: {x: 1, y: '${.x}'}", "a.y", "1"},
      {"x: 3\na: {b: {y: '${...x}'}}", "a.b.y", "3"},
      {"a: [1, '${.0}', '${..b}']\nb: 5", "a", "[1, 1, 5]"},
      {"a: [{x: 1}, {y: '${..0.x}'}]", "a.1.y", "1"},
      // Reached through a reference, the container keeps its own context.
      {"a: {x: 1, y: {z: '${..x}'}}\nb: ${a.y}", "b", "{'z': 1}"},
      {"a: {x: 1, y: {z: '${..x}'}}\nb: ${a.y}", "b.z", "1"},
      {"d: .x\nx: 4\nb: ${${d}}", "b", "4"},
  };
  for (const ResolveCase& c : kCases) EXPECT_EQ(get(c.yaml, c.key), c.shown) << c.yaml;
}

TEST_F(ResolveTest, KeysMayHoldInterpolations) {
  constexpr ResolveCase kCases[] = {
      {"k: x\na: {x: {z: 7}}\nb: ${a.${k}.z}", "b", "7"},
      {"k: x.z\na: {x: {z: 7}}\nb: ${a.${k}}", "b", "7"},
      {"k: 'x[0]'\na: {x: [7]}\nb: ${a.${k}}", "b", "7"},
      {"p: a\na: b\nb: c\nx: ${${${p}}}", "x", "'c'"},
  };
  for (const ResolveCase& c : kCases) EXPECT_EQ(get(c.yaml, c.key), c.shown) << c.yaml;
}

TEST_F(ResolveTest, EscapedInterpolationsAreText) {
  EXPECT_EQ(get(R"(b: '\${a}')", "b"), "'${a}'");
  EXPECT_EQ(get(R"(b: '\${a}'
c: ${b})",
                "c"),
            "'${a}'");
  EXPECT_EQ(get(R"(a: 1
b: '\\${a}')",
                "b"),
            R"('\\1')");
}

TEST_F(ResolveTest, TellsOfKeysThatAreNotThere) {
  constexpr ResolveCase kCases[] = {
      {"b:\n  c: ${x.sise}\nx: {size: 1}", "b.c",
       "interpolation_key | conf/a.yaml:2:6: b.c: interpolation key 'x.sise' not found (did you "
       "mean 'x.size'?)\n  ${x.sise}\n  ^"},
      {"b: 'say ${modle.lr}'\nmodel: {lr: 1}", "b",
       "interpolation_key | conf/a.yaml:1:4: b: interpolation key 'modle.lr' not found (did you "
       "mean 'model.lr'?)\n  say ${modle.lr}\n      ^"},
      {"a: {b: '${..xx}'}\nxy: 1", "a.b",
       "interpolation_key | conf/a.yaml:1:8: a.b: interpolation key '..xx' not found (did you mean "
       "'..xy'?)\n  ${..xx}\n  ^"},
      {"a: [1]\nb: ${a.1}", "b",
       "interpolation_key | conf/a.yaml:2:4: b: interpolation key 'a.1' not found\n  ${a.1}\n  ^"},
      {"b: ${...x}", "b",
       "interpolation_key | conf/a.yaml:1:4: b: interpolation key '...x' goes above the "
       "root\n  ${...x}\n  ^"},
      {"a: 1\nb: ${a.x}", "b",
       "resolver_error | conf/a.yaml:2:4: b: interpolation key 'a.x' not found: 'a' is an integer "
       "and has no 'x'\n  ${a.x}\n  ^"},
      {"a: [1]\nb: ${a.x}", "b",
       "resolver_error | conf/a.yaml:2:4: b: interpolation key 'a.x' not found: 'a' is a list and "
       "'x' is not an index\n  ${a.x}\n  ^"},
      {"i: 1\na: [5, 6]\nb: ${a.${i}}", "b",
       "resolver_error | conf/a.yaml:3:4: b: a key must be a string, and '${i}' is an "
       "integer\n  ${a.${i}}\n      ^"},
      // The error is about the value that contains the wrong key.
      {"a: [1, '${nope}']\nb: x${a.1}", "b",
       "interpolation_key | conf/a.yaml:1:8: a[1]: interpolation key 'nope' not "
       "found\n  ${nope}\n  ^"},
  };
  for (const ResolveCase& c : kCases) EXPECT_EQ(get(c.yaml, c.key), c.shown) << c.yaml;
}

TEST_F(ResolveTest, AReferenceToAMissingValueIsAnError) {
  EXPECT_EQ(get("a:\n  x: ???\nb: ${a.x}", "b"),
            "missing_value | conf/a.yaml:3:4: b: interpolation key 'a.x' leads to 'a.x', whose "
            "value is ???\n  ${a.x}\n  ^");
  EXPECT_EQ(get("a: ???\nb: ${a.x}", "b"),
            "missing_value | conf/a.yaml:2:4: b: interpolation key 'a.x' leads to 'a', whose value "
            "is ???\n  ${a.x}\n  ^");
  EXPECT_EQ(get("a: ???", "a"), "missing_value | conf/a.yaml:1:4: a: the value is ???");
  EXPECT_EQ(all("a:\n  x: ???\nb: ${a}"), "{'a': {'x': '??\?'}, 'b': {'x': '??\?'}}");
}

TEST_F(ResolveTest, FindsCircles) {
  constexpr ResolveCase kCases[] = {
      {"a: ${a}", "a", "circular | conf/a.yaml:1:4: a: the interpolations are circular: a -> a"},
      {"a: ${b}\nb: x${c.0}\nc: ['${a}']", "a",
       "circular | conf/a.yaml:1:4: a: the interpolations are circular: a -> b -> c[0] -> a"},
      {"a: ${a.b}", "a", "circular | conf/a.yaml:1:4: a: the interpolations are circular: a -> a"},
      {"a: ${oc.decode:'${a}'}", "a",
       "circular | conf/a.yaml:1:4: a: the interpolations are circular: a -> a"},
      {"a: {b: '${a}'}", "a.b",
       "circular | conf/a.yaml:1:8: a.b: interpolation key 'a' contains this value"
       "\n  ${a}\n  ^"},
      {"a: {b: '${c}'}\nc: {d: '${a}'}", "a",
       "circular | conf/a.yaml:1:4: a: this map contains itself"},
      {"a: ['${oc.select:a}']", "a", "circular | conf/a.yaml:1:4: a: this list contains itself"},
  };
  for (const ResolveCase& c : kCases) EXPECT_EQ(get(c.yaml, c.key), c.shown) << c.yaml;
}

TEST_F(ResolveTest, AnErrorLeavesTheOtherKeysUsable) {
  const Node tree = load("a: ${b}\nb: ${a}\nc: ${d}\nd: 1");
  Resolution resolution(tree, context_);
  EXPECT_FALSE(resolution.get("a"));
  EXPECT_FALSE(resolution.get("b"));
  EXPECT_EQ(shown(resolution.get("c")), "1");
}

TEST_F(ResolveTest, GetGoesOneItemAStep) {
  constexpr ResolveCase kCases[] = {
      {"a: {b: [1, {c: 2}]}", "a.b[1].c", "2"},
      {"a: [1, 2]", "a[-1]", "2"},
      {"a: {b: 1}", "a.c", "config_key | key 'a.c' not found"},
      {"a: {name: 1}", "a.nmae", "config_key | key 'a.nmae' not found (did you mean 'name'?)"},
      {"a: [1]", "a.1", "config_key | key 'a.1' not found: the list has 1 item"},
      {"a: [1]", "a.x", "config_type | key 'a.x' not found: 'x' is not an index"},
      {"a: 1", "a.x", "config_type | key 'a.x' not found: 'a' is an integer"},
      {"a: {1: x}", "a.1", "config_key | key 'a.1' not found"},
  };
  for (const ResolveCase& c : kCases) EXPECT_EQ(get(c.yaml, c.key), c.shown) << c.yaml;
}

TEST_F(ResolveTest, SelectTakesAbsenceForNothing) {
  constexpr ResolveCase kCases[] = {
      {"a: {b: 1}", "a.b", "1"},
      {"a: {b: 1}", ".a.b", "1"},
      {"a: {b: null}", "a.b", "None"},
      {"a: ${c}\nc: {b: '${d}'}\nd: 2", "a", "{'b': 2}"},
      {"a: {b: 1}", "", "{'a': {'b': 1}}"},
      {"a: {b: 1}", "x.y.z", "nothing"},
      {"a: 1", "a.b", "nothing"},
      {"a: ???", "a", "nothing"},
      {"a: ???", "a.b", "nothing"},
      {"a: [1]", "a.-1", "nothing"},
      {"a: [1]", "a[9]", "nothing"},
      {"a: [1]", "a.x", "config_type | key 'a.x': 'x' is not an index of the list 'a'"},
      {"a: 1", "..a", "config_key | key '..a' goes above the root"},
      {"a: ${nope}", "a",
       "interpolation_key | conf/a.yaml:1:4: a: interpolation key 'nope' not "
       "found\n  ${nope}\n  ^"},
  };
  for (const ResolveCase& c : kCases) EXPECT_EQ(select(c.yaml, c.key), c.shown) << c.yaml;
}

TEST_F(ResolveTest, ResolvesAWholeDocument) {
  EXPECT_EQ(all("defaults: {lr: 0.1}\n"
                "model:\n"
                "  lr: ${defaults.lr}\n"
                "  opt: {lr: '${..lr}', name: 'adam-${.lr}'}\n"),
            "{'defaults': {'lr': 0.1}, 'model': {'lr': 0.1, 'opt': {'lr': 0.1, 'name': "
            "'adam-0.1'}}}");
  EXPECT_EQ(all("- 1\n- ${0}\n- x${1}\n"), "[1, 1, 'x1']");
  EXPECT_EQ(all("1: ${a}\na: x\n"), "{1: 'x', 'a': 'x'}");
  EXPECT_EQ(all(""), "{}");
}

TEST_F(ResolveTest, ResolvedValuesKeepTheMarkOfTheirPlace) {
  const Node tree = load("a: {x: 1}\nb:\n  - ${a}\n");
  const Result<Node> resolved = Resolution(tree, context_).resolve_all();
  ASSERT_TRUE(resolved);
  EXPECT_EQ(resolved->find_path("b.0")->position().to_string(), "conf/a.yaml:3:5");
  EXPECT_EQ(resolved->find_path("b.0.x")->position().to_string(), "conf/a.yaml:1:8");
}

TEST_F(ResolveTest, LongChainsTakeOneLookEach) {
  std::string yaml;
  for (int i = 0; i < 250; ++i) {
    yaml += "k" + std::to_string(i) + ": ${k" + std::to_string(i + 1) + "}\n";
  }
  EXPECT_EQ(get(yaml + "k250: end", "k0"), "'end'");
  for (int i = 250; i < 5000; ++i) {
    yaml += "k" + std::to_string(i) + ": ${k" + std::to_string(i + 1) + "}\n";
  }
  EXPECT_EQ(get(yaml + "k5000: end", "k0"),
            "circular | conf/a.yaml:301:7: k300: too many nested values or references");
  // From the end, so that each one finds the next one resolved.
  const Node tree = load(yaml + "k5000: end");
  Resolution resolution(tree, context_);
  for (int i = 4999; i >= 0; --i) {
    ASSERT_EQ(shown(resolution.get("k" + std::to_string(i))), "'end'");
  }
}

TEST_F(ResolveTest, RefusesToMakeMoreThanTheBudgetAllows) {
  std::string yaml = "k0: xxxxxxxx\n";
  for (int i = 1; i < 60; ++i) {
    const std::string before = "${k" + std::to_string(i - 1) + "}";
    yaml += "k" + std::to_string(i) + ": " + before + before + "\n";
  }
  context_.budget = 100000;
  EXPECT_EQ(get(yaml, "k59"),
            "too_large | conf/a.yaml:14:6: k13: resolving makes more than the 100000 values and "
            "bytes that are allowed");
  std::string lists = "k0: []\n";
  for (int i = 1; i < 60; ++i) {
    const std::string before = "${k" + std::to_string(i - 1) + "}";
    lists += "k" + std::to_string(i) + ": ['" + before + "', '" + before + "']\n";
  }
  EXPECT_EQ(all(lists).substr(0, 12), "too_large | ");
  EXPECT_EQ(in_place(lists).substr(0, 12), "too_large | ");
}

using InPlaceTest = internal::ResolveFixture;

struct InPlaceCase {
  std::string_view yaml;
  std::string_view shown;
};

TEST_F(InPlaceTest, ResolvesWhereTheValuesStand) {
  constexpr InPlaceCase kCases[] = {
      {"a: ${b}\nb: {x: '${c}'}\nc: 1", "{'a': {'x': 1}, 'b': {'x': 1}, 'c': 1}"},
      {"a: [1, '${.0}', 'x${a.1}']", "{'a': [1, 1, 'x1']}"},
      {"a: {x: 1, y: {z: '${..x}'}}\nb: ${a.y}", "{'a': {'x': 1, 'y': {'z': 1}}, 'b': {'z': 1}}"},
      {"a: '${oc.create:{x: ${b}, y: ???x}}'\nb: 2", "{'a': {'x': 2, 'y': '???x'}, 'b': 2}"},
      {"a: 1", "{'a': 1}"},
  };
  for (const InPlaceCase& c : kCases) EXPECT_EQ(in_place(c.yaml), c.shown) << c.yaml;
}

TEST_F(InPlaceTest, AReferenceToAMissingValueBecomesMissing) {
  EXPECT_EQ(in_place("a: ???\nb: ${a}\nc: x${b}\nd: {e: '${a}'}"),
            "{'a': '??\?', 'b': '??\?', 'c': '??\?', 'd': {'e': '??\?'}}");
}

// As in OmegaConf: an escaped interpolation becomes one when it is evaluated again.
TEST_F(InPlaceTest, LaterValuesSeeEarlierOnesResolved) {
  EXPECT_EQ(in_place("a: '\\${y}'\nb: ${a}\ny: 1"), "{'a': '${y}', 'b': 1, 'y': 1}");
  EXPECT_EQ(in_place("b: ${a}\na: '\\${y}'\ny: 1"), "{'b': '${y}', 'a': '${y}', 'y': 1}");
}

TEST_F(InPlaceTest, TellsWhatCannotBeWritten) {
  registry_.add("pair", [](const ResolverArguments& /*a*/) -> Result<Node> {
    return Node::list({Node::integer(1), Node::integer(2)});
  });
  constexpr InPlaceCase kCases[] = {
      {"a: '${pair:}'",
       "validation | conf/a.yaml:1:4: a: a resolver gave a list, which cannot be part of a "
       "configuration (oc.create makes one)"},
      {"a: {b: '${c}'}\nc: {d: '${a}'}", "circular | conf/a.yaml:1:4: a: this map contains itself"},
      {"a: ${nope}",
       "interpolation_key | conf/a.yaml:1:4: a: interpolation key 'nope' not "
       "found\n  ${nope}\n  ^"},
      {"a: '\\${'",
       "grammar | conf/a.yaml:1:4: a: the text ends where a key should be\n  ${\n    ^"},
  };
  for (const InPlaceCase& c : kCases) EXPECT_EQ(in_place(c.yaml), c.shown) << c.yaml;
}

TEST_F(InPlaceTest, KeepsTheMarksOfTheText) {
  Node tree = load("a: {x: 1}\nb:\n  - ${a}\n");
  ASSERT_TRUE(resolve_in_place(tree, context_));
  EXPECT_EQ(tree.find_path("b.0")->position().to_string(), "conf/a.yaml:3:5");
}

}  // namespace
}  // namespace profline::config
