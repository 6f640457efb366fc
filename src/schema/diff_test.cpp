#include "schema/diff.h"

#include <gtest/gtest.h>

#include "schema/internal/example_for_tests.h"

namespace profline::schema {
namespace {

using testing::list;
using testing::Tree;

std::string to_text(const std::vector<Change>& changes) {
  std::string text;
  for (const Change& change : changes) text += change.to_string() + '\n';
  return text;
}

std::string changes(const Tree& before, const Tree& after) {
  return to_text(diff(before.node(), after.node()));
}

TEST(DiffOfNodes, TellsChangedAddedAndRemovedValuesByPath) {
  EXPECT_EQ(changes(Tree{{"a", Tree{{"b", 1}, {"same", "x"}, {"d", 4}}}},
                    Tree{{"a", Tree{{"c", 3}, {"same", "x"}, {"b", 2}}}}),
            "a.b: 1 -> 2\n"
            "- a.d: 4\n"
            "+ a.c: 3\n");
}

TEST(DiffOfNodes, ComparesListsByIndex) {
  EXPECT_EQ(changes(Tree{{"l", list({1, 2, 3})}}, Tree{{"l", list({1, 5})}}),
            "l.1: 2 -> 5\n"
            "- l.2: 3\n");
  EXPECT_EQ(changes(Tree{{"l", list({})}}, Tree{{"l", list({"a"})}}), "+ l.0: a\n");
}

TEST(DiffOfNodes, TellsWholeSubtreesValueByValue) {
  EXPECT_EQ(changes(Tree{{"old", list({1, Tree{{"x", nullptr}}})}},
                    Tree{{"new", Tree{{"a", Tree{{"b", true}}}, {"none", Node::map()}}}}),
            "- old.0: 1\n"
            "- old.1.x: null\n"
            "+ new.a.b: true\n"
            "+ new.none: {}\n");
}

TEST(DiffOfNodes, PutsAChangeOfKindOnOneLine) {
  EXPECT_EQ(changes(Tree{{"a", nullptr}, {"b", 1}, {"c", Tree{{"x", 1}}}},
                    Tree{{"a", list({"m", "n,o"})}, {"b", 1.0}, {"c", "x"}}),
            "a: null -> [m, \"n,o\"]\n"
            "b: 1 -> 1.0\n"
            "c: {x: 1} -> x\n");
  EXPECT_EQ(changes(1, 2), "1 -> 2\n");
}

TEST(DiffOfNodes, SaysNothingOfOrderAndPlaces) {
  const Tree tree{{"a", 1}, {"b", list({2})}};
  EXPECT_EQ(diff(tree.node(), testing::yaml(tree)), std::vector<Change>{});
  EXPECT_EQ(changes(Tree{{"a", 1}, {"b", 2}}, Tree{{"b", 2}, {"a", 1}}), "");
}

TEST(DiffOfNodes, QuotesWhatWouldBeTakenForSomethingElse) {
  EXPECT_EQ(changes(Tree{{"a", 1}, {"b", ""}, {"c", true}, {2, 1}},
                    Tree{{"a", "1"}, {"b", " x"}, {"c", "Yes"}, {2, "a\n\"b\""}}),
            "a: 1 -> \"1\"\n"
            "b: \"\" -> \" x\"\n"
            "c: true -> \"Yes\"\n"
            "2: 1 -> \"a\\n\\\"b\\\"\"\n");
}

TEST(DiffOfStructs, WalksTheirFields) {
  example::Pipeline before;
  example::Pipeline after;
  EXPECT_EQ(diff(before, after), std::vector<Change>{});
  after.nsys.timeout = std::chrono::seconds(90);
  after.nsys.trace.items = {"cuda", "nvtx"};
  after.ncu.enable = example::Enable::Auto;
  after.torch_profiler.extra["dummy"] = {};
  EXPECT_EQ(to_text(diff(before, after)),
            "+ torch_profiler.extra.dummy.max_images: 16\n"
            "+ torch_profiler.extra.dummy.save_dir: viz\n"
            "- nsys.trace.2: osrt\n"
            "nsys.timeout: null -> 90\n"
            "ncu.enable: false -> auto\n");
}

}  // namespace
}  // namespace profline::schema
