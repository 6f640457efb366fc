#include "session/config_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/yaml.h"

namespace profline::session {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Node tree(const std::string& text) {
  auto node = parse_yaml(text, "a.yaml");
  EXPECT_TRUE(node) << node.error().to_string();
  return node ? std::move(*node) : Node();
}

TEST(ConfigKeys, AreVisitedFromTheOutside) {
  std::vector<std::string> keys;
  for_each_key(tree("a: {b: 1, c: [{d: 2}]}\n3: x\ne: {}\n"),
               [&](const std::string& key, const Node&) { keys.push_back(key); });
  EXPECT_THAT(keys, ElementsAre("a", "a.b", "a.c", "e"));
}

TEST(ConfigKeys, SaysWhichKeyWasProbablyMeant) {
  const Node config = tree("infer: {max_new_tokens: 1, temperature: 0}\nmodel: {dtype: bf16}\n");
  const std::pair<const char*, const char*> cases[] = {
      {"infer.max_new_token",
       "there is no key 'infer.max_new_token' in the config (did you mean "
       "'infer.max_new_tokens'?)"},
      {"max_new_tokens",
       "there is no key 'max_new_tokens' in the config (did you mean 'infer.max_new_tokens'?)"},
      {"zzz", "there is no key 'zzz' in the config"},
  };
  for (const auto& [key, message] : cases) {
    EXPECT_EQ(no_such_key(config, key).to_string(), message);
    EXPECT_EQ(no_such_key(config, key).reason(), "no_such_key");
  }
}

TEST(ConfigKeys, OfTwoThatEndAlikeNoneIsMeant) {
  const Node config = tree("one_section: {rows: 1}\nother_section: {rows: 2}\n");
  EXPECT_EQ(no_such_key(config, "rows").to_string(), "there is no key 'rows' in the config");
}

TEST(KeyDocs, ThereAreOnlyThoseOfTheDatasetAndWorkloadChosen) {
  const Node pages = tree("dataset: {source: synthetic}\n");
  const Node folder = tree("dataset: {source: folder}\n");
  EXPECT_TRUE(key_doc(pages, "dataset.pages"));
  EXPECT_FALSE(key_doc(folder, "dataset.pages"));
  EXPECT_TRUE(key_doc(folder, "dataset.root"));
  EXPECT_TRUE(key_doc(folder, "infer.max_new_tokens"));
  EXPECT_FALSE(key_doc(tree("pipeline: {workload: {kind: dummy_shallow_resnet}}\n"),
                       "infer.max_new_tokens"));
  EXPECT_EQ(key_doc(folder, "pipeline.keep_going")->type, "boolean");
}

TEST(KeyDocs, KeysThatAStageLacksAreFilledIn) {
  EXPECT_THAT(filled_in_keys(tree("device: cpu\n")), IsEmpty());
  std::vector<std::string> keys;
  for (const auto& doc : filled_in_keys(tree("pipeline: {nsys: {trace: [cuda]}}\n"))) {
    EXPECT_NE(doc.default_text, "null") << doc.path;
    keys.push_back(doc.path);
  }
  EXPECT_THAT(keys, ::testing::Contains("pipeline.nsys.capture_range"));
  EXPECT_THAT(keys, ::testing::Not(::testing::Contains("pipeline.nsys.trace")));
}

TEST(KeyDocs, ATypeMayLeaveAChoice) {
  EXPECT_THAT(choices_of_type("boolean"), ElementsAre("true", "false"));
  EXPECT_THAT(choices_of_type("boolean or null"), ElementsAre("true", "false", "null"));
  EXPECT_THAT(choices_of_type("one of auto, cpu, cuda, cuda:N"),
              ElementsAre("auto", "cpu", "cuda"));
  EXPECT_THAT(choices_of_type("one of stop, repeat:N or null"), ElementsAre("stop", "null"));
  EXPECT_THAT(choices_of_type("integer >= 1 or null"), IsEmpty());
}

TEST(ConfigKeys, APositionIsNullWhereItIsUnknown) {
  NodeMap known;
  set_position({"a.yaml", 2, 3}, known);
  EXPECT_EQ(known.find("source")->as_string(), "a.yaml");
  EXPECT_EQ(known.find("line")->as_int(), 2);
  EXPECT_EQ(known.find("column")->as_int(), 3);
  NodeMap unknown;
  set_position({}, unknown);
  for (const char* key : {"source", "line", "column"}) EXPECT_TRUE(unknown.find(key)->is_null());
}

}  // namespace
}  // namespace profline::session
