#include "mcp/cited.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "testing/temp_dir.h"

namespace profline::mcp {
namespace {

Node json(std::string_view text) {
  auto tree = parse_json(text, "test");
  EXPECT_TRUE(tree) << tree.error().to_string();
  return tree ? *tree : Node();
}

std::string text_at(const Node& tree, std::string_view pointer) {
  const Node* value = at_pointer(tree, pointer);
  return value == nullptr ? "nothing" : write_json(*value, {.indent = 0}).value_or("?");
}

TEST(AJsonPointer, FindsValuesAsRfc6901Says) {
  const Node tree = json(R"({"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"m~n":8,"x":{"y":null}})");
  EXPECT_EQ(at_pointer(tree, ""), &tree);
  EXPECT_EQ(text_at(tree, "/foo/1"), "\"baz\"");
  EXPECT_EQ(text_at(tree, "/"), "0");
  EXPECT_EQ(text_at(tree, "/a~1b"), "1");
  EXPECT_EQ(text_at(tree, "/c%d"), "2");
  EXPECT_EQ(text_at(tree, "/m~0n"), "8");
  EXPECT_EQ(text_at(tree, "/x/y"), "null");
  for (const char* none : {"foo", "/foo/2", "/foo/01", "/foo/-", "/foo/-1", "/foo/0/0", "/x/y/z",
                           "/none", "/foo/18446744073709551616"}) {
    EXPECT_EQ(text_at(tree, none), "nothing") << none;
  }
}

TEST(AJsonPointer, IsExtendedByKeysThatNeedEscapes) {
  const Node tree = json(R"({"a/~b":[7]})");
  EXPECT_EQ(below(below("", "a/~b"), 0), "/a~1~0b/0");
  EXPECT_EQ(text_at(tree, below(below("", "a/~b"), 0)), "7");
}

TEST(AnAnswer, HasOnlyFactsThatAreInTheirDocument) {
  Answer answer;
  const std::size_t unused = answer.add(printed_by({"runs"}, json("{}")));
  const std::size_t used = answer.add(printed_by(
      {"runs", "show", "a run"},
      json(R"({"token_ms":2.5,"share":0.25,"none":null,"list":[1],"text":"x"})"), "/here"));
  EXPECT_TRUE(answer.fact(used, "/token_ms", "token: token_ms"));
  EXPECT_TRUE(answer.fact(used, "/text", "text"));
  EXPECT_FALSE(answer.fact(used, "/none", "null"));
  EXPECT_FALSE(answer.fact(used, "/list", "a list"));
  EXPECT_FALSE(answer.fact(unused, "/token_ms", "elsewhere"));
  answer.facts(used, "", "all", {"share", "absent"});
  answer.say("One.");
  answer.say("Two.");
  answer.missing("counters", "no ncu");
  answer.note("twice");
  answer.note("twice");
  EXPECT_EQ(
      write_json(answer.to_node(), {.indent = 0}).value(),
      R"({"answer":"One. Two.","facts":[)"
      R"({"what":"token: token_ms","value":2.5,"text":"2.50 ms","document":"d2","pointer":"/token_ms"},)"
      R"({"what":"text","value":"x","document":"d2","pointer":"/text"},)"
      R"({"what":"all: share","value":0.25,"text":"25.0 %","document":"d2","pointer":"/share"}],)"
      R"("documents":{"d2":{"command":"profline runs show 'a run' --format json","start_in":"/here"}},)"
      R"("missing":[{"what":"counters","why":"no ncu"}],"notes":["twice"]})");
}

TEST(AnAnswer, LeavesOutFactsBeyondTheLimitAndSaysSo) {
  Answer answer;
  const std::size_t document = answer.add(printed_by({"x"}, json("[1,2,3,4]")));
  answer.every_fact(document, "", "");
  const Node node = answer.to_node(3);
  EXPECT_EQ(node.find("facts")->as_list().size(), 3U);
  EXPECT_EQ(node.find("left_out")->as_int(), 1);
}

TEST(AnAnswer, NamesRowsByTheirNames) {
  Answer answer;
  const std::size_t document = answer.add(printed_by(
      {"x"},
      json(R"({"phases":[{"name":"decode","time":{"mean_ns":5}},{"time":{"mean_ns":6}}]})")));
  answer.every_fact(document, "", "", [](std::string_view what) { return what.ends_with("_ns"); });
  const std::size_t other = answer.add(printed_by(
      {"y"}, json(R"([{"stage":"nsys","phase":"decode","slowdown":2},{"slowdown":3}])")));
  answer.every_fact(other, "", "", [](std::string_view what) { return what.ends_with("down"); });
  const Node node = answer.to_node();
  std::vector<std::string> names;
  for (const Node& fact : node.find("facts")->as_list()) {
    names.push_back(fact.find("what")->as_string() + " " + fact.find("pointer")->as_string());
  }
  EXPECT_THAT(names,
              ::testing::ElementsAre("phases.decode.time.mean_ns /phases/0/time/mean_ns",
                                     "phases.1.time.mean_ns /phases/1/time/mean_ns",
                                     "nsys decode.slowdown /0/slowdown", "1.slowdown /1/slowdown"));
}

TEST(ADocument, IsReadWithoutSecrets) {
  const testing::TempDir folder;
  ASSERT_TRUE(write_file_atomic(folder.path() / "env.json",
                                R"({"token":"hf_abcdefghijklmnopqrstuvwxyz0123456789","n":1})"));
  const auto document = read_document(folder.path() / "env.json");
  ASSERT_TRUE(document);
  EXPECT_EQ(text_at(*document->tree, "/token"), "\"<redacted>\"");
  EXPECT_EQ(text_at(*document->tree, "/n"), "1");
}

}  // namespace
}  // namespace profline::mcp
