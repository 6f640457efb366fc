#include "config/config_tree.h"

#include <gtest/gtest.h>

#include "config/internal/compose_fixture.h"
#include "config/interpolation/load.h"

namespace profline::config {
namespace {

using internal::Configs;

class ConfigTreeTest : public ::testing::Test {
 protected:
  ConfigTreeTest() : tree_(context_) { context_.resolvers = &resolvers_; }

  static Node yaml(std::string_view text) {
    Result<Node> tree = load_config(text, "x.yaml");
    EXPECT_TRUE(tree) << tree.error().to_string();
    return tree ? std::move(*tree) : Node();
  }

  /// All of them merged, as JSON, or the Error.
  std::string merged(std::initializer_list<std::string_view> texts) {
    for (const std::string_view text : texts) {
      const Result<void> done = tree_.merge(yaml(text));
      if (!done) return done.error().to_string();
    }
    return Configs::json(tree_.root());
  }

  std::string changed(std::vector<std::string> steps, std::string_view value, bool force = false) {
    ConfigTree::Change change{std::move(steps), *yaml(value).find("v"), force};
    const Result<void> done = tree_.change(change);
    return done ? Configs::json(tree_.root()) : done.error().to_string();
  }

  ResolverRegistry resolvers_ = ResolverRegistry::standard();
  ResolveContext context_;
  ConfigTree tree_;
};

TEST_F(ConfigTreeTest, MergesMapsKeyByKeyAndAddsAtTheEnd) {
  EXPECT_EQ(merged({"{a: {x: 1, y: 2}, b: 3}", "{c: 5, a: {y: 4, z: 6}}"}),
            R"({"a":{"x":1,"y":4,"z":6},"b":3,"c":5})");
}

TEST_F(ConfigTreeTest, ReplacesListsAndScalars) {
  EXPECT_EQ(merged({"{a: [1, 2], b: 1, c: {d: 1}, e: 1}", "{a: [3], b: x, c: 5, e: {f: 1}}"}),
            R"({"a":[3],"b":"x","c":5,"e":{"f":1}})");
}

TEST_F(ConfigTreeTest, NullReplacesEverythingAndMissingNothing) {
  EXPECT_EQ(merged({"{a: 1, b: {c: 1}, d: 1, e: {f: 1}}", "{a: null, b: null}",
                    "{d: \"???\", e: \"???\", g: \"???\"}"}),
            R"({"a":null,"b":null,"d":1,"e":{"f":1},"g":"???"})");
}

TEST_F(ConfigTreeTest, AnInterpolationBecomesACopyWhenAMapIsMergedIntoIt) {
  EXPECT_EQ(merged({"{a: {x: 1}, b: '${a}', n: {r: '${..a}'}}", "{b: {y: 2}, n: {r: {z: 3}}}"}),
            R"({"a":{"x":1},"b":{"x":1,"y":2},"n":{"r":{"x":1,"z":3}}})");
}

TEST_F(ConfigTreeTest, AnInterpolationThatLeadsNowhereIsReplaced) {
  EXPECT_EQ(merged({"{a: 1, b: '${a}', c: '${none}'}", "{b: {y: 2}, c: {z: 3}}"}),
            R"({"a":1,"b":{"y":2},"c":{"z":3}})");
}

TEST_F(ConfigTreeTest, AMapAndAListDoNotMerge) {
  EXPECT_EQ(merged({"a: {b: {x: 1}}", "a:\n  b: [1]"}),
            "x.yaml:2:6: 'a.b' is a map, and a list cannot be merged into it");
  EXPECT_EQ(merged({"l: [1]", "l: {x: 1}"}),
            "x.yaml:1:4: 'l' is a list, and a map cannot be merged into it");
  EXPECT_EQ(merged({"[1]"}),
            "x.yaml:1:1: the config is a map, and a list cannot be merged into it");
}

TEST_F(ConfigTreeTest, KeysOfAnyKindStayApart) {
  EXPECT_EQ(*yaml("{1: a, '1': b}").as_map().find(Node::integer(1)), Node::string("a"));
  ASSERT_TRUE(tree_.merge(yaml("{1: a, '1': b}")));
  ASSERT_TRUE(tree_.merge(yaml("{1: c}")));
  EXPECT_EQ(*tree_.root().as_map().find(Node::integer(1)), Node::string("c"));
  EXPECT_EQ(*tree_.root().find("1"), Node::string("b"));
}

TEST_F(ConfigTreeTest, OnceClosedKeysAreAddedByForceOnly) {
  ASSERT_EQ(merged({"{db: {port: 1}}"}), R"({"db":{"port":1}})");
  tree_.close();
  EXPECT_EQ(changed({"db", "prot"}, "v: 2"), "there is no key 'db.prot' (did you mean 'port'?)");
  EXPECT_EQ(changed({"other", "x"}, "v: 2"), "there is no key 'other'");
  EXPECT_EQ(changed({"db"}, "v: {host: a}"), "x.yaml:1:5: there is no key 'db.host'");
  EXPECT_EQ(changed({"db", "port"}, "v: 2"), R"({"db":{"port":2}})");
  EXPECT_EQ(changed({"new", "x"}, "v: 2", true), R"({"db":{"port":2},"new":{"x":2}})");
  EXPECT_EQ(changed({"db"}, "v: {host: a}", true), R"({"db":{"port":2,"host":"a"},"new":{"x":2}})");
}

TEST_F(ConfigTreeTest, ListsAreChangedByIndex) {
  ASSERT_EQ(merged({"{l: [1, {a: 2}]}"}), R"({"l":[1,{"a":2}]})");
  tree_.close();
  EXPECT_EQ(changed({"l", "0"}, "v: 5"), R"({"l":[5,{"a":2}]})");
  EXPECT_EQ(changed({"l", "1", "a"}, "v: 6"), R"({"l":[5,{"a":6}]})");
  EXPECT_EQ(changed({"l", "2"}, "v: 5"),
            "'l' has 2 items, so there is no item 2; a longer list must be given as a whole");
  EXPECT_EQ(changed({"l", "x"}, "v: 5"), "'l' is a list, and 'x' is not an index into a list");
}

TEST_F(ConfigTreeTest, SelectFollowsInterpolations) {
  ASSERT_EQ(merged({"{a: {x: 1}, b: '${a}', n: null, m: \"???\", l: [7]}"}).substr(0, 1), "{");
  const auto shown = [this](std::string_view key) {
    const Result<const Node*> found = tree_.select(key);
    if (!found) return found.error().to_string();
    return *found == nullptr ? std::string("nothing") : Configs::json(**found);
  };
  EXPECT_EQ(shown("a"), R"({"x":1})");
  EXPECT_EQ(shown("b.x"), "1");
  EXPECT_EQ(shown("l.0"), "7");
  EXPECT_EQ(shown("l.1"), "nothing");
  EXPECT_EQ(shown("n"), "nothing");
  EXPECT_EQ(shown("m.x"), "nothing");
  EXPECT_EQ(shown("a.x.y"), "nothing");
}

}  // namespace
}  // namespace profline::config
