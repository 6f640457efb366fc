#include "config/internal/resolve_fixture.h"

namespace profline::config {
namespace {

using InPlaceTest = internal::ResolveFixture;

struct Case {
  std::string_view yaml;
  std::string_view shown;
};

TEST_F(InPlaceTest, ResolvesWhereTheValuesStand) {
  constexpr Case kCases[] = {
      {"a: ${b}\nb: {x: '${c}'}\nc: 1", "{'a': {'x': 1}, 'b': {'x': 1}, 'c': 1}"},
      {"a: [1, '${.0}', 'x${a.1}']", "{'a': [1, 1, 'x1']}"},
      {"a: {x: 1, y: {z: '${..x}'}}\nb: ${a.y}", "{'a': {'x': 1, 'y': {'z': 1}}, 'b': {'z': 1}}"},
      {"a: '${oc.create:{x: ${b}, y: ???x}}'\nb: 2", "{'a': {'x': 2, 'y': '???x'}, 'b': 2}"},
      {"a: 1", "{'a': 1}"},
  };
  for (const Case& c : kCases) EXPECT_EQ(in_place(c.yaml), c.shown) << c.yaml;
}

TEST_F(InPlaceTest, AReferenceToAMissingValueBecomesMissing) {
  EXPECT_EQ(in_place("a: ???\nb: ${a}\nc: x${b}\nd: {e: '${a}'}"),
            "{'a': '??\?', 'b': '??\?', 'c': '??\?', 'd': {'e': '??\?'}}");
}

// As OmegaConf has it: what an escape leaves behind is an interpolation when it is seen again.
TEST_F(InPlaceTest, LaterValuesSeeEarlierOnesResolved) {
  EXPECT_EQ(in_place("a: '\\${y}'\nb: ${a}\ny: 1"), "{'a': '${y}', 'b': 1, 'y': 1}");
  EXPECT_EQ(in_place("b: ${a}\na: '\\${y}'\ny: 1"), "{'b': '${y}', 'a': '${y}', 'y': 1}");
}

TEST_F(InPlaceTest, TellsWhatCannotBeWritten) {
  registry_.add("pair", [](const ResolverArguments& /*a*/) -> Result<Node> {
    return Node::list({Node::integer(1), Node::integer(2)});
  });
  constexpr Case kCases[] = {
      {"a: '${pair:}'",
       "validation | conf/a.yaml:1:4: a: a resolver gave a list, which is no part of a "
       "configuration (oc.create makes one)"},
      {"a: {b: '${c}'}\nc: {d: '${a}'}", "circular | conf/a.yaml:1:4: a: this map holds itself"},
      {"a: ${nope}",
       "interpolation_key | conf/a.yaml:1:4: a: interpolation key 'nope' not "
       "found\n  ${nope}\n  ^"},
      {"a: '\\${'",
       "grammar | conf/a.yaml:1:4: a: the text ends where a key should be\n  ${\n    ^"},
  };
  for (const Case& c : kCases) EXPECT_EQ(in_place(c.yaml), c.shown) << c.yaml;
}

TEST_F(InPlaceTest, KeepsTheMarksOfTheText) {
  Node tree = load("a: {x: 1}\nb:\n  - ${a}\n");
  ASSERT_TRUE(resolve_in_place(tree, context_));
  EXPECT_EQ(tree.find_path("b.0")->position().to_string(), "conf/a.yaml:3:5");
}

}  // namespace
}  // namespace profline::config
