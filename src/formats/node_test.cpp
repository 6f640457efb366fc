#include "formats/node.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "formats/json.h"

namespace profline {
namespace {

Node number(std::int64_t value) {
  return Node::integer(value);
}

TEST(Node, KeepsIntegersAndFloatsApart) {
  EXPECT_EQ(number(1), number(1));
  EXPECT_FALSE(number(1) == Node::real(1.0));
  EXPECT_FALSE(Node::string("1") == Node::bytes("1"));
}

TEST(Node, NanEqualsNan) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Node::real(nan), Node::real(nan));
}

TEST(Node, FindsByKeyAndByPath) {
  NodeMap inner;
  inner.set("list", Node::list({number(10), number(20)}));
  NodeMap outer;
  outer.set("a", Node::map(std::move(inner)));
  const Node tree = Node::map(std::move(outer));
  ASSERT_NE(tree.find("a"), nullptr);
  EXPECT_EQ(tree.find("b"), nullptr);
  ASSERT_NE(tree.find_path("a.list.1"), nullptr);
  EXPECT_EQ(tree.find_path("a.list.1")->as_int(), 20);
  for (const char* path : {"a.list.2", "a.list.x", "a.list.1x", "a.list.1.b", "a.none", ""}) {
    EXPECT_EQ(tree.find_path(path), nullptr) << path;
  }
}

TEST(Node, IsSafelyReplacedByAPartOfItself) {
  NodeMap map;
  map.set("inner", Node::list({number(1)}));
  Node tree = Node::map(std::move(map));
  tree = std::move(*tree.find("inner"));
  EXPECT_EQ(tree, Node::list({number(1)}));
}

TEST(Node, CopiesAreIndependent) {
  Node original = Node::map();
  original.as_map().set("k", number(1));
  Node copy = original;
  copy.as_map().set("k", number(2));
  EXPECT_EQ(original.find("k")->as_int(), 1);
}

TEST(Node, TellsWhereItCameFrom) {
  Node node = number(1);
  EXPECT_EQ(node.position(), Position{});
  node.set_mark({std::make_shared<const std::string>("a.yaml"), 3, 5});
  EXPECT_EQ(node.position(), (Position{"a.yaml", 3, 5}));
}

TEST(NodeMap, KeepsTheOrderOfFirstSetting) {
  NodeMap map;
  map.set("b", number(1));
  map.set("a", number(2));
  map.set("b", number(3));
  EXPECT_EQ(map.string_keys(), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(map.find("b")->as_int(), 3);
}

TEST(NodeMap, TellsKeysOfDifferentKindsApart) {
  NodeMap map;
  map.set("1", number(1));
  map.set(Node::integer(1), number(2));
  map.set(Node::boolean(true), number(3));
  map.set(Node::real(1.0), number(4));
  EXPECT_EQ(map.size(), 4U);
  EXPECT_EQ(map.find("1")->as_int(), 1);
  EXPECT_EQ(map.find(Node::integer(1))->as_int(), 2);
}

TEST(NodeMap, FindsErasesAndKeepsOrderAtAnySize) {
  NodeMap map;
  constexpr int kCount = 1000;
  for (int i = 0; i < kCount; ++i) map.set("key" + std::to_string(i), number(i));
  for (int i = 0; i < kCount; i += 2) EXPECT_TRUE(map.erase("key" + std::to_string(i)));
  EXPECT_FALSE(map.erase("key0"));
  EXPECT_EQ(map.size(), 500U);
  for (int i = 0; i < kCount; ++i) {
    const Node* found = map.find("key" + std::to_string(i));
    ASSERT_EQ(found != nullptr, i % 2 == 1);
    if (found != nullptr) {
      EXPECT_EQ(found->as_int(), i);
    }
  }
  EXPECT_EQ(map.string_keys().front(), "key1");
}

Node tree(const char* json) {
  return parse_json(json, "test").value();
}

std::string text(const Node& node) {
  return write_json(node, {.indent = 0}).value();
}

constexpr const char* kConfig = R"({
  "infer": {"max_new_tokens": 512, "prompt": "say https://me:hunter2@host"},
  "hub": {"token": "opensesame", "eos_token": "</s>", "use_auth": true},
  "credentials": {"user": "me", "pin": 1234},
  "workload": {"command": ["python", "a.py", "--token", "swordfish", "--pin", 5, "--password", 77,
                           "--verbose"]},
  "note": "opensesame and ${oc.env:HF_TOKEN}",
  "env": {"HF_TOKEN": "${oc.env:HF_TOKEN}"}
})";

TEST(NodeRedaction, ReplacesValuesAndKeepsKeys) {
  const Node config = tree(kConfig);
  Redactor redactor;
  know_secrets(config, redactor);
  const Node expected = tree(R"({
    "infer": {"max_new_tokens": 512, "prompt": "say https://me:<redacted>@host"},
    "hub": {"token": "<redacted>", "eos_token": "</s>", "use_auth": true},
    "credentials": {"user": "<redacted>", "pin": "<redacted>"},
    "workload": {"command": ["python", "a.py", "--token", "<redacted>", "--pin", 5, "--password",
                             "<redacted>", "--verbose"]},
    "note": "<redacted> and ${oc.env:HF_TOKEN}",
    "env": {"HF_TOKEN": "${oc.env:HF_TOKEN}"}
  })");
  EXPECT_EQ(text(redacted(config, redactor)), text(expected));
}

TEST(NodeRedaction, WhatWasReplacedCanBePutBack) {
  const Node config = tree(kConfig);
  Redactor redactor;
  know_secrets(config, redactor);
  Node without = redacted(config, redactor);
  const Node part = redacted_part(config, without);
  EXPECT_EQ(part.find("env"), nullptr);
  EXPECT_EQ(part.find_path("hub.eos_token"), nullptr);
  restore(without, part);
  EXPECT_EQ(text(without), text(config));
}

TEST(NodeRedaction, ATreeWithoutSecretsHasNoSuchPart) {
  const Node config = tree(R"({"a": {"b": [1, "x"]}, "tokens": 5})");
  EXPECT_EQ(redacted(config, Redactor()), config);
  EXPECT_TRUE(redacted_part(config, redacted(config, Redactor())).is_null());
}

}  // namespace
}  // namespace profline
